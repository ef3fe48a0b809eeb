/** Tracks the progress of a task. Subtasks report it as often as they like; it is stored a few times a second. */

import { pastRuns, scopeMark } from '../control-plane/plan/preview.ts'
import { findRow, selectRows, updateRows } from '../control-plane/store.ts'
import type { Database } from '../database/database.ts'
import { byItself } from '../database/held.ts'
import type { RowOf } from '../database/table.ts'
import { write } from '../database/write.ts'
import type { PlanTask } from '../plugin-kit/spec/plan.ts'
import type { Progress } from '../plugin-kit/spec/subtask.ts'
import { subtasks, tasks } from '../system/pipelines.ts'
import { taskProgress } from '../system/runs.ts'

const STORE_MS = 400

interface TaskProgress {
  /** Starts a subtask, and returns the function to which it reports its progress. */
  begin(subtask: string, rowId: number): (progress: Progress) => void
  end(records: number): Promise<void>
  /** Nothing is stored after this. */
  stop(): void
}

export async function trackProgress(
  database: Database,
  task: PlanTask,
  taskId: number,
  rows: readonly RowOf<typeof subtasks>[],
): Promise<TaskProgress> {
  const { kysely } = database
  const before = await findRow(kysely, taskProgress, { task_id: taskId })
  const usual = await usualSeconds(database, task)
  const scope_mark = scopeMark(task)
  let finished = rows.filter(({ finished_at, is_failed }) => finished_at && !is_failed).length
  /** Requests of the finished subtasks. The current one adds its own. */
  let requests = before?.requests ?? 0
  let current = { name: '', rowId: 0, startedAt: 0, progress: {} as Progress }
  let timer: NodeJS.Timeout | undefined
  let storing: Promise<void> = Promise.resolve()

  async function store(): Promise<void> {
    const { name, rowId, startedAt, progress } = current
    const later = rows.slice(rows.findIndex((row) => row.name === name) + 1).map((row) => row.name)
    const row = taskProgress.row({
      task_id: taskId,
      plugin: task.plugin,
      scope_mark,
      subtask: name,
      finished_subtasks: finished,
      total_subtasks: rows.length,
      done: progress.done ?? 0,
      expected: progress.expected ?? null,
      requests: requests + (progress.requests ?? 0),
      requests_left: progress.requestsLeft ?? null,
      waiting_until: progress.waitingUntil ?? null,
      estimated_end: estimateEnd(progress, startedAt, name, later, usual),
    })
    await write(database, [row])
    await updateRows(kysely, tasks, { id: taskId }, { progress: rows.length === 0 ? 1 : finished / rows.length })
    await updateRows(kysely, subtasks, { id: rowId }, { finished_records: progress.done ?? 0 })
  }
  /** Stores one report at a time. An error here does not end the subtask: its own writes will fail too. */
  const storeNow = byItself(() => {
    timer = undefined
    storing = storing.then(store).catch(() => {})
  })
  const storeSoon = () => {
    timer ??= setTimeout(storeNow, STORE_MS)
  }
  const stop = () => {
    clearTimeout(timer)
    timer = undefined
  }

  return {
    begin(name, rowId) {
      current = { name, rowId, startedAt: Date.now(), progress: leftOf(current.progress) }
      storeSoon()
      return (progress) => {
        current.progress = { ...current.progress, ...progress }
        storeSoon()
      }
    },
    async end(records) {
      stop()
      await storing
      finished++
      requests += current.progress.requests ?? 0
      current.progress = { done: records, expected: records, ...leftOf(current.progress) }
      await store()
    },
    stop,
  }
}

/** The number of requests that the source still allows stays valid when the next subtask begins. */
const leftOf = ({ requestsLeft }: Progress): Progress => (requestsLeft === undefined ? {} : { requestsLeft })

/** The seconds that each subtask took when this task last completed. */
async function usualSeconds(database: Database, task: PlanTask): Promise<ReadonlyMap<string, number>> {
  const [last] = await pastRuns(database, { scope_mark: scopeMark(task) }, 1)
  if (!last) return new Map()
  const rows = await selectRows(database.kysely, subtasks, (query) => query.where('task_id', '=', last.id))
  return new Map(rows.map(({ name, spent_seconds }) => [name, spent_seconds]))
}

/** Estimates the end from the pace of this subtask and the last durations of the later ones; null when either is unknown. */
function estimateEnd(
  { done = 0, expected, waitingUntil }: Progress,
  startedAt: number,
  name: string,
  later: readonly string[],
  usual: ReadonlyMap<string, number>,
  now = Date.now(),
): Date | null {
  const elapsed = now - startedAt
  const usualHere = usual.get(name)
  const byPace = expected !== undefined && done > 0 ? (elapsed * Math.max(0, expected - done)) / done : undefined
  const here = byPace ?? (usualHere === undefined ? undefined : Math.max(0, usualHere * 1000 - elapsed))
  const rest = later.map((each) => usual.get(each))
  if (here === undefined || rest.includes(undefined)) return null
  const afterwards = rest.reduce<number>((sum, seconds) => sum + (seconds ?? 0) * 1000, 0)
  return new Date(Math.max(now, waitingUntil?.getTime() ?? 0) + here + afterwards)
}
