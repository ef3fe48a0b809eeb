/** Reads which servers and workers there are and what waits, for the queue page and the doctor. */
import type { Config } from '../../config/config.ts'
import { selectRows } from '../../control-plane/store.ts'
import type { Database } from '../../database/database.ts'
import { servers } from '../../system/runs.ts'
import { isRunning, openRuns, type TaskRun } from './task-runs.ts'

interface QueueState {
  readonly runTasksOn: Config['runTasksOn']
  readonly servers: readonly { readonly host: string; readonly version: string }[]
  readonly workers: readonly WorkerState[]
  /** Waiting tasks by project, the project with the most tasks first. */
  readonly waiting: readonly { readonly project: string; readonly tasks: number; readonly notes: readonly string[] }[]
}
interface WorkerState {
  readonly host: string
  readonly version: string
  readonly concurrency: number
  readonly isDraining: boolean
  readonly since: Date | null
  readonly tasks: readonly {
    readonly id: number
    readonly pipelineId: number
    readonly plugin: string
    readonly project: string
    readonly since: Date | null
  }[]
}

export async function readQueue({ kysely }: Database, { runTasksOn }: Pick<Config, 'runTasksOn'>): Promise<QueueState> {
  const [members, runs] = await Promise.all([
    selectRows(kysely, servers, (query) => query.orderBy('host').orderBy('holder')),
    openRuns(kysely),
  ])
  const running = Map.groupBy(runs.filter(isRunning), ({ worker }) => worker)
  const waiting = Map.groupBy(
    runs.filter(({ worker }) => worker === ''),
    ({ project }) => project,
  )
  return {
    runTasksOn,
    servers: members.filter(({ role }) => role === 'server').map(({ host, version }) => ({ host, version })),
    workers: members
      .filter(({ role }) => role === 'worker')
      .map(({ holder, host, version, concurrency, is_draining: isDraining, created_at: since }) => ({
        host,
        version,
        concurrency,
        isDraining,
        since,
        tasks: (running.get(holder) ?? []).map(taskOf),
      })),
    waiting: [...waiting]
      .map(([project, own]) => ({
        project,
        tasks: own.length,
        notes: [...new Set(own.map(({ note }) => note).filter((note) => note !== ''))].slice(0, MOST_NOTES),
      }))
      .sort((one, other) => other.tasks - one.tasks),
  }
}

const MOST_NOTES = 5
const taskOf = ({ task_id: id, pipeline_id: pipelineId, plugin, project, updated_at: since }: TaskRun) => ({
  id,
  pipelineId,
  plugin,
  project,
  since,
})
