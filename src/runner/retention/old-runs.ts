/** Deletes runs that ended long ago, and messages that were sent. The last run of each blueprint is kept. */
import { sql } from 'kysely'
import { FINISHED } from '../../control-plane/runs/states.ts'
import type { Database } from '../../database/database.ts'
import { among, inPieces, type Piece } from '../../database/pieces.ts'
import { alertMessages } from '../../system/alerts.ts'
import { pipelineLabels, pipelines, subtasks, tasks } from '../../system/pipelines.ts'
import { plans } from '../../system/projects.ts'
import { connectionStates, taskProgress } from '../../system/runs.ts'
import { notifications } from '../../system/state.ts'
import { interruptions } from '../../system/workers.ts'
import type { RemovedRows } from './raw-payloads.ts'

type Deleted = Map<string, number>

export async function deleteOldRuns(database: Database, before: Date): Promise<Omit<RemovedRows, 'bytes'>[]> {
  const deleted: Deleted = new Map()
  const remove = remover(database, deleted)
  await deleteRuns(database, await oldRuns(database, before), deleted)
  await remove(notifications.name, sql`created_at < ${before}`)
  await remove(alertMessages.name, sql`state <> 'waiting' and created_at < ${before}`)
  return [...deleted].flatMap(([table, rows]) => (rows > 0 ? [{ table, rows }] : []))
}

const remover =
  ({ kysely }: Database, deleted: Deleted) =>
  async (table: string, condition: ReturnType<typeof sql>): Promise<void> => {
    const { numAffectedRows = 0n } = await sql`delete from ${sql.table(table)} where ${condition}`.execute(kysely)
    deleted.set(table, (deleted.get(table) ?? 0) + Number(numAffectedRows))
  }

/** Deletes runs and all their data. `deleted` counts the rows of each table. */
export async function deleteRuns(
  database: Database,
  runs: readonly number[],
  deleted: Deleted = new Map(),
): Promise<void> {
  const remove = remover(database, deleted)
  for (const ids of inPieces(runs)) {
    const taskIds = await tasksOf(database, ids)
    for (const some of inPieces(taskIds)) {
      await remove(subtasks.name, sql`${among(sql.ref('task_id'), some)}`)
      await remove(taskProgress.name, sql`${among(sql.ref('task_id'), some)}`)
    }
    await remove(tasks.name, sql`${among(sql.ref('pipeline_id'), ids)}`)
    await remove(pipelineLabels.name, sql`${among(sql.ref('pipeline_id'), ids)}`)
    await remove(interruptions.name, sql`${among(sql.ref('pipeline_id'), ids)}`)
    await remove(plans.name, sql`subject = 'pipeline' and ${among(sql.ref('subject_id'), ids)}`)
    await remove(pipelines.name, sql`${among(sql.ref('id'), ids)}`)
  }
}

/** Leaves out the newest run of each blueprint, its last success, and runs that the state of a connection refers to. */
async function oldRuns({ kysely }: Database, before: Date): Promise<number[]> {
  const run = sql.table(pipelines.name)
  const { rows } = await sql<{ id: number }>`select id from ${run} as run
    where status in (${sql.join(FINISHED)}) and finished_at < ${before}
      and (blueprint_id = 0 or exists (select 1 from ${run} as later
        where later.blueprint_id = run.blueprint_id and later.id > run.id))
      and not (status = 'TASK_COMPLETED' and blueprint_id <> 0 and not exists (select 1 from ${run} as later
        where later.blueprint_id = run.blueprint_id and later.id > run.id and later.status = 'TASK_COMPLETED'))
      and not exists (select 1 from ${sql.table(connectionStates.name)} as known where known.pipeline_id = run.id)
    order by id`.execute(kysely)
  return rows.map(({ id }) => Number(id))
}

async function tasksOf({ kysely }: Database, ids: Piece<number>): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`select id from ${sql.table(tasks.name)}
    where ${among(sql.ref('pipeline_id'), ids)}`.execute(kysely)
  return rows.map(({ id }) => Number(id))
}
