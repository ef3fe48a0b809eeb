/**
 * Hands tasks out to workers and waits for their results. When a server stops, its tasks stay with the workers, and the server
 * that takes over the pipeline follows them.
 */
import { deleteRows, findRow, selectRows } from '../../control-plane/store.ts'
import type { Database } from '../../database/database.ts'
import type { RowOf } from '../../database/table.ts'
import { messageOf } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import { servers } from '../../system/runs.ts'
import { taskRuns } from '../../system/workers.ts'
import { createFence } from '../fence.ts'
import { likelyCause } from '../interruptions.ts'
import { repeat } from '../repeat.ts'
import { CANCELLED } from '../run-pipeline.ts'
import { LEASE_MS, watchServers } from '../servers.ts'
import type { TaskDispatch, TaskOutcome } from '../task-dispatch.ts'
import { isRunning, outcomeOf, type TaskRun, withdrawRun, writeRun } from './task-runs.ts'

interface QueueDispatchOptions {
  readonly database: Database
  readonly log: Logger
  /** The version of this code. */
  readonly version: string
  readonly leaseMs?: number
}

/** A task that this server waits for. */
interface Watched {
  readonly token: string
  readonly signal: AbortSignal
  readonly onClaim: () => void
  readonly settle: (outcome: TaskOutcome | undefined) => void
}

const LOOK_MS = 250

const again = (message: string): TaskOutcome => ({ status: 'TASK_RESUME', message })
const isStopping = ({ aborted, reason }: AbortSignal) => aborted && reason !== CANCELLED

export function createQueueDispatch(options: QueueDispatchOptions): TaskDispatch {
  const { database, log, version, leaseMs = LEASE_MS } = options
  const { kysely } = database
  const { isDead } = watchServers(database, leaseMs)
  const watched = new Map<number, Watched>()
  /** The last heartbeats of workers, kept here because other servers may delete the rows of dead ones. */
  const lastSigns = new Map<string, RowOf<typeof servers>>()
  let lastWrite: Promise<unknown> = Promise.resolve()

  /** Writes one after another, because the position of a task in the queue depends on those before it. */
  function inTurn<Result>(write: () => Promise<Result>): Promise<Result> {
    const written = lastWrite.then(write)
    lastWrite = written.catch(() => {})
    return written
  }

  async function look(): Promise<void> {
    // Copied before the query, because a task that is added later may have been written after its result.
    const waiting = [...watched]
    if (waiting.length === 0) return
    const ids = waiting.map(([id]) => id)
    const rows = await selectRows(kysely, taskRuns, (query) => query.where('task_id', 'in', ids))
    const byId = new Map(rows.map((row) => [row.task_id, row]))
    const dead = await deadAmong(rows)
    for (const [id, watch] of waiting) {
      const row = byId.get(id)
      if (!row || row.token !== watch.token) watch.settle(again('It was handed out again.'))
      else if (row.worker !== '') await judge(row, watch, dead)
      else if (watch.signal.aborted) await withdraw(row, watch)
    }
  }

  /** Finds workers that died, with the likely cause. */
  async function deadAmong(rows: readonly TaskRun[]): Promise<ReadonlyMap<string, string>> {
    const workers = [...new Set(rows.filter(isRunning).map(({ worker }) => worker))]
    const dead = new Map<string, string>()
    if (workers.length === 0) return dead
    const found = await selectRows(kysely, servers, (query) => query.where('holder', 'in', workers))
    for (const row of found) lastSigns.set(row.holder, row)
    for (const worker of workers) if (await isDead(worker)) dead.set(worker, likelyCause(worker, lastSigns.get(worker)))
    for (const known of lastSigns.keys()) if (!workers.includes(known)) lastSigns.delete(known)
    return dead
  }

  /** Handles a task that a worker has taken. */
  async function judge(row: TaskRun, watch: Watched, dead: ReadonlyMap<string, string>): Promise<void> {
    watch.onClaim()
    const outcome = outcomeOf(row)
    if (outcome) return watch.settle(await taken(row, outcome))
    const { task_id, token, worker } = row
    const cause = dead.get(worker)
    if (cause === undefined) return
    const gone = {
      status: 'TASK_RESUME',
      message: `The worker that ran it broke down: ${cause}.`,
      interruption: { incident: worker, isLoss: true, cause },
    } as const
    // If no row is deleted, the task has ended after all, and the next round finds its result.
    if ((await deleteRows(kysely, taskRuns, { task_id, token, worker, outcome: '' })) === 1) watch.settle(gone)
  }

  /** Deletes the row of an attempt that another one will follow, so that its result is used only once. */
  async function taken({ task_id, token }: TaskRun, outcome: TaskOutcome): Promise<TaskOutcome> {
    if (outcome.status === 'TASK_RESUME') await deleteRows(kysely, taskRuns, { task_id, token })
    return outcome
  }

  async function withdraw(row: TaskRun, watch: Watched): Promise<void> {
    if (await withdrawRun(kysely, row)) watch.settle(undefined)
  }

  const loop = repeat(LOOK_MS, look, (error) =>
    log.error(`the queue continues after an error: ${messageOf(database.explain(error) ?? error)}`),
  )

  /** Waits for the end of an attempt. Undefined when it did not begin, or when this server stops. */
  function watch(row: TaskRun, signal: AbortSignal, onClaim: () => void): Promise<TaskOutcome | undefined> {
    return new Promise((resolve) => {
      let isClaimed = false
      const hear = () => (isStopping(signal) ? one.settle(undefined) : loop.wake())
      const one: Watched = {
        token: row.token,
        signal,
        onClaim() {
          if (!isClaimed) onClaim()
          isClaimed = true
        },
        settle(outcome) {
          signal.removeEventListener('abort', hear)
          if (watched.get(row.task_id) === one) watched.delete(row.task_id)
          resolve(outcome)
        },
      }
      watched.set(row.task_id, one)
      signal.addEventListener('abort', hear)
      if (signal.aborted) hear()
    })
  }

  return {
    fence: createFence(),
    async run(task, signal, begin) {
      if (signal.aborted) return undefined
      let row: TaskRun | undefined
      try {
        row = await inTurn(() => writeRun(database, task, version))
      } catch (error) {
        return again(messageOf(database.explain(error) ?? error))
      }
      if (!row) return again('A worker has it already.')
      return watch(row, signal, () => void begin(true))
    },
    async follow({ id }, signal, begin) {
      const row = await findRow(kysely, taskRuns, { task_id: id })
      if (!row || row.worker === '') return undefined
      if (!(await begin())) return { outcome: undefined }
      return { outcome: await watch(row, signal, () => {}) }
    },
    close: () => loop.stop(),
  }
}
