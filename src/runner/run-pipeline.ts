/** Runs one pipeline that this server holds: the stages in order, the tasks of a stage at the same time. */

import { setTimeout as sleep } from 'node:timers/promises'
import { newestTasks, type PipelineRow, type TaskRow } from '../control-plane/runs/pipeline-rows.ts'
import { QUEUED, statesBefore } from '../control-plane/runs/states.ts'
import { deleteRows, fitted } from '../control-plane/store.ts'
import type { Database } from '../database/database.ts'
import { knowing } from '../database/kysely.ts'
import type { AnyTable } from '../database/table.ts'
import { retrying } from '../database/write.ts'
import type { TaskStatus } from '../domain/enums.ts'
import { messageOf } from '../errors.ts'
import { pipelines, tasks } from '../system/pipelines.ts'
import { pipelineLeases } from '../system/runs.ts'
import { countLosses, endByLosses, hasLostTooOften, recordInterruption, runsAlone } from './interruptions.ts'
import { describeLease, type Leases } from './leases.ts'
import { BEGUN, type Begin, type TaskDispatch, type TaskOutcome } from './task-dispatch.ts'

interface PipelineRun {
  readonly pipeline: PipelineRow
  readonly database: Database
  readonly dispatch: TaskDispatch
  readonly leaseHolder: string
  /** The connection that a task works through, if any. */
  readonly connectionOf: (task: TaskRow) => string | null
  /** Adds the subject of the task to a message. */
  readonly named: (task: TaskRow, message: string) => string
  /** Used to share workers fairly. Empty when the run belongs to no project. */
  readonly project: string
  readonly leases: Leases
  /** The names of the leases that a task needs. */
  readonly leasesOf: (task: TaskRow) => Promise<readonly string[]>
  readonly log: (line: string) => void
  /** Aborted with the reason CANCELLED when a user asked for it. Any other reason means that this server stops. */
  readonly signal: AbortSignal
}
export const CANCELLED = 'cancelled by a user'

const PAUSE_MS = 1000
/** The number of tasks of a stage that are handled at once. They run, or wait for leases or a thread. A plan may have many thousands. */
const MOST_AT_ONCE = 100
/** A task that loses the database this often fails: then something else is probably wrong. */
const MOST_ATTEMPTS = 10
const isQueued = ({ status }: TaskRow) => (QUEUED as readonly string[]).includes(status)
const hasRun = (task: TaskRow) => task.began_at !== null && !isQueued(task) && task.status !== 'TASK_RUNNING'
const secondsBetween = (from: Date, to: Date) => Math.round((to.getTime() - from.getTime()) / 1000)

