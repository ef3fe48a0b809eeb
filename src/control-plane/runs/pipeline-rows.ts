/** Converts pipelines and tasks from their stored form to the form that is shown. */

import { sql } from 'kysely'
import { inPieces, readByKeys } from '../../database/pieces.ts'
import type { AnyTable, RowOf } from '../../database/table.ts'
import type { TaskStatus } from '../../domain/enums.ts'
import { maskSecrets, type Secrets } from '../../secrets/secrets.ts'
import { pipelineLabels, pipelines, subtasks, tasks } from '../../system/pipelines.ts'
import { taskProgress } from '../../system/runs.ts'
import { interruptions } from '../../system/workers.ts'
import { countsAsCollector } from '../plan/select-subtasks.ts'
import { readPlans, type StoredPlans } from '../plan/stored-plans.ts'
import type { Pipeline, ProgressDetail, Task } from '../records.ts'
import { createReader, openOptions } from '../sealed.ts'
import { type Ids, publicRow, type Queries, selectRows } from '../store.ts'

export type PipelineRow = RowOf<typeof pipelines>
export type TaskRow = RowOf<typeof tasks>

/** Plans longer than `longestPlan` characters are left out. */
export async function readPipelines(
  queries: Queries,
  rows: readonly PipelineRow[],
  secrets: Secrets,
  longestPlan?: number,
): Promise<Pipeline[]> {
  const ids = rows.map(({ id }) => id)
  return ids.length === 0 ? [] : joinPipelines(rows, await readPipelineParts(queries, ids, secrets, longestPlan))
}

interface PipelineParts {
  readonly labels: readonly RowOf<typeof pipelineLabels>[]
  readonly plans: ReadonlyMap<number, StoredPlans>
  readonly interruptions: ReadonlyMap<number, number>
}

export async function readPipelineParts(
  queries: Queries,
  ids: Ids,
  secrets: Secrets,
  longestPlan?: number,
): Promise<PipelineParts> {
  const [labels, plans, interrupted] = await Promise.all([
    selectRows(queries, pipelineLabels, (query) => query.where('pipeline_id', 'in', ids).orderBy('name')),
    readPlans(queries, 'pipeline', ids, secrets, longestPlan),
    countInterruptions(queries, 'pipeline_id', ids),
  ])
  return { labels, plans, interruptions: interrupted }
}

/** Counts interruptions by pipeline or task. Those that were never interrupted are left out. */
async function countInterruptions(queries: Queries, column: 'pipeline_id' | 'task_id', ids: Ids) {
  const rows = await queries
    .selectFrom(interruptions.name)
    .select((builder) => [`${column} as id`, builder.fn.count('incident').distinct().as('count')])
    .where(column, 'in', ids)
    .groupBy(column)
    .execute()
  return new Map(rows.map(({ id, count }) => [Number(id), Number(count)]))
}

export function joinPipelines(
  rows: readonly PipelineRow[],
  { labels, plans, interruptions: interrupted }: PipelineParts,
): Pipeline[] {
  const byPipeline = Map.groupBy(labels, ({ pipeline_id }) => pipeline_id)
  return rows.map((row) => {
    const { plan = [], problem } = plans.get(row.id) ?? {}
    return {
      ...publicRow(pipelines, row),
      status: row.status as TaskStatus,
      plan: maskSecrets(plan),
      labels: (byPipeline.get(row.id) ?? []).map(({ name }) => name),
      interruptions: interrupted.get(row.id) ?? 0,
      ...(problem && { problem }),
    }
  })
}

/** Reads the newest attempt of each task in the plan, ordered by stage and column. */
export const newestTasks = (queries: Queries, pipelineId: number): Promise<TaskRow[]> =>
  selectRows(queries, tasks, (query) =>
    query.where('id', 'in', newestIds(queries, pipelineId)).orderBy('pipeline_row').orderBy('pipeline_col'),
  )

const newestIds = (queries: Queries, pipelineId: number) =>
  queries
    .selectFrom(tasks.name)
    .select(sql<number>`max(id)`.as('id'))
    .where('pipeline_id', '=', pipelineId)
    .groupBy(['pipeline_row', 'pipeline_col'])

export type TaskState = Pick<TaskRow, 'id' | 'plugin' | 'status'>

/** Reads only id, plugin and status of the same tasks, newest id first. Suitable for runs of any size. */
export const newestStates = (queries: Queries, pipelineId: number): Promise<TaskState[]> =>
  queries
    .selectFrom(tasks.name)
    .select(['id', 'plugin', 'status'])
    .where('id', 'in', newestIds(queries, pipelineId))
    .orderBy('id', 'desc')
    .execute()

export async function readTasks(queries: Queries, rows: readonly TaskRow[], secrets: Secrets): Promise<Task[]> {
  const running = rows.filter(({ status }) => status === 'TASK_RUNNING').map(({ id }) => id)
  const begun = rows.filter(({ began_at }) => began_at !== null).map(({ id }) => id)
  const [details, ...interrupted] = await Promise.all([
    progressOf(queries, running),
    ...[...inPieces(begun)].map((ids) => countInterruptions(queries, 'task_id', ids)),
  ])
  const interruptionsOf = new Map(interrupted.flatMap((counts) => [...counts]))
  return rows.map((row) => {
    const reader = createReader()
    const options = reader.read('options', () => openOptions(row.options, secrets), {})
    return {
      ...publicRow(tasks, row),
      subtasks: Array.isArray(row.subtasks) ? row.subtasks : [],
      options: maskSecrets(options),
      status: row.status as TaskStatus,
      progressDetail: details.get(row.id) ?? null,
      interruptions: interruptionsOf.get(row.id) ?? 0,
      ...reader.problem(),
    }
  })
}

async function progressOf(queries: Queries, taskIds: readonly number[]): Promise<Map<number, ProgressDetail>> {
  const read = <T extends AnyTable>(table: T) =>
    readByKeys(taskIds, (piece) => selectRows(queries, table, (query) => query.where(sql.ref('task_id'), 'in', piece)))
  const begun = Map.groupBy(
    (await read(subtasks)).filter(({ began_at }) => began_at !== null),
    ({ task_id }) => task_id,
  )
  return new Map(
    (await read(taskProgress)).map((row) => {
      const own = begun.get(row.task_id) ?? []
      const collectors = own.filter(({ name }) => countsAsCollector(name)).length
      const detail: ProgressDetail = {
        totalSubTasks: row.total_subtasks,
        finishedSubTasks: row.finished_subtasks,
        totalRecords: row.expected ?? -1,
        finishedRecords: row.done,
        subTaskName: row.subtask,
        subTaskNumber: own.length,
        collectSubtaskNumber: collectors,
        otherSubtaskNumber: own.length - collectors,
        requests: row.requests,
        requestsLeft: row.requests_left,
        waitingUntil: row.waiting_until,
        estimatedEnd: row.estimated_end,
      }
      return [row.task_id, detail]
    }),
  )
}
