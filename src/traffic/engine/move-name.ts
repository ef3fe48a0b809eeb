import { dns, dnsShared } from '../effects/dns-effect.ts'
import { changeInSync, recordKept, recordMoved, requireTtlOver, sharesLeft } from '../effects/dns-record-effects.ts'
import type { EffectContext } from '../effects/effect.ts'
import { drivesDns } from '../model/record-sets.ts'
import { runEffects } from './bring-about.ts'
import type { Engine } from './engine-types.ts'
import type { Run } from './store.ts'

/**
 * The host name leads to the target: moved share by share where the plan names its zone, else by somebody. Each share is
 * in force only when resolvers have forgotten the one before; until then this says how long, and is repeated.
 */
export async function moveName(engine: Engine, run: Run, context: EffectContext, isChecked: boolean): Promise<void> {
  const bring = (...effects: Parameters<typeof runEffects>[3]) => runEffects(engine, run, context, effects)
  if (drivesDns(context.plan)) {
    await bring(recordKept(context))
    // Without a stored record it leads to the target already.
    for (const share of context.row().dns_record === null ? [] : sharesLeft(context)) {
      await bring(recordMoved(context, share), changeInSync(context, share))
      if (!isChecked) continue
      requireTtlOver(context)
      if (share < 100) await bring(dnsShared(context, share))
    }
  }
  if (isChecked) await bring(dns(context, 'target'))
}
