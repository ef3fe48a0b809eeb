/** Lists the rollouts that several rows report, so that people can check them. */
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { among, readByKeys } from '../../database/pieces.ts'
import { rollouts } from '../../domain/rollouts.ts'
import { ROLLOUT_REASONS, type RolloutReason } from '../calculate/join-rollouts.ts'
import type { Policy } from './policy.ts'

/** A row that reports a rollout. */
interface RolloutRow {
  readonly id: string
  /** True for the row that represents the rollout. */
  readonly stands: boolean
  readonly counts: boolean
  readonly reason: RolloutReason
  readonly why: string
  readonly title: string
  readonly url: string
  /** Name of the scope that it comes from. */
  readonly source: string
  /** `deployment` if the tool recorded it as a deployment, `run` if it was made here from the run of a pipeline. */
  readonly kind: 'deployment' | 'run'
  readonly environment: string
  readonly result: string
  readonly finishedAt: Date | null
  readonly commit: string
  readonly repository: string
}
export interface Rollout {
  /** The id of the row that represents the rollout. */
  readonly id: string
  readonly rows: readonly RolloutRow[]
}

const TABLE = sql.table(rollouts.name)

interface Asked {
  readonly project: string
  readonly policy: Pick<Policy, 'rollouts'>
}

/** Reads the rollouts that have several rows, the latest first. */
export async function readRollouts(
  database: Database,
  asked: Asked,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Promise<{ readonly count: number; readonly rollouts: readonly Rollout[] }> {
  const { kysely } = database
  const joined = sql`from ${TABLE} r where r.project_name = ${asked.project} and r.rollout_id <> r.deployment_id`
  const { rows: counts } = await sql<{
    count: number
  }>`select count(distinct r.rollout_id) as count ${joined}`.execute(kysely)
  const { rows } = await sql<{ id: string }>`select r.rollout_id as id, max(r.arrived_date) as at ${joined}
    group by r.rollout_id order by case when max(r.arrived_date) is null then 1 else 0 end, max(r.arrived_date) desc, r.rollout_id
    limit ${sql.lit(limit)} offset ${sql.lit(offset)}`.execute(kysely)
  const found = await rowsOf(
    database,
    asked,
    rows.map(({ id }) => id),
  )
  return {
    count: Number(counts[0]?.count ?? 0),
    rollouts: rows.map(({ id }) => ({ id, rows: found.get(id) ?? [] })),
  }
}

/** Finds the rollouts of these deployments, by the id of each deployment. Deployments that are the only row of theirs are left out. */
export async function rolloutsOf(
  database: Database,
  asked: Asked,
  deployments: readonly string[],
): Promise<ReadonlyMap<string, Rollout>> {
  const links = await readByKeys([...new Set(deployments)], async (piece) => {
    const some = sql<{
      id: string
      rollout: string
    }>`select r.deployment_id as id, r.rollout_id as rollout from ${TABLE} r
      where r.project_name = ${asked.project} and ${among(sql`r.deployment_id`, piece)}`
    return (await some.execute(database.kysely)).rows
  })
  const found = await rowsOf(database, asked, [...new Set(links.map(({ rollout }) => rollout))])
  return new Map(
    links.flatMap(({ id, rollout }) => {
      const rows = found.get(rollout) ?? []
      return rows.length > 1 ? [[id, { id: rollout, rows }] as const] : []
    }),
  )
}

interface StoredRow {
  readonly rollout: string
  readonly id: string
  readonly reason: RolloutReason
  readonly title: string | null
  readonly url: string | null
  readonly source: string | null
  readonly subtask: string
  readonly environment: string | null
  readonly result: string | null
  readonly at: Date | null
  readonly commit_sha: string | null
  readonly repository: string | null
}

/** Reads the rows of each rollout, beginning with the one that represents it. */
async function rowsOf(
  { kysely }: Database,
  { project, policy }: Asked,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly RolloutRow[]>> {
  const rows = await readByKeys(ids, async (piece) => {
    const some = sql<StoredRow>`select r.rollout_id as rollout, r.deployment_id as id, max(r.reason) as reason,
        max(coalesce(nullif(c.display_title, ''), c.name)) as title, max(c.url) as url,
        max(coalesce(nullif(s.name, ''), c.cicd_scope_id)) as source, max(coalesce(c.subtask_name, '')) as subtask,
        max(c.environment) as environment, max(c.result) as result, max(c.finished_date) as at,
        max(c.commit_sha) as commit_sha, max(c.repo_url) as repository
      from ${TABLE} r inner join cicd_deployment_commits c on c.cicd_deployment_id = r.deployment_id
      left join cicd_scopes s on s.id = c.cicd_scope_id
      where r.project_name = ${project} and ${among(sql`r.rollout_id`, piece)}
      group by r.rollout_id, r.deployment_id`
    return (await some.execute(kysely)).rows
  })
  const inOrder = rows.toSorted(
    (one, other) => Number(other.id === other.rollout) - Number(one.id === one.rollout) || (one.id < other.id ? -1 : 1),
  )
  const shown = inOrder.map((row): [string, RolloutRow] => {
    const stands = row.id === row.rollout
    const { id, reason } = row
    return [
      row.rollout,
      {
        id,
        stands,
        counts: stands || policy.rollouts === 'every-row',
        reason,
        why: ROLLOUT_REASONS[reason] ?? '',
        title: row.title || row.id,
        url: row.url ?? '',
        source: row.source ?? '',
        kind: row.subtask === '' ? 'deployment' : 'run',
        environment: row.environment ?? '',
        result: row.result ?? '',
        finishedAt: row.at,
        commit: row.commit_sha ?? '',
        repository: row.repository ?? '',
      },
    ]
  })
  const byRollout = Map.groupBy(shown, ([rollout]) => rollout)
  return new Map([...byRollout].map(([rollout, own]) => [rollout, own.map(([, row]) => row)]))
}
