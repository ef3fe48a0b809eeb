/** Effects wait for the controller; beside them somebody looks whether it follows at all. */
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '../../errors.ts'
import type { DirectRules } from '../effects/direct-rules.ts'
import type { EffectContext } from '../effects/effect.ts'
import { rulePicture, targetWeight } from '../effects/rule-effects.ts'
import type { Accompanied } from '../effects/sequences.ts'
import { EffectTimeout, isMissing, perform, runEffects, type Scope } from './bring-about.ts'
import type { Engine } from './engine-types.ts'
import { type Run, SwitchTaken } from './store.ts'

/** The longest pause between two looks at rules that do not follow. */
const LOOK_MS = 1_000

/** Both ways at once: through the controller, and past it as soon as it does not follow. */
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
  // Why it could not be helped either belongs to what the operator reads.
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
      // AWS that is busy may not be so a moment later; a missing right stays missing.
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

/** The rest of a rollback may fail when what matters is done; who is woken by it wants to know. */
export async function withGoodNews(contexts: readonly EffectContext[], error: unknown): Promise<unknown> {
  if (error instanceof EffectTimeout && error.effect.startsWith('dns-')) return error
  // Whoever took the switch over says how it ends.
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
