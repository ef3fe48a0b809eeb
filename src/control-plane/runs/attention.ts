/** Lists everything that needs attention: failed runs, incomplete collections, quarantined records and connections that do not work. */
import { sql } from 'kysely'
import type { TaskStatus } from '../../domain/enums.ts'
import { quarantine } from '../../plugin-kit/raw/quarantine.ts'
import { receipts } from '../../plugin-kit/raw/receipts.ts'
import { pipelines } from '../../system/pipelines.ts'
import { blueprints } from '../../system/projects.ts'
import { listConnections } from '../connections/connection-states.ts'
import type { ServiceContext } from '../services.ts'
import { FINISHED } from './states.ts'

interface FailedRun {
  readonly id: number
  readonly name: string
  /** Empty when the blueprint belongs to no project. */
  readonly project: string
  readonly status: TaskStatus
  /** The first line of the failure message. */
  readonly message: string
  readonly finishedAt: Date | null
}
interface TroubledConnection {
  readonly plugin: string
  /** The title of the tool, because connections of several tools may have the same name. */
  readonly title: string
  readonly connectionId: number
  readonly name: string
  /** Why it does not work. */
  readonly message: string
  /** The run that failed with this connection; null when a connection test failed. */
  readonly failedRun: number | null
  readonly scopes: number
}
export interface Attention {
  /** False when no run has ended yet: then nothing can be said about the last runs. */
  readonly hasRun: boolean
  /** Blueprints whose last run failed, newest first. */
  readonly runs: readonly FailedRun[]
  readonly connections: readonly TroubledConnection[]
  /** The number of lists that are incomplete, as the page of missing data counts them, and of the scopes that they belong to. */
  readonly gaps: { readonly count: number; readonly scopes: number }
  /** The number of records that could not be read. */
  readonly quarantined: number
}

const MOST_RUNS = 20

/**
 * Reads the state of all projects, or of the given ones, which a user may see. With a list of projects only their runs are
 * given, because connections, gaps and quarantined records belong to no project.
 */
export async function readAttention(context: ServiceContext, projects?: readonly string[]): Promise<Attention> {
  const [runs, hasRun] = await Promise.all([failedRuns(context, projects), anyRun(context, projects)])
  if (projects) return { hasRun, runs, connections: [], gaps: { count: 0, scopes: 0 }, quarantined: 0 }
  const { kysely } = context.database
  const [connections, missing, aside] = await Promise.all([
    troubledConnections(context),
    sql<{ count: number; scopes: number }>`select count(*) as count, count(distinct params) as scopes
      from ${sql.table(receipts.name)} where status <> 'complete'`.execute(kysely),
    sql<{ count: number }>`select count(*) as count from ${sql.table(quarantine.name)}`.execute(kysely),
  ])
  return {
    hasRun,
    runs,
    connections,
    gaps: { count: Number(missing.rows[0]?.count ?? 0), scopes: Number(missing.rows[0]?.scopes ?? 0) },
    quarantined: Number(aside.rows[0]?.count ?? 0),
  }
}

async function anyRun({ database: { kysely } }: ServiceContext, projects?: readonly string[]): Promise<boolean> {
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

async function failedRuns({ database }: ServiceContext, projects?: readonly string[]): Promise<FailedRun[]> {
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
    .select(['run.id', 'run.name', 'run.status', 'run.message', 'run.finished_at', 'blueprint.project_name'])
    .where(({ or, eb }) => or([eb('run.id', 'in', newest), eb('run.id', 'in', collecting)]))
    .where('run.status', 'in', ['TASK_FAILED', 'TASK_PARTIAL'])
  if (projects) query = query.where('blueprint.project_name', 'in', [...projects])
  const rows = await query.orderBy('run.id', 'desc').limit(MOST_RUNS).execute()
  return rows.map(({ id, name, status, message, finished_at, project_name }) => ({
    id,
    name,
    status: status as TaskStatus,
    project: project_name,
    finishedAt: finished_at,
    message: message.split('\n')[0] as string,
  }))
}

async function troubledConnections(context: ServiceContext): Promise<TroubledConnection[]> {
  const all = await listConnections(context)
  return all.flatMap(({ plugin, title, id, name, state, failure, failedRun, scopes }) =>
    state === 'fails' ? { plugin, title, connectionId: id, name, message: failure ?? '', failedRun, scopes } : [],
  )
}
