import { setTimeout as sleep } from 'node:timers/promises'
import { FAILURE_LIMIT } from '../effects/balancer-effects.ts'
import { contextsOf } from '../effects/contexts.ts'
import { isNameMoved } from '../effects/dns-record-effects.ts'
import type { Effect, EffectContext, Outside } from '../effects/effect.ts'
import { rulePicture, targetWeight } from '../effects/rule-effects.ts'
import { namesBackSequences, rollbackSequences, stepEffects } from '../effects/sequences.ts'
import { judgeFirmly, secondsLeft } from '../gates/gate-verdicts.ts'
import { TrafficError } from '../model/finding.ts'
import { answerOf, type Plan } from '../model/plan.ts'
import type { State } from '../model/state.ts'
import { type Alarm, alarmOf } from './alarm.ts'
import { onAwsTime } from './aws-time.ts'
import { ownsRoutes } from './claims.ts'
import { act } from './engine.ts'
import type { Engine } from './engine-types.ts'
import { getSwitch, isLeased, listSwitches, type SwitchRow, startRun } from './store.ts'
import { checkedPlanOf } from './stored-plan.ts'

const WATCHER = 'weir'
const WATCH_MS = 10_000

/** States in which rules name the target group: traffic may go there, or come to go there although nobody wants it. */
const WATCHED: ReadonlySet<State> = new Set<State>([
  'prepared',
  'shifting',
  'paused',
  'switched',
  'dns-switched',
  'rolling-back',
  'rolled-back',
  'cleaning',
])

/** States in which a step is in force that may be left. */
const JUDGED: ReadonlySet<State> = new Set(['prepared', 'shifting', 'paused'])

/**
 * Looks at a switch once. A rollback that did not hold is repeated. Targets that fail under load, and failed gates, do what the
 * step says. Drift pauses, and `auto` moves on.
 */
export async function tick(watching: Engine, id: string): Promise<SwitchRow> {
  const row = await getSwitch(watching.database, id)
  if (!WATCHED.has(row.state)) return row
  // After the DNS switch, clean-up alone deals with it. Before that it is an abort, during which no traffic may reach the target.
  if (row.state === 'cleaning' && row.dns_confirmed_at !== null) return row
  const isHeld = row.state === 'rolled-back' || row.state === 'cleaning'
  if (isHeld && !(await ownsRoutes(watching.database, id))) return row
  const { plan } = checkedPlanOf(row)
  const outside = await watching.connect(plan, true)
  const engine = onAwsTime(watching, outside)
  const contexts = contextsOf(plan, outside, () => row, { overridesDrift: true, now: engine.now })
  if (row.state === 'rolling-back') return isLeased(row) ? row : resumeRollback(engine, row, contexts)
  if (isHeld) return isLeased(row) ? row : holdRollback(engine, row, contexts)
  const alarm = await alarmOf(engine, contexts)
  if (alarm !== undefined) return answerAlarm(engine, row, plan, alarm)
  if (isLeased(row) || !JUDGED.has(row.state) || (row.state === 'prepared' && plan.advance !== 'auto')) return row
  return row.verified_at === null ? resumeShift(engine, row, plan) : judgeStep(engine, row, plan, outside, contexts)
}

/** Repeats the rollback only if there is more to do than wait for the record: an entry every few seconds would flood the journal. */
async function resumeRollback(engine: Engine, row: SwitchRow, contexts: readonly EffectContext[]): Promise<SwitchRow> {
  const looks = await Promise.allSettled(
    rollbackSequences(contexts).map(({ effects, direct }) =>
      isBack([...direct.map(({ effect }) => effect), ...effects]),
    ),
  )
  if (looks.every((look) => look.status === 'rejected' || look.value)) {
    // A route that cannot be read is no reason to begin again while nothing else is left to do.
    for (const look of looks) if (look.status === 'rejected') throw look.reason
    const names = namesBackSequences(contexts, contexts.some(isNameMoved))
    const left = (await Promise.all(names.map(firstMissing))).filter((effect) => effect !== undefined)
    if (left.length > 0 && left.every(({ isInstant }) => isInstant)) return row
  }
  return orAsItIs(engine, row.id, act(engine, row.id, { action: 'rollback', actor: WATCHER, isRepeated: true }))
}

/** A controller that comes back with its old knowledge, or a person, may write weights again: nothing may lead to the target any more. */
async function holdRollback(engine: Engine, row: SwitchRow, contexts: readonly EffectContext[]): Promise<SwitchRow> {
  const shares = await Promise.all(contexts.map((context) => rulePicture(context).then(targetWeight)))
  if (shares.every((share) => share === 0)) return row
  const reason = 'After the rollback the load balancer sent traffic to the target again.'
  return orAsItIs(engine, row.id, act(engine, row.id, { action: 'rollback', actor: WATCHER, reason, isRepeated: true }))
}

/** Somebody may have begun a rollback while the watch looked: then it has nothing to add. */
async function rollBack(engine: Engine, id: string, reason: string): Promise<SwitchRow> {
  const now = await getSwitch(engine.database, id)
  if (now.state === 'rolling-back') return now
  return orAsItIs(engine, id, act(engine, id, { action: 'rollback', actor: WATCHER, reason }))
}

const isBack = async (effects: readonly Effect[]): Promise<boolean> => (await firstMissing(effects)) === undefined

