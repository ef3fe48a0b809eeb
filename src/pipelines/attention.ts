/** What needs a hand: runs that failed, what collections did not get, what was put aside, connections in trouble. */
import { sql } from 'kysely'
import type { TaskStatus } from '../domain/enums.ts'
import { gaps } from '../plugin-kit/gaps.ts'
import { quarantine } from '../plugin-kit/quarantine.ts'
import { receipts } from '../plugin-kit/receipts.ts'
import { pipelines } from '../system/pipelines.ts'
import { blueprints } from '../system/projects.ts'
import { markedScopes } from './marked-scopes.ts'
import type { ServiceContext } from './services.ts'
import { allConnected } from './sources.ts'
import { selectRows } from './store.ts'

export interface FailedRun {
  readonly id: number
  readonly name: string
  /** Empty: of a blueprint without one. */
  readonly project: string
  readonly status: TaskStatus
  /** The first line. */
  readonly message: string
  readonly finishedAt: Date | null
}
export interface TroubledConnection {
  readonly plugin: string
  readonly connectionId: number
  readonly name: string
  /** What the source said last. */
  readonly message: string
  readonly scopes: number
}
export interface Attention {
  /** Blueprints whose last run failed, newest first. */
  readonly runs: readonly FailedRun[]
  readonly connections: readonly TroubledConnection[]
  /** Lists that the source refused or cut, and the scopes that they belong to. */
  readonly gaps: { readonly count: number; readonly scopes: number }
  /** Records that could not be read. */
  readonly quarantined: number
}

const MOST_RUNS = 20
const MOST_FAILURES = 1000

/** Of all projects, or of those that the asker may see: then only their runs, for the rest belongs to no project. */
export async function readAttention(context: ServiceContext, projects?: readonly string[]): Promise<Attention> {
  const runs = await failedRuns(context, projects)
  if (projects) return { runs, connections: [], gaps: { count: 0, scopes: 0 }, quarantined: 0 }
  const { kysely } = context.database
  const [connections, missing, aside] = await Promise.all([
    troubledConnections(context),
    sql<{ count: number; scopes: number }>`select count(*) as count, count(distinct params) as scopes
      from ${sql.table(gaps.name)}`.execute(kysely),
    sql<{ count: number }>`select count(*) as count from ${sql.table(quarantine.name)}`.execute(kysely),
  ])
  return {
    ...{ runs, connections },
    gaps: { count: Number(missing.rows[0]?.count ?? 0), scopes: Number(missing.rows[0]?.scopes ?? 0) },
    quarantined: Number(aside.rows[0]?.count ?? 0),
  }
}

async function failedRuns({ database }: ServiceContext, projects?: readonly string[]): Promise<FailedRun[]> {
  const { kysely } = database
  if (projects?.length === 0) return []
  const newest = kysely
    .selectFrom(pipelines.name)
    .select((builder) => builder.fn.max<number>('id').as('id'))
    .where('blueprint_id', '>', 0)
    .groupBy('blueprint_id')
  let query = kysely
    .selectFrom(`${pipelines.name} as run`)
    .innerJoin(`${blueprints.name} as blueprint`, 'blueprint.id', 'run.blueprint_id')
    .select(['run.id', 'run.name', 'run.status', 'run.message', 'run.finished_at', 'blueprint.project_name'])
    .where('run.id', 'in', newest)
    .where('run.status', 'in', ['TASK_FAILED', 'TASK_PARTIAL'])
  if (projects) query = query.where('blueprint.project_name', 'in', [...projects])
  const rows = await query.orderBy('run.id', 'desc').limit(MOST_RUNS).execute()
  return rows.map(({ id, name, status, message, finished_at, project_name }) => ({
    ...{ id, name, status, project: project_name ?? '', finishedAt: finished_at ?? null },
    message: String(message ?? '').split('\n')[0] as string,
  }))
}

async function troubledConnections(context: ServiceContext): Promise<TroubledConnection[]> {
  const { kysely } = context.database
  const failures = await selectRows(kysely, receipts, (query) =>
    query.where('status', '=', 'failed').orderBy('updated_at', 'desc').limit(MOST_FAILURES),
  )
  if (failures.length === 0) return []
  const find = await markedScopes(context)
  const found = new Map<string, TroubledConnection & { readonly params: Set<string> }>()
  for (const { plugin, params, message } of failures) {
    const scope = find(plugin, params)
    if (!scope) continue
    const key = `${scope.plugin} ${scope.connectionId}`
    const known = found.get(key) ?? {
      ...{ plugin: scope.plugin, connectionId: scope.connectionId, name: '', message, scopes: 0 },
      params: new Set<string>(),
    }
    known.params.add(params)
    found.set(key, known)
  }
  const names = new Map<string, string>()
  for (const { name: plugin, table } of allConnected(context.plugins)) {
    if (![...found.values()].some((each) => each.plugin === plugin)) continue
    for (const row of await selectRows(kysely, table)) names.set(`${plugin} ${row.id}`, String(row.name))
  }
  return [...found].map(([key, { params, ...each }]) => ({ ...each, name: names.get(key) ?? '', scopes: params.size }))
}
