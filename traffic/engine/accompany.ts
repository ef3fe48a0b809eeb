/** Effects wait for the controller. Beside them, the rules are watched, in case the controller does not follow at all. */
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../core.ts'
import type { DirectRules } from '../effects/direct-rules.ts'
import type { EffectContext } from '../effects/effect.ts'
import { rulePicture, targetWeight } from '../effects/rule-effects.ts'
import type { Accompanied } from '../effects/sequences.ts'
import { EffectTimeout, isMissing, perform, runEffects, type Scope } from './bring-about.ts'
import type { Engine } from './engine-types.ts'
import { type Run, SwitchTaken } from './store.ts'

/** The longest pause between two looks at rules that do not follow. */
const LOOK_MS = 1_000

/** Works both ways at once: through the controller, and past it as soon as it does not follow. */
export async function runAccompanied(
  engine: Engine,
  run: Run,
  scope: Scope,
  { effects, direct }: Accompanied,
): Promise<void> {
  const main = { isOver: false, hasFailed: false }
  const work = runEffects(engine, run, scope, effects).then(
    () => undefined,
    (error: unknown) => {
      main.hasFailed = true
      return { error }
    },
  )
  const over = work.finally(() => (main.isOver = true))
  const beside = direct.map((each) => lookAfter(engine, run, scope, each, main, over))
  const [failure, ...troubles] = await Promise.all([work, ...beside])
  if (failure === undefined) return
  // The operator also has to read why the rules could not be changed directly.
  const { error } = failure
  for (const trouble of troubles)
    if (trouble !== undefined && error instanceof Error && !error.message.includes(trouble))
      error.message += `\n${trouble}`
  throw error
}

/** Returns why the rules could not be changed directly. */
async function lookAfter(
  engine: Engine,
  run: Run,
  scope: Scope,
  { effect, reason, isUrgent }: DirectRules,
  main: { readonly isOver: boolean; readonly hasFailed: boolean },
  over: Promise<unknown>,
): Promise<string | undefined> {
  const isDue = (): boolean => reason() !== undefined || (isUrgent && main.hasFailed)
  let lastLook = false
  for (;;) {
    try {
      if (isDue() && (await isMissing(effect))) await perform(engine, run, scope, effect)
    } catch (error) {
      // AWS may be busy for a moment only; a missing permission stays missing.
      if (!(error instanceof EffectTimeout) || main.isOver) return messageOf(error)
    }
    if (lastLook) return undefined
    const timer = new AbortController()
    await Promise.race([
      sleep(Math.min(engine.pollMs, LOOK_MS), undefined, { signal: timer.signal }).catch(() => {}),
      over,
    ])
    timer.abort()
    lastLook = main.isOver
  }
}

/**
 * Adds whether the traffic is back. The rest of a rollback may fail when the important part is done, and whoever is woken by
 * the error wants to know.
 */
export async function withGoodNews(contexts: readonly EffectContext[], error: unknown): Promise<unknown> {
  if (error instanceof EffectTimeout && error.effect.startsWith('dns-')) return error
  // The process that took the switch over reports how it ends.
  if (error instanceof SwitchTaken) return error
  const weights = await Promise.all(contexts.map((context) => rulePicture(context).then(targetWeight, () => 1)))
  if (!(error instanceof Error)) return error
  const { plan, row } = contexts[0]!
  const again = `npx weir traffic rollback ${row().id} --wait`
  error.message += weights.every((weight) => weight === 0)
    ? ` The load balancer already sends everything to cluster ${plan.current.cluster}. Until its Ingress says so too, the controller may set the old weights again. A running server (npm start) keeps watching and repeats the rollback; without one, repeat it yourself: ${again}`
    : ` The running server tries the rollback again every ten seconds. Without a server, repeat it: ${again}`
  return error
}
