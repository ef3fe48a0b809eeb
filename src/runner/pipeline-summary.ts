import { sql } from 'kysely'
import type { PipelineSubtasks, Task, TaskWithSubtasks } from '../control-plane/records.ts'
import { newestStates, readTasks, type TaskState } from '../control-plane/runs/pipeline-rows.ts'
import type { ServiceContext } from '../control-plane/services.ts'
import { publicRow, type Queries, selectRows } from '../control-plane/store.ts'
import { readByKeys } from '../database/pieces.ts'
import type { RowOf } from '../database/table.ts'
import type { TaskStatus } from '../domain/enums.ts'
import { subtasks, tasks } from '../system/pipelines.ts'

/** The number of tasks that are listed with their subtasks. All tasks are counted. */
const MOST_SUMMARISED = 1000

/** Lists the subtasks of a run, with the progress of its collectors. */
export async function summarisePipeline(
  { database: { kysely }, plugins, secrets }: ServiceContext,
  id: number,
): Promise<PipelineSubtasks> {
  const unsummarised = plugins.filter((plugin) => plugin.isUnsummarised).map(({ name }) => name)
  const states = (await newestStates(kysely, id)).filter(({ plugin }) => !unsummarised.includes(plugin))
  const ids = states.slice(-MOST_SUMMARISED).map((state) => state.id)
  const rows = await readByKeys(ids, (piece) => selectRows(kysely, tasks, (query) => query.where('id', 'in', piece)))
  const details = await readByKeys(ids, (piece) =>
    selectRows(kysely, subtasks, (query) => query.where('task_id', 'in', piece).orderBy('number').orderBy('id')),
  )
  const detailed = withDetails(await readTasks(kysely, rows, secrets), details)
  return { subtasks: detailed, ...summarise(states, await collectorsOf(kysely, states)) }
}

const withDetails = (all: readonly Task[], details: readonly RowOf<typeof subtasks>[]): TaskWithSubtasks[] => {
  const byTask = Map.groupBy(details, ({ task_id }) => task_id)
  return all
    .toSorted((one, other) => one.id - other.id)
    .map(({ subtasks: _names, progress, progressDetail, pipelineRow, pipelineCol, interruptions, ...task }) => ({
      ...task,
      subtaskDetails: (byTask.get(task.id) ?? []).map((row) => publicRow(subtasks, row)),
    }))
}

interface Collectors {
  readonly all: number
  readonly done: number
}

/** Counts in the database, because a large run has millions of subtasks. */
async function collectorsOf(queries: Queries, states: readonly TaskState[]): Promise<Collectors> {
  const counts = await readByKeys(
    states.map(({ id }) => id),
    (piece) =>
      queries
        .selectFrom(subtasks.name)
        .select([
          sql<number>`count(*)`.as('all'),
          sql<number>`count(case when finished_at is not null and is_failed = ${false} then 1 end)`.as('done'),
        ])
        .where('task_id', 'in', piece)
        .where('is_collector', '=', true)
        .execute(),
  )
  const sum = (name: keyof Collectors) => counts.reduce((total, count) => total + Number(count[name]), 0)
  return { all: sum('all'), done: sum('done') }
}

const summarise = (states: readonly TaskState[], { all, done }: Collectors): Omit<PipelineSubtasks, 'subtasks'> => ({
  completionRate: all === 0 ? 1 : Math.round((done / all) * 100) / 100,
  status: overallStatus(states.map(({ status }) => status as TaskStatus)),
  count: states.length,
})

function overallStatus(states: readonly TaskStatus[]): TaskStatus | '' {
  const failed = states.filter((status) => status === 'TASK_FAILED').length
  const completed = states.filter((status) => status === 'TASK_COMPLETED').length
  if (states.length === 0) return ''
  if (failed > 0 && completed > 0) return 'TASK_PARTIAL'
  if (failed === states.length) return 'TASK_FAILED'
  return completed === states.length ? 'TASK_COMPLETED' : 'TASK_RUNNING'
}