async function firstMissing(effects: readonly Effect[]): Promise<Effect | undefined> {
  for (const effect of effects) if ((await effect.missing()) !== undefined) return effect
  return undefined
}

/** A refusal is recorded with the switch; the watch continues. */
async function orAsItIs(engine: Engine, id: string, work: Promise<SwitchRow>): Promise<SwitchRow> {
  try {
    return await work
  } catch (error) {
    if (error instanceof TrafficError) return getSwitch(engine.database, id)
    throw error
  }
}

async function answerAlarm(engine: Engine, row: SwitchRow, plan: Plan, alarm: Alarm): Promise<SwitchRow> {
  const reason = alarm.text
  // After the DNS switch the old load balancer carries little traffic, and a rollback needs somebody to move the record.
  if (answerOf(plan.steps[row.step]!, alarm.isNothingHealthy) === 'rollback' && row.state !== 'dns-switched')
    return rollBack(engine, row.id, reason)
  if (isLeased(row) || row.problem === reason) return row
  if (row.state === 'shifting') return act(engine, row.id, { action: 'pause', actor: WATCHER, reason })
  const run = await startRun(engine.database, row.id, 'watch', WATCHER)
  try {
    await run.write('note', 'alarm', reason, { problem: reason })
  } finally {
    await run.end()
  }
  return getSwitch(engine.database, row.id)
}

/** The process that made the step died before it saw the load balancer follow. */
const resumeShift = (engine: Engine, row: SwitchRow, plan: Plan): Promise<SwitchRow> =>
  plan.advance === 'auto' && row.state === 'shifting'
    ? orAsItIs(engine, row.id, act(engine, row.id, { action: 'advance', actor: WATCHER, expectedVersion: row.version }))
    : Promise.resolve(row)

async function judgeStep(
  engine: Engine,
  row: SwitchRow,
  plan: Plan,
  outside: Outside,
  contexts: readonly EffectContext[],
): Promise<SwitchRow> {
  const { id } = row
  if (row.state === 'shifting') {
    const drift = await driftOf(
      engine,
      contexts.map((context) => ({ ...context, overridesDrift: false })),
    )
    if (drift !== undefined) return act(engine, id, { action: 'pause', actor: WATCHER, reason: drift })
  }
  const results = await judgeFirmly(engine, row, plan, outside)
  const failed = results.filter(({ verdict }) => verdict === 'fail')
  if (failed.length > 0) {
    const isBack = answerOf(plan.steps[row.step]!) === 'rollback'
    // Before the first step the target has no share that could be taken away.
    if (row.state === 'prepared' || (row.state === 'paused' && !isBack)) return row
    const reason = `Gate of step ${row.step} failed: ${failed.map(({ gate, message }) => `${gate}: ${message}`).join('; ')}.`
    if (isBack) return rollBack(engine, id, reason)
    return orAsItIs(engine, id, act(engine, id, { action: 'pause', actor: WATCHER, reason }))
  }
  const isPassed = secondsLeft(engine, row, plan) === 0 && results.every(({ verdict }) => verdict === 'pass')
  if (plan.advance !== 'auto' || row.state === 'paused' || !isPassed) return row
  return orAsItIs(engine, id, act(engine, id, { action: 'advance', actor: WATCHER, expectedVersion: row.version }))
}

/** Looks for drift in the Ingress, in the guards of its paths and, with several looks in a row, in the rules. */
async function driftOf(engine: Engine, contexts: readonly EffectContext[]): Promise<string | undefined> {
  const looked = new Set(['guards', 'weights', 'rule-verified'])
  const effects = stepEffects(contexts, contexts[0]!.row().step).filter(({ name }) => looked.has(name))
  try {
    for (const effect of effects) {
      let missing = await effect.missing()
      for (let looks = 1; missing !== undefined && effect.name === 'rule-verified' && looks < FAILURE_LIMIT; looks++) {
        await sleep(engine.pollMs)
        missing = await effect.missing()
      }
      if (missing !== undefined)
        return `${effect.route === undefined ? '' : `Route ${effect.route}: `}Drift: ${missing}`
    }
    return undefined
  } catch (error) {
    if (error instanceof TrafficError) return error.message
    throw error
  }
}

/** Watches every switch until stopped. A slow switch, or trouble with one, never delays the others. */
export function startWatch(engine: Engine, onError: (id: string, error: unknown) => void): { stop(): Promise<void> } {
  const stopped = new AbortController()
  const { signal } = stopped
  const looks = new Map<string, Promise<void>>()
  const look = async (id: string): Promise<void> => {
    try {
      await tick(engine, id)
    } catch (error) {
      onError(id, error)
    } finally {
      looks.delete(id)
    }
  }
  const watch = async () => {
    while (!signal.aborted) {
      const rows = await listSwitches(engine.database).catch((error) => {
        onError('all', error)
        return []
      })
      for (const { id, state } of rows) if (WATCHED.has(state) && !looks.has(id)) looks.set(id, look(id))
      await sleep(engine.watchMs ?? WATCH_MS, undefined, { signal }).catch(() => undefined)
    }
  }
  const watching = watch()
  return {
    async stop() {
      stopped.abort()
      await watching
      await Promise.all(looks.values())
    },
  }
}
