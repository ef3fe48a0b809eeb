import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf, RetryableError, UserError } from '../core.ts'
import { type Effect, type EffectContext, effectKey, type Outside } from '../effects/effect.ts'
import { CredentialsRefused, TrafficError } from '../model/finding.ts'
import type { Plan } from '../model/plan.ts'
import { ended } from '../model/words.ts'
import type { Engine } from './engine-types.ts'
import { changesOfRoute } from './route-memory.ts'
import type { Run } from './store.ts'

/** The longest pause between two looks, as a multiple of the first. */
const MOST_PATIENCE = 8
/** How soon a process notices that another one, a rollback above all, has taken the switch over. */
const RENEW_MS = 1_000

/** The outside did not follow in time. The name of the effect decides what happens next. */
export class EffectTimeout extends TrafficError {
  readonly effect: string
  constructor(effect: string, message: string, cause?: unknown) {
    super('timeout', message, { cause })
    this.effect = effect
  }
}

/** The part of a context that all effects of an action share, whichever route they belong to. */
export interface Scope extends Pick<EffectContext, 'overridden' | 'progress'> {
  readonly plan: Plan
  readonly outside: Pick<Outside, 'git'>
}

/** Each effect is announced before anything is asked of the outside, and reported after. A restart finds the announcement and looks again. */
export async function runEffects(engine: Engine, run: Run, scope: Scope, effects: readonly Effect[]): Promise<void> {
  for (const effect of effects) {
    const key = effectKey(effect)
    if (run.has('result', key) && !(await isDueAgain(effect))) continue
    await perform(engine, run, scope, effect, run.has('intent', key))
  }
}

/** Some of what was done before a process was killed must still hold. */
async function isDueAgain(effect: Effect): Promise<boolean> {
  if (effect.isAlways === true) return true
  return effect.isHeld === true && isMissing(effect)
}

/** Counts what cannot be read as missing, so that it is asked again with the patience of every effect. */
export async function isMissing(effect: Effect): Promise<boolean> {
  try {
    return (await effect.missing()) !== undefined
  } catch (error) {
    if (error instanceof RetryableError) return true
    throw error
  }
}

/** Performs one effect, whether or not it was done before. */
export async function perform(
  engine: Engine,
  run: Run,
  scope: Scope,
  effect: Effect,
  isAnnounced = false,
): Promise<void> {
  const key = effectKey(effect)
  if (!isAnnounced) await run.write('intent', key)
  try {
    const how = await bringAbout(engine, run, scope, effect)
    await writeOverridden(run, scope)
    await run.write('result', key, effect.outcome?.() ?? how, (row) =>
      changesOfRoute(row, effect.route, effect.learned?.() ?? {}),
    )
  } catch (error) {
    await writeOverridden(run, scope)
    await run.write('failure', key, messageOf(error))
    throw error
  }
}

/** Carries each piece of work as far as it goes, whatever becomes of the others. */
export async function sideBySide(works: readonly Promise<void>[]): Promise<void> {
  const outcomes = await Promise.allSettled(works)
  const errors = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))
  if (errors.length > 0) throw togetherOf(errors)
}

/** Joins all messages in one error: a TrafficError if there is one, else refused credentials, else a UserError. */
function togetherOf(errors: readonly unknown[]): unknown {
  const messages = [...new Set(errors.map(messageOf))]
  if (messages.length === 1) return errors[0]
  const text = messages.join('\n')
  const refusal = errors.find((error) => error instanceof TrafficError)
  if (refusal !== undefined) return new TrafficError(refusal.trouble, text, { cause: refusal })
  const refused = errors.find((error) => error instanceof CredentialsRefused)
  if (refused !== undefined) return new CredentialsRefused(text, { cause: refused })
  const answer = errors.find((error) => error instanceof UserError)
  return answer === undefined ? new Error(text, { cause: errors[0] }) : new UserError(text, { cause: answer })
}

/** Records in the journal what was overwritten. */
async function writeOverridden(run: Run, { overridden }: Scope): Promise<void> {
  for (const text of overridden.splice(0)) await run.write('note', 'drift-overridden', text)
}

/**
 * The only way in which anything outside is changed: a fresh, successful look, a comparison, one change, and another look. What
 * cannot be read is never "not so": it is asked again, with growing pauses, until the deadline.
 */
export async function bringAbout(engine: Engine, run: Run, scope: Scope, effect: Effect): Promise<string> {
  const { plan } = scope
  const began = Date.now()
  let renewed = began
  let pause = engine.pollMs
  let applied = 0
  for (;;) {
    let missing: string
    let until: number | undefined
    let cause: unknown
    try {
      const found = await effect.missing()
      if (found === undefined) return applied > 0 ? 'done' : 'was already done'
      missing = found
      if (effect.apply !== undefined && plan.mode !== 'observe' && (applied === 0 || effect.isRepeated)) {
        // A process that lost the switch writes nothing any more. The write itself is refused if the object is not as it was read.
        await run.renew()
        renewed = Date.now()
        await effect.apply(false)
        applied++
        if (!effect.isRepeated) continue
      }
      const waiting = effect.apply === undefined ? undefined : await scope.outside.git?.waiting()
      if (waiting !== undefined) missing += `; ${waiting.text}`
      until = waiting?.until
    } catch (error) {
      if (!(error instanceof RetryableError)) throw error
      missing = error.message
      cause = error.cause
    }
    const seconds = effect.isInstant ? 0 : plan.verifyTimeoutSeconds + (effect.extraSeconds?.() ?? 0)
    if (Date.now() >= (until ?? began + seconds * 1000)) {
      const waited = until === undefined ? seconds : Math.round((Date.now() - began) / 1000)
      throw timeout(scope, effect, missing, waited, cause)
    }
    if (Date.now() - renewed > RENEW_MS) {
      await run.renew()
      renewed = Date.now()
    }
    scope.progress?.(`${effectKey(effect)}: ${missing}`)
    await sleep(pause)
    pause = Math.min(pause * 1.5, engine.pollMs * MOST_PATIENCE)
  }
}

function timeout({ plan }: Scope, effect: Effect, missing: string, seconds: number, cause: unknown): EffectTimeout {
  const isTheirs = effect.apply !== undefined && plan.mode === 'observe'
  const wayOut = isTheirs ? 'The plan is in mode observe: apply what render printed, then repeat.' : effect.wayOut
  const waited = effect.isInstant ? '' : ` was not reached after ${seconds} s`
  const message = `${effectKey(effect)}${waited}: ${ended(missing)}`
  return new EffectTimeout(effect.name, wayOut === undefined ? message : `${message} ${wayOut}`, cause)
}