export async function runPipeline(run: PipelineRun): Promise<void> {
  const { pipeline, database, dispatch, signal } = run
  const isStopping = () => signal.aborted && signal.reason !== CANCELLED
  /** Texts that say what each task waits for, by task id. */
  const waits = new Map<number, string>()
  const all = await newestTasks(database.kysely, pipeline.id)
  let finished = all.filter(hasRun).length
  let hasFailed = all.some(({ status }) => status === 'TASK_FAILED')
  const stages = Map.groupBy(all, ({ pipeline_row }) => pipeline_row)
  for (const [stage, tasksOfStage] of [...stages].sort(([one], [other]) => one - other)) {
    const waiting = tasksOfStage.filter(isQueued)
    if (waiting.length > 0 && !signal.aborted) {
      await setState(run, pipelines, pipeline.id, { stage })
      await runInLanes(waiting)
    }
    if (signal.aborted || (hasFailed && !pipeline.skip_on_fail)) break
  }
  // When this server stops, the state is left as it is for the server that takes over.
  if (isStopping()) return
  await finish(run)

  /** Ends only when all lanes have ended: nothing may still run when another server takes over. */
  async function runInLanes(waiting: readonly TaskRow[]): Promise<void> {
    const next = waiting.values()
    const lane = async () => {
      for (const task of next) {
        if (signal.aborted) return
        await runToEnd(task)
      }
    }
    const lanes = Array.from({ length: Math.min(MOST_AT_ONCE, waiting.length) }, lane)
    for (const result of await Promise.allSettled(lanes)) if (result.status === 'rejected') throw result.reason
  }

  async function runToEnd(task: TaskRow): Promise<void> {
    const begun = createBeginning(task)
    const handed = { id: task.id, connection: run.connectionOf(task) }
    const { kysely } = database
    let outcome: EndedTask | undefined
    // A task that never began cannot have been lost.
    let losses = task.began_at ? await persist(run, () => countLosses(kysely, task.id)) : 0
    for (let attempts = 1; ; ) {
      if (hasLostTooOften(losses)) {
        outcome = await persist(run, () => endByLosses(kysely, task.id, (message) => run.named(task, message)))
        break
      }
      const followed = await persist(run, async () => dispatch.follow?.(handed, signal, begun.begin))
      outcome = followed ? followed.outcome : await runLeased(task, runsAlone(losses), begun.begin)
      const interruption = interruptionOf(outcome)
      if (interruption) await persist(run, () => recordInterruption(kysely, idsOf(task), interruption))
      if (!outcome || !mayContinue(outcome) || signal.aborted) break
      if (interruption?.isLoss) losses++
      if (!interruption && ++attempts > MOST_ATTEMPTS) break
      run.log(`task ${task.id} (${task.plugin}) will continue${aloneWords(losses)}: ${outcome.message}`)
      await setState(run, tasks, task.id, { message: outcome.message })
      await sleep(interruption && !interruption.isLoss ? 0 : PAUSE_MS)
    }
    if (isStopping()) return
    // The task was cancelled before any attempt continued it.
    if (!outcome && begun.hasBegun()) outcome = { status: 'TASK_CANCELLED' }
    if (outcome) await end(task, lastOf(outcome, signal.aborted), begun.beganAt(), outcome.endedAt)
  }

  /** Takes the leases before a thread, because the task that holds a lease may need a thread to end. */
  async function runLeased(task: TaskRow, isAlone: boolean, begin: Begin): Promise<EndedTask | undefined> {
    const names = await persist(run, () => run.leasesOf(task))
    const lessee = idsOf(task)
    const end = await persist(run, () =>
      run.leases.take(names, lessee, signal, (lease) => wait(task, describeLease(lease))),
    )
    if (waits.delete(task.id)) await tell(task, '')
    if (!end) return undefined
    try {
      const { id, plugin, pipeline_id: pipelineId } = task
      const connection = run.connectionOf(task)
      const { leaseHolder, project } = run
      const outcome = await dispatch.run(
        { id, plugin, pipelineId, connection, leaseHolder, project, leases: end.tokens, isAlone },
        signal,
        begin,
      )
      // Before the leases end: the task that waits for them begins after this one ended.
      return outcome && { ...outcome, endedAt: new Date() }
    } finally {
      await end()
    }
  }

  async function wait(task: TaskRow, other: string): Promise<void> {
    const text = `${task.plugin} (task ${task.id}) waits for ${other}, which works on the same data.`
    if (waits.get(task.id) === text) return
    waits.set(task.id, text)
    run.log(text)
    await tell(task, text)
  }

  async function tell(task: TaskRow, message: string): Promise<void> {
    await setState(run, tasks, task.id, { message })
    await setState(run, pipelines, pipeline.id, { message: [...waits.values()].join('\n') })
  }

  /** Makes a task begin only once, however often it is continued. */
  function createBeginning(task: TaskRow) {
    let beganAt: Date | undefined
    const begin: Begin = async (isStored = false) => {
      if (beganAt) return isStored || setState(run, tasks, task.id, { message: '' })
      const began_at = task.began_at ?? new Date()
      const isBegun = isStored || (await setState(run, tasks, task.id, { ...BEGUN, status: 'TASK_RUNNING', began_at }))
      if (!isBegun) return false
      beganAt = began_at
      run.log(`task ${task.id} (${task.plugin}) begins`)
      return true
    }
    return { begin, hasBegun: () => beganAt !== undefined, beganAt: () => beganAt ?? task.began_at ?? new Date() }
  }

  async function end(task: TaskRow, outcome: TaskOutcome, beganAt: Date, endedAt = new Date()): Promise<void> {
    run.log(`task ${task.id} (${task.plugin}) ends: ${outcome.status}`)
    await setState(run, tasks, task.id, endOf(outcome, beganAt, endedAt))
    if (outcome.status === 'TASK_FAILED') hasFailed = true
    finished++
    await setState(run, pipelines, pipeline.id, { finished_tasks: finished })
  }
}

/** `endedAt` is unknown where a worker or the losses ended the task. */
type EndedTask = TaskOutcome & { readonly endedAt?: Date }
type Continuing = Extract<TaskOutcome, { status: 'TASK_FAILED' | 'TASK_RESUME' }>
const mayContinue = (outcome: TaskOutcome): outcome is Continuing =>
  outcome.status === 'TASK_RESUME' || (outcome.status === 'TASK_FAILED' && outcome.isAway === true)
