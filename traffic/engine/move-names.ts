import { oneForEachHost } from '../effects/contexts.ts'
import { dns, dnsShared } from '../effects/dns-effect.ts'
import { changeInSync, recordKept, recordMoved, requireTtlOver, sharesLeft } from '../effects/dns-record-effects.ts'
import { type Effect, type EffectContext, ofRoute } from '../effects/effect.ts'
import { drivesDns } from '../model/record-sets.ts'
import { runEffects, type Scope, sideBySide } from './bring-about.ts'
import type { Engine } from './engine-types.ts'
import type { Run } from './store.ts'

/** Moves each host once, side by side: none waits until resolvers have forgotten the record of another. */
export const moveNames = (
  engine: Engine,
  run: Run,
  scope: Scope,
  contexts: readonly EffectContext[],
  isChecked: boolean,
): Promise<void> =>
  sideBySide(
    oneForEachHost(contexts).map((context) => {
      const bring = (...effects: readonly Effect[]) =>
        runEffects(
          engine,
          run,
          scope,
          effects.map((effect) => ofRoute(effect, context.plan.route?.name)),
        )
      return moveName(context, isChecked, bring)
    }),
  )

/**
 * Makes the host name lead to the target: share by share if the plan names its zone, otherwise somebody moves it. Each share is
 * in force only when resolvers have forgotten the one before. Until then an error says how long, and the action is repeated.
 */
async function moveName(
  context: EffectContext,
  isChecked: boolean,
  bring: (...effects: readonly Effect[]) => Promise<void>,
): Promise<void> {
  if (drivesDns(context.plan)) {
    await bring(recordKept(context))
    // Without a stored record, the name leads to the target already.
    for (const share of context.row().dns_record === null ? [] : sharesLeft(context)) {
      await bring(recordMoved(context, share), changeInSync(context, share))
      if (!isChecked) continue
      requireTtlOver(context)
      if (share < 100) await bring(dnsShared(context, share))
    }
  }
  if (isChecked) await bring(dns(context, 'target'))
}
