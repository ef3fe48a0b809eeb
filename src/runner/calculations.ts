/** Starts the calculations that messages asked for. Any number of servers may run this on one database. */
import { MESSAGES } from '../control-plane/audit/record.ts'
import { blueprintRow, ChangedMeanwhile, isSameVersion, storedBlueprint } from '../control-plane/blueprint-rows.ts'
import { makeCalculationPlan } from '../control-plane/plan/make-plan.ts'
import type { ServiceContext } from '../control-plane/services.ts'
import { isFinished } from '../control-plane/states.ts'
import { deleteRows, findRow, type Queries, selectRows, updateRows } from '../control-plane/store.ts'
import type { RowOf } from '../database/table.ts'
import { messageOf, UserError } from '../errors.ts'
import { pipelines } from '../system/pipelines.ts'
import { wantedCalculations } from '../system/runs.ts'
import { createPipeline } from './create-pipeline.ts'
import { deleteRuns } from './retention/old-runs.ts'

type Wanted = RowOf<typeof wantedCalculations>

/** Those whose first message is `delayMs` old: what came after it is calculated with it. */
export async function startCalculations(context: ServiceContext, delayMs: number, now = new Date()): Promise<void> {
  const due = await selectRows(context.database.kysely, wantedCalculations, (query) =>
    query.where('wanted_at', '<=', new Date(now.getTime() - delayMs)).orderBy('wanted_at'),
  )
  for (const each of due) {
    try {
      await startCalculation(context, each)
    } catch (error) {
      // The next look plans it again.
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
  // It may have read before the last message came.
  if (last && !isFinished(last.status as Parameters<typeof isFinished>[0])) return
  const blueprint = await storedBlueprint(kysely, blueprint_id, secrets)
  const { projectName, updatedAt, enable } = blueprint
  if (!enable || projectName === '') return forget(kysely, wanted)
  const plan = await makeCalculationPlan(context, blueprint)
  if (plan.length === 0) return forget(kysely, wanted)
  const started = await createPipeline(
    { ...context, actor: MESSAGES },
    // Of no blueprint: its last run remains the one that collected, and nobody who starts that finds this in the way.
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
  // One of each project is enough to look at: else a busy team would find nothing else among its runs.
  if (started && last?.status === 'TASK_COMPLETED') await deleteRuns(database, [last.id])
}

/** Holds the row, and so waits for messages that are being stored: another server may have been first. */
async function isWanted(transaction: Queries, { blueprint_id, wanted_at }: Wanted): Promise<boolean> {
  const [row] = await selectRows(transaction, wantedCalculations, (query) =>
    query.where('blueprint_id', '=', blueprint_id).forUpdate(),
  )
  return Number(row?.wanted_at) === Number(wanted_at)
}

/** Until something is sent again. */
async function forget(queries: Queries, { blueprint_id, wanted_at, pipeline_id }: Wanted): Promise<void> {
  await deleteRows(queries, wantedCalculations, { blueprint_id, wanted_at, pipeline_id })
}
