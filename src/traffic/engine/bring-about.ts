import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf, RetryableError } from '../../errors.ts'
import type { Effect, EffectContext } from '../effects/effect.ts'
import { TrafficError } from '../model/finding.ts'
import type { Engine } from './engine-types.ts'
import type { Run } from './store.ts'

/** How much longer the longest pause between two looks is than the first. */
const MOST_PATIENCE = 8
/** How soon a process notices that another, a rollback above all, has taken the switch over. */
const RENEW_MS = 1_000

/** The outside did not follow in time; which effect it was decides what happens next. */
export class EffectTimeout extends TrafficError {
  readonly effect: string
  constructor(effect: string, message: string) {
    super('timeout', message)
    this.effect = effect
  }
}

/** Announced before anything is asked of the outside, and reported after; a restart finds the announcement and looks. */
export async function runEffects(
  engine: Engine,
  run: Run,
  context: EffectContext,
  effects: readonly Effect[],
): Promise<void> {
  for (const effect of effects) {
    if (run.has('result', effect.name)) continue
    if (!run.has('intent', effect.name)) await run.write('intent', effect.name)
    try {
      const how = await bringAbout(engine, run, context, effect)
      await writeOverridden(run, context)
      await run.write('result', effect.name, how, effect.learned?.() ?? {})
    } catch (error) {
      await writeOverridden(run, context)
      await run.write('failure', effect.name, messageOf(error))
      throw error
    }
  }
}

/** What a rollback wrote over stays on record. */
async function writeOverridden(run: Run, { overridden }: EffectContext): Promise<void> {
  for (const text of overridden.splice(0)) await run.write('note', 'drift-overridden', text)
}

/**
 * The one way in which anything outside is changed: a fresh, successful look, a comparison, one change, and a look again.
 * What cannot be read is never "not so": it is asked again, with growing pauses, until the deadline.
 */
async function bringAbout(engine: Engine, run: Run, context: EffectContext, effect: Effect): Promise<string> {
  const { plan } = context
  const began = Date.now()
  let renewed = began
  let pause = engine.pollMs
  let applied = 0
  for (;;) {
    let missing: string
    let until: number | undefined
    try {
      const found = await effect.missing()
      if (found === undefined) return applied > 0 ? 'done' : 'was already done'
      missing = found
      if (effect.apply !== undefined && plan.mode !== 'observe' && (applied === 0 || effect.isRepeated)) {
        // Who lost the switch writes nothing any more; the write itself is refused when the object is not as it was read.
        await run.renew()
        renewed = Date.now()
        await effect.apply(false)
        applied++
        if (!effect.isRepeated) continue
      }
      const waiting = effect.apply === undefined ? undefined : await context.outside.git?.waiting()
      if (waiting !== undefined) missing += `; ${waiting.text}`
      until = waiting?.until
    } catch (error) {
      if (!(error instanceof RetryableError)) throw error
      missing = error.message
    }
    const seconds = effect.isInstant ? 0 : plan.verifyTimeoutSeconds + (effect.extraSeconds?.() ?? 0)
    if (Date.now() >= (until ?? began + seconds * 1000))
      throw timeout(context, effect, missing, until === undefined ? seconds : Math.round((Date.now() - began) / 1000))
    if (Date.now() - renewed > RENEW_MS) {
      await run.renew()
      renewed = Date.now()
    }
    context.progress?.(`${effect.name}: ${missing}`)
    await sleep(pause)
    pause = Math.min(pause * 1.5, engine.pollMs * MOST_PATIENCE)
  }
}

function timeout({ plan }: EffectContext, effect: Effect, missing: string, seconds: number): EffectTimeout {
  const hint =
    effect.apply !== undefined && plan.mode === 'observe'
      ? ' The plan is in mode observe: apply what render printed, then repeat.'
      : ''
  const waited = effect.isInstant ? '' : ` was not reached after ${seconds} s`
  return new EffectTimeout(effect.name, `${effect.name}${waited}: ${missing}.${hint}`)
}
