/**
 * Records what interrupted tasks. A process that runs tasks may die without a message, and nobody knows which of its tasks was
 * the reason. So each of them counts one loss, and a task with too many losses runs alone: then the reason is clear.
 */
import { readFileSync } from 'node:fs'
import { totalmem } from 'node:os'
import { insertRow, type Queries, selectRows } from '../control-plane/store.ts'
import { isDuplicate } from '../database/explain.ts'
import { isLeaseHolderGone, isOfThisMachine } from '../database/lease-holder.ts'
import type { RowOf } from '../database/table.ts'
import type { servers } from '../system/runs.ts'
import { interruptions } from '../system/workers.ts'
import type { Interruption, TaskOutcome } from './task-dispatch.ts'

/** After this many losses the task runs alone, and after one more it fails. */
const MOST_LOSSES = 3
/** A process that used at least this much of its memory has probably ended for lack of it. */
const MUCH_MEMORY_PERCENT = 90

export const runsAlone = (losses: number): boolean => losses >= MOST_LOSSES
export const hasLostTooOften = (losses: number): boolean => losses > MOST_LOSSES

type Interrupted = Pick<RowOf<typeof interruptions>, 'task_id' | 'pipeline_id'>

/** Stores an interruption once, even if it is reported several times. */
export async function recordInterruption(queries: Queries, task: Interrupted, what: Interruption): Promise<void> {
  const { incident, isLoss: is_loss, cause } = what
  const { task_id, pipeline_id } = task
  try {
    await insertRow(queries, interruptions, { task_id, pipeline_id, incident, is_loss, cause })
  } catch (error) {
    if (!isDuplicate(error)) throw error
  }
}

const lossesOf = (queries: Queries, taskId: number) =>
  selectRows(queries, interruptions, (query) =>
    query.where('task_id', '=', taskId).where('is_loss', '=', true).orderBy('created_at'),
  )

export const countLosses = async (queries: Queries, taskId: number): Promise<number> =>
  (await lossesOf(queries, taskId)).length

/** The outcome of a task that was lost again while it ran alone. */
export async function endByLosses(
  queries: Queries,
  taskId: number,
  named: (message: string) => string,
): Promise<TaskOutcome> {
  const losses = await lossesOf(queries, taskId)
  const cause = losses.at(-1)?.cause ?? ''
  const message = `What ran this task broke down ${losses.length} times, the last time with no other task beside it. The likely cause: ${cause}. Give it more memory or let it collect less, then run it again.`
  return { status: 'TASK_FAILED', message: named(message), errorName: 'FatalError', failedSubTask: '' }
}

type LastSign = Pick<RowOf<typeof servers>, 'memory_percent' | 'memory_kills'> | undefined

const usedMuchMemory = (last: LastSign): boolean => (last?.memory_percent ?? 0) >= MUCH_MEMORY_PERCENT

/**
 * True when the machine killed a process for lack of memory since the last heartbeat of this one. Memory may fill up between
 * two heartbeats.
 */
function wasEndedForMemory(leaseHolder: string, last: LastSign): boolean {
  const kills = isOfThisMachine(leaseHolder) ? memoryKills() : null
  return kills !== null && kills > (last?.memory_kills ?? kills)
}

export const ranOutOfMemory = (leaseHolder: string, last: LastSign): boolean =>
  usedMuchMemory(last) || wasEndedForMemory(leaseHolder, last)

/** The likely cause of the silent death of a process, as far as its last heartbeat and its machine tell. */
export function likelyCause(leaseHolder: string, last: LastSign): string {
  if (usedMuchMemory(last)) {
    return `out of memory (it used ${last?.memory_percent} % of what it may have when it was last heard of)`
  }
  if (wasEndedForMemory(leaseHolder, last)) return 'out of memory (its machine ended a process for that reason)'
  return isLeaseHolderGone(leaseHolder)
    ? 'its process crashed or was killed, as happens when memory runs out'
    : 'its machine is gone, hangs, or could not reach the database'
}

/** The share of the available memory that this process uses, in a container or on its machine. */
export function memoryPercent(): number {
  const limit = process.constrainedMemory()
  const most = limit > 0 ? Math.min(limit, totalmem()) : totalmem()
  return Math.min(100, Math.round((100 * process.memoryUsage.rss()) / most))
}

/**
 * Returns how many processes this machine has killed for lack of memory since it started, including those in containers. Null
 * when the machine does not tell.
 */
export function memoryKills(): number | null {
  try {
    const found = /^oom_kill (\d+)$/m.exec(readFileSync('/proc/vmstat', 'utf8'))
    return found ? Number(found[1]) : null
  } catch {
    return null
  }
}
