/** Starts the calculations that incoming messages requested. Any number of servers may run this on one database. */
import { MESSAGES } from '../control-plane/audit/record.ts'
import {
  blueprintRow,
  ChangedMeanwhile,
  isSameVersion,
  storedBlueprint,
} from '../control-plane/blueprints/blueprint-rows.ts'
import { makeCalculationPlan } from '../control-plane/plan/make-plan.ts'
import { isFinished } from '../control-plane/runs/states.ts'
import type { ServiceContext } from '../control-plane/services.ts'
import { deleteRows, findRow, type Queries, selectRows, updateRows } from '../control-plane/store.ts'
import type { RowOf } from '../database/table.ts'
import { messageOf, UserError } from '../errors.ts'
import { pipelines } from '../system/pipelines.ts'
import { wantedCalculations } from '../system/runs.ts'
import { createPipeline } from './create-pipeline.ts'
import { deleteRuns } from './retention/old-runs.ts'

type Wanted = RowOf<typeof wantedCalculations>

/** Starts the calculations whose first message is at least `delayMs` old. Later messages are included in the same calculation. */
export async function startCalculations(context: ServiceContext, delayMs: number, now = new Date()): Promise<void> {
  const due = await selectRows(context.database.kysely, wantedCalculations, (query) =>
    query.where('wanted_at', '<=', new Date(now.getTime() - delayMs)).orderBy('wanted_at'),
  )
  for (const each of due) {
    try {
      await startCalculation(context, each)
    } catch (error) {
      // The blueprint changed meanwhile. The next round plans the calculation again.
      if (error instanceof ChangedMeanwhile) continue
      if (!(error instanceof UserError)) throw error
      const { blueprint_id } = each
      context.log.warn({ blueprint: blueprint_id }, `what was sent is not calculated: ${messageOf(error)}`)
      await forget(context.database.kysely, each)
    }
  }
}

async function startCalculation(context: ServiceContext, wanted: Wanted): Promise<void> {
  const { database, secrets } = context
  const { kysely } = database
  const { blueprint_id, pipeline_id } = wanted
  const last = pipeline_id > 0 ? await findRow(kysely, pipelines, { id: pipeline_id }) : undefined
  // The last calculation may have read its data before the last message arrived, so wait for its end and calculate again.
  if (last && !isFinished(last.status as Parameters<typeof isFinished>[0])) return
  const blueprint = await storedBlueprint(kysely, blueprint_id, secrets)
  const { projectName, updatedAt, enable } = blueprint
  if (!enable || projectName === '') return forget(kysely, wanted)
  const plan = await makeCalculationPlan(context, blueprint)
  if (plan.length === 0) return forget(kysely, wanted)
  const started = await createPipeline(
    { ...context, actor: MESSAGES },
    // Created without a blueprint. So the last run of the blueprint is still the one that collected, and this one does not block
    // a new collection.
    { name: `${projectName}: numbers, after what was sent`, plan, skipCollectors: true, skipOnFail: false },
    {
      async claim(transaction) {
        if (!isSameVersion(await blueprintRow(transaction, blueprint_id), updatedAt)) throw new ChangedMeanwhile()
        return isWanted(transaction, wanted)
      },
      atCreation: async (transaction, id) =>
        void (await updateRows(
          transaction,
          wantedCalculations,
          { blueprint_id },
          { wanted_at: null, pipeline_id: id },
        )),
    },
  )
  // Keeps only one calculation per project. Otherwise the run list of a busy team would contain little else.
  if (started && last?.status === 'TASK_COMPLETED') await deleteRuns(database, [last.id])
}

/** Locks the row, and so waits for messages that are being stored. False when another server was first. */
async function isWanted(transaction: Queries, { blueprint_id, wanted_at }: Wanted): Promise<boolean> {
  const [row] = await selectRows(transaction, wantedCalculations, (query) =>
    query.where('blueprint_id', '=', blueprint_id).forUpdate(),
  )
  return Number(row?.wanted_at) === Number(wanted_at)
}

/** Drops the request; the next message creates a new one. */
async function forget(queries: Queries, { blueprint_id, wanted_at, pipeline_id }: Wanted): Promise<void> {
  await deleteRows(queries, wantedCalculations, { blueprint_id, wanted_at, pipeline_id })
}
