import {
  ChangedMeanwhile,
  isSameVersion,
  storedBlueprint,
  whileChanging,
} from '../control-plane/blueprints/blueprint-rows.ts'
import type { StartPipeline } from '../control-plane/blueprints/blueprints.ts'
import { planOf } from '../control-plane/plan/blueprint-plan.ts'
import { countTasks } from '../control-plane/plan/parse-plan.ts'
import { LONGEST_SHOWN, writePlans } from '../control-plane/plan/stored-plans.ts'
import type { NewPipeline, Pipeline } from '../control-plane/records.ts'
import { sealJson } from '../control-plane/sealed.ts'
import type { ServiceContext } from '../control-plane/services.ts'
import type { Queries } from '../control-plane/store.ts'
import { insertRow, insertRows } from '../control-plane/store.ts'
import { withoutEndSpaces } from '../database/fit.ts'
import { UserError } from '../errors.ts'
import type { Plan } from '../plugin-kit/spec/plan.ts'
import { pipelineLabels, pipelines, tasks } from '../system/pipelines.ts'
import { inTransaction, readPipeline, recordRun, requireNonePending } from './stored-pipelines.ts'

interface Creation {
  /** Runs in the transaction that creates the pipeline. When it returns false, another process was first and nothing is created. */
  readonly claim?: ((transaction: Queries) => Promise<boolean>) | undefined
  /** Also runs in the transaction, once the id of the pipeline is known. */
  readonly atCreation?: (transaction: Queries, pipelineId: number) => Promise<void>
  /** The version of the blueprint that the plan was made from. */
  readonly plannedAt?: Date
}

/** Returns undefined when `claim` returned false because another process was first. */
export async function createPipeline(
  context: ServiceContext,
  pipeline: NewPipeline & { plan: Plan },
  { claim = async () => true, atCreation, plannedAt }: Creation = {},
): Promise<Pipeline | undefined> {
  const { database, secrets } = context
  const { plan, blueprintId = 0, labels = [], name = '' } = pipeline
  const total_tasks = countTasks(plan)
  if (total_tasks === 0) throw new UserError('The plan has no task: nothing would run.')
  const id = await inTransaction(database, async (transaction) => {
    let timeAfter = pipeline.timeAfter ?? null
    if (blueprintId > 0) {
      const blueprint = await requireNonePending(transaction, blueprintId)
      if (!blueprint) throw new UserError(`There is no blueprint ${blueprintId}.`)
      timeAfter = pipeline.timeAfter ?? blueprint.time_after
      if (plannedAt && !isSameVersion(blueprint, plannedAt)) throw new ChangedMeanwhile()
    }
    if (!(await claim(transaction))) return undefined
    const pipelineId = await insertRow(transaction, pipelines, {
      name,
      blueprint_id: blueprintId,
      total_tasks,
      status: 'TASK_CREATED',
      priority: pipeline.priority ?? 0,
      skip_on_fail: pipeline.skipOnFail ?? false,
      time_after: timeAfter,
      skip_collectors: pipeline.skipCollectors ?? false,
      full_sync: pipeline.fullSync ?? false,
    })
    const kept = { plan: { plan, most: LONGEST_SHOWN.pipeline } }
    await writePlans(transaction, { subject: 'pipeline', subject_id: pipelineId }, kept, secrets)
    const names = [...new Set(labels.map(withoutEndSpaces))].map((label) => ({ pipeline_id: pipelineId, name: label }))
    await insertRows(transaction, pipelineLabels, names)
    await insertRows(transaction, tasks, taskRows(plan, pipelineId, secrets))
    await atCreation?.(transaction, pipelineId)
    const { fullSync = false, skipCollectors = false } = pipeline
    await recordRun(transaction, context, 'run', pipelineId, null, {
      name,
      blueprintId,
      total_tasks,
      fullSync,
      skipCollectors,
    })
    return pipelineId
  })
  if (id === undefined) return undefined
  context.changed('pipelines')
  void context.notify?.(id, 'TASK_CREATED')
  return readPipeline(context, id)
}

function* taskRows(plan: Plan, pipeline_id: number, secrets: ServiceContext['secrets']) {
  for (const [row, stage] of plan.entries()) {
    for (const [column, { plugin, subtasks: names, options }] of stage.entries()) {
      yield {
        plugin,
        subtasks: names ?? [],
        options: sealJson(options, secrets),
        status: 'TASK_CREATED',
        pipeline_id,
        pipeline_row: row + 1,
        pipeline_col: column + 1,
      }
    }
  }
}

export const startBlueprint =
  (context: ServiceContext): StartPipeline =>
  (first, { skipCollectors, fullSync }, claim) =>
    whileChanging(
      first,
      async (blueprint) => {
        const plan = await planOf(context, blueprint, { skipCollectors })
        const { id: blueprintId, name, labels, priority, skipOnFail, timeAfter, updatedAt } = blueprint
        const policy = { skipOnFail, timeAfter, skipCollectors, fullSync }
        const pipeline = { blueprintId, name, labels, priority, plan, ...policy }
        return createPipeline(context, pipeline, { claim, plannedAt: updatedAt })
      },
      () => storedBlueprint(context.database.kysely, first.id, context.secrets),
    )
