/** Pipelines and tasks as they are stored, and as they are shown. */
import { sql } from 'kysely'
import type { RowOf } from '../database/table.ts'
import type { TaskStatus } from '../domain/enums.ts'
import { maskSecrets, type Secrets } from '../secrets.ts'
import { pipelineLabels, pipelines, subtasks, tasks } from '../system/pipelines.ts'
import { taskProgress } from '../system/runs.ts'
import { countsAsCollector } from './plan/select-subtasks.ts'
import type { Pipeline, ProgressDetail, Task } from './records.ts'
import { openJson, shownPlan } from './sealed-plan.ts'
import { type Ids, publicRow, type Queries, selectRows } from './store.ts'

export type PipelineRow = RowOf<typeof pipelines>
export type TaskRow = RowOf<typeof tasks>

export async function readPipelines(
  queries: Queries,
  rows: readonly PipelineRow[],
  secrets: Secrets,
): Promise<Pipeline[]> {
  const ids = rows.map(({ id }) => id)
  return ids.length === 0 ? [] : joinPipelines(rows, await readPipelineLabels(queries, ids), secrets)
}

type LabelRow = RowOf<typeof pipelineLabels>

export const readPipelineLabels = (queries: Queries, ids: Ids): Promise<LabelRow[]> =>
  selectRows(queries, pipelineLabels, (query) => query.where('pipeline_id', 'in', ids).orderBy('name'))

export function joinPipelines(rows: readonly PipelineRow[], labels: readonly LabelRow[], secrets: Secrets): Pipeline[] {
  return rows.map(
    (row) =>
      ({
        ...publicRow(pipelines, row),
        plan: shownPlan(row.plan, secrets) ?? [],
        labels: labels.filter(({ pipeline_id }) => pipeline_id === row.id).map(({ name }) => name),
      }) as unknown as Pipeline,
  )
}

/** The newest attempt of each place in the plan, by stage and column. */
export async function newestTasks(queries: Queries, pipelineId: number): Promise<TaskRow[]> {
  const newest = queries
    .selectFrom(tasks.name)
    .select(sql`max(id)`.as('id'))
    .where('pipeline_id', '=', pipelineId)
    .groupBy(['pipeline_row', 'pipeline_col'])
  return selectRows(queries, tasks, (query) =>
    query.where('id', 'in', newest).orderBy('pipeline_row').orderBy('pipeline_col'),
  )
}

export async function readTasks(queries: Queries, rows: readonly TaskRow[], secrets: Secrets): Promise<Task[]> {
  const running = rows.filter(({ status }) => status === 'TASK_RUNNING').map(({ id }) => id)
  const details = running.length > 0 ? await progressOf(queries, running) : new Map()
  return rows.map(
    (row) =>
      ({
        ...publicRow(tasks, row),
        subtasks: row.subtasks ?? [],
        options: maskSecrets(openJson(row.options, secrets) ?? {}),
        status: row.status as TaskStatus,
        progressDetail: details.get(row.id) ?? null,
      }) as unknown as Task,
  )
}

async function progressOf(queries: Queries, taskIds: readonly number[]): Promise<Map<number, ProgressDetail>> {
  const rows = await selectRows(queries, taskProgress, (query) => query.where('task_id', 'in', taskIds))
  const finished = await selectRows(queries, subtasks, (query) =>
    query.where('task_id', 'in', taskIds).orderBy('number'),
  )
  return new Map(
    rows.map((row) => {
      const begun = finished.filter(({ task_id, began_at }) => task_id === row.task_id && began_at !== null)
      const collectors = begun.filter(({ name }) => countsAsCollector(name)).length
      const detail: ProgressDetail = {
        totalSubTasks: row.total_subtasks,
        finishedSubTasks: row.finished_subtasks,
        totalRecords: row.expected ?? -1,
        finishedRecords: row.done,
        subTaskName: row.subtask,
        subTaskNumber: begun.length,
        collectSubtaskNumber: collectors,
        otherSubtaskNumber: begun.length - collectors,
        requests: row.requests,
        requestsLeft: row.requests_left,
        waitingUntil: row.waiting_until,
        estimatedEnd: row.estimated_end,
      }
      return [row.task_id, detail]
    }),
  )
}