const interruptionOf = (outcome: TaskOutcome | undefined) =>
  outcome?.status === 'TASK_RESUME' ? outcome.interruption : undefined
const idsOf = ({ id: task_id, pipeline_id }: TaskRow) => ({ task_id, pipeline_id })
const aloneWords = (losses: number) => (runsAlone(losses) ? ', with no other task beside it' : '')

/** The final outcome of a task that is not continued any more. */
function lastOf(outcome: TaskOutcome, isCancelled: boolean): TaskOutcome {
  if (isCancelled && mayContinue(outcome)) return { status: 'TASK_CANCELLED' }
  if (outcome.status !== 'TASK_RESUME') return outcome
  return { status: 'TASK_FAILED', message: outcome.message, errorName: 'FatalError', failedSubTask: '' }
}

const endOf = (outcome: TaskOutcome, beganAt: Date, endedAt: Date) => ({
  status: outcome.status,
  finished_at: endedAt,
  spent_seconds: secondsBetween(beganAt, endedAt),
  ...(outcome.status === 'TASK_COMPLETED' && { progress: 1, message: outcome.message }),
  ...(outcome.status === 'TASK_FAILED' && {
    message: outcome.message,
    error_name: outcome.errorName,
    failed_sub_task: outcome.failedSubTask,
  }),
})

async function finish(run: PipelineRun): Promise<void> {
  const { pipeline, database, signal } = run
  const states = await newestTasks(database.kysely, pipeline.id)
  const failed = states.filter(({ status }) => status === 'TASK_FAILED')
  const status = finalStatus(states, pipeline.skip_on_fail, signal.aborted)
  const endedAt = new Date()
  await setState(run, pipelines, pipeline.id, {
    status,
    finished_at: endedAt,
    finished_tasks: states.filter(hasRun).length,
    spent_seconds: pipeline.began_at ? secondsBetween(pipeline.began_at, endedAt) : 0,
    message: failed.map(({ plugin, id, message }) => `${plugin} (task ${id}): ${message}`).join('\n'),
    error_name: failed[0]?.error_name ?? '',
  })
  run.log(`ends: ${status}`)
  await persist(run, () =>
    deleteRows(database.kysely, pipelineLeases, { pipeline_id: pipeline.id, holder: run.leaseHolder }),
  )
}

export function finalStatus(
  states: readonly { readonly status: string }[],
  skipOnFail: boolean,
  isCancelled: boolean,
): TaskStatus {
  const has = (status: TaskStatus) => states.some((task) => task.status === status)
  if (isCancelled || has('TASK_CANCELLED')) return 'TASK_CANCELLED'
  if (!has('TASK_FAILED')) return 'TASK_COMPLETED'
  return skipOnFail && has('TASK_COMPLETED') ? 'TASK_PARTIAL' : 'TASK_FAILED'
}

/**
 * Changes a pipeline or task while this server holds the pipeline, and only by an allowed transition. False when this server
 * has lost the pipeline, or when somebody else changed the state.
 */
async function setState(
  run: PipelineRun,
  table: AnyTable,
  id: number,
  values: Record<string, unknown> & { status?: string },
): Promise<boolean> {
  const { kysely } = run.database
  const held = kysely
    .selectFrom(pipelineLeases.name)
    .select('holder')
    .where('pipeline_id', '=', run.pipeline.id)
    .where('holder', '=', run.leaseHolder)
  let update = knowing(kysely, table)
    .updateTable(table.name)
    .set(fitted(table, { ...values, updated_at: new Date() }))
    .where('id', '=', id)
    .where((where) => where.exists(held))
  if (values.status) update = update.where('status', 'in', statesBefore(values.status as TaskStatus))
  const { numUpdatedRows } = await persist(run, () => update.executeTakeFirstOrThrow())
  return Number(numUpdatedRows) === 1
}

/** Retries until a state is stored, so that nothing is lost while the database is unreachable. */
async function persist<Result>({ database, signal, log }: PipelineRun, write: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await retrying(database, write)
    } catch (error) {
      if (signal.aborted && signal.reason !== CANCELLED) throw error
      log(`a state could not be stored, and will be tried again: ${messageOf(error)}`)
      await sleep(PAUSE_MS)
    }
  }
}
