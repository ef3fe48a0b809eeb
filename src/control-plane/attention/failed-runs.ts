/** Blueprints whose last run failed. */
import type { TaskStatus } from '../../domain/enums.ts'
import { pipelines } from '../../system/pipelines.ts'
import { blueprints } from '../../system/projects.ts'
import { FINISHED } from '../runs/states.ts'
import { type Context, firstLine } from './question.ts'

export interface FailedRun {
  readonly id: number
  readonly blueprintId: number
  readonly name: string
  /** Empty when the blueprint belongs to no project. */
  readonly project: string
  readonly status: TaskStatus
  /** The first line of the failure message. */
  readonly message: string
}

const MOST_RUNS = 20

/** The newest first. */
export async function failedRuns({ database }: Context, projects?: readonly string[]): Promise<FailedRun[]> {
  const { kysely } = database
  if (projects?.length === 0) return []
  const newest = kysely
    .selectFrom(pipelines.name)
    .select((builder) => builder.fn.max<number>('id').as('id'))
    .where('blueprint_id', '>', 0)
    .groupBy('blueprint_id')
  // Data that a collection missed is still missing after a run that only transforms stored data.
  const collecting = newest.where('skip_collectors', 'is not', true)
  let query = kysely
    .selectFrom(`${pipelines.name} as run`)
    .innerJoin(`${blueprints.name} as blueprint`, 'blueprint.id', 'run.blueprint_id')
    .select(['run.id', 'run.name', 'run.status', 'run.message', 'run.blueprint_id', 'blueprint.project_name'])
    .where(({ or, eb }) => or([eb('run.id', 'in', newest), eb('run.id', 'in', collecting)]))
    .where('run.status', 'in', ['TASK_FAILED', 'TASK_PARTIAL'])
  if (projects) query = query.where('blueprint.project_name', 'in', [...projects])
  const rows = await query.orderBy('run.id', 'desc').limit(MOST_RUNS).execute()
  return rows.map(({ id, name, status, message, blueprint_id, project_name }) => ({
    id,
    blueprintId: Number(blueprint_id),
    name,
    status: status as TaskStatus,
    project: project_name ?? '',
    message: firstLine(message),
  }))
}

/** Whether any run has ended. */
export async function anyRun({ database: { kysely } }: Context, projects?: readonly string[]): Promise<boolean> {
  if (projects?.length === 0) return false
  let query = kysely.selectFrom(pipelines.name).select('id').where('status', 'in', FINISHED)
  if (projects) {
    const own = kysely
      .selectFrom(blueprints.name)
      .select('id')
      .where('project_name', 'in', [...projects])
    query = query.where('blueprint_id', 'in', own)
  }
  return (await query.limit(1).execute()).length > 0
}
