import { NOBODY, recordChange } from '../control-plane/audit/record.ts'
import type { BlueprintRow } from '../control-plane/blueprints/blueprint-rows.ts'
import type { Pipeline } from '../control-plane/records.ts'
import { type PipelineRow, readPipelines } from '../control-plane/runs/pipeline-rows.ts'
import { UNFINISHED } from '../control-plane/runs/states.ts'
import type { ServiceContext } from '../control-plane/services.ts'
import { findRow, type Queries, selectRows } from '../control-plane/store.ts'
import type { Database } from '../database/database.ts'
import { retrying } from '../database/write.ts'
import { UserError } from '../errors.ts'
import { pipelines } from '../system/pipelines.ts'
import { blueprints } from '../system/projects.ts'

export const inTransaction = <Result>(
  database: Database,
  body: (transaction: Queries) => Promise<Result>,
): Promise<Result> => retrying(database, () => database.kysely.transaction().execute(body))

export const recordRun = (
  transaction: Queries,
  { actor = NOBODY }: ServiceContext,
  action: 'run' | 'rerun' | 'cancel',
  id: number,
  before: object | null,
  after: object,
): Promise<void> => recordChange(transaction, actor, { action, subject: 'pipeline', key: String(id), before, after })

export async function storedPipeline(queries: Queries, id: number): Promise<PipelineRow> {
  const row = await findRow(queries, pipelines, { id })
  if (!row) throw new UserError(`There is no pipeline ${id}.`, { status: 404 })
  return row
}

export async function readPipeline({ database: { kysely }, secrets }: ServiceContext, id: number): Promise<Pipeline> {
  const [pipeline] = await readPipelines(kysely, [await storedPipeline(kysely, id)], secrets)
  return pipeline as Pipeline
}

/** Locks the row of the blueprint, so that of two processes that start a pipeline at once, the second sees the first one's. */
export async function requireNonePending(transaction: Queries, blueprintId: number): Promise<BlueprintRow | undefined> {
  const [blueprint] = await selectRows(transaction, blueprints, (query) =>
    query.where('id', '=', blueprintId).forUpdate(),
  )
  if (!blueprint) return undefined
  const [pending] = await selectRows(transaction, pipelines, (query) =>
    query.where('blueprint_id', '=', blueprintId).where('status', 'in', UNFINISHED).limit(1),
  )
  if (pending)
    throw new UserError(`Pipeline ${pending.id} of this blueprint is not finished yet: wait for it, or cancel it.`)
  return blueprint
}
