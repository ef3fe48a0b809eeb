/** Which deployments repaired something that users met in production. */
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { among, onePiece } from '../database/pieces.ts'
import type { Sql } from './calculate/calculation.ts'
import type { MetricFilter, MetricQuery } from './metric.ts'
import type { Policy } from './policy/policy.ts'
import { arrivalOf } from './policy/rollouts.ts'
import { REWORK_SIGNS, type ReworkSign } from './rework-signs.ts'

const ofType = (type: 'BUG' | 'INCIDENT'): Sql => sql`exists (
  select 1 from pull_request_issues l inner join issues i on i.id = l.issue_id
  where l.pull_request_id = pr.id and i.type = ${sql.lit(type)})`

const begins = (text: Sql, prefix: string): Sql => sql`${text} like ${`${prefix.replace(/[!%_]/g, '!$&')}%`} escape '!'`

/** What each sign is found by, in the pull request `pr`. */
const CONDITIONS: Readonly<Record<ReworkSign, (policy: Policy) => Sql>> = {
  revert: () => sql`pr.title like 'Revert %'`,
  hotfix: ({ reworkBranches }) =>
    sql`(${sql.join(
      reworkBranches.map((prefix) => begins(sql`pr.head_ref`, prefix)),
      sql` or `,
    )})`,
  bug: () => ofType('BUG'),
  incident: () => ofType('INCIDENT'),
}

/** The deployments (`id`) that brought a pull request (`pr`) with one of the signs of the policy. */
function broughtRepairs(query: MetricQuery): Sql {
  const arrival = arrivalOf(query, sql`c.cicd_deployment_id`)
  const signs = query.policy.reworkSigns.map((sign) => CONDITIONS[sign](query.policy))
  return sql`select ${arrival.or(sql`c.cicd_deployment_id`, sql`rolled.arrived_id`)} as id, pr.id as pull_request
    from project_pr_metrics m inner join pull_requests pr on pr.id = m.id
    inner join cicd_deployment_commits c on c.id = m.deployment_commit_id ${arrival.join}
    where m.project_name = ${query.project} and m.deployment_commit_id <> '' and (${sql.join(signs, sql` or `)})`
}

export const reworked = (query: MetricQuery): Sql => sql`select id from (${broughtRepairs(query)}) repaired`

/** Says, for each of the deployments, which pull requests made it rework, and by which sign. */
export async function readRework(
  { kysely, dialect }: Database,
  filter: MetricFilter,
  deployments: readonly string[],
): Promise<ReadonlyMap<string, string[]>> {
  if (deployments.length === 0) return new Map()
  const query = { ...filter, dialect, isExplained: false }
  const signs = filter.policy.reworkSigns.map(
    (sign) => sql`when ${CONDITIONS[sign](filter.policy)} then ${sql.lit(sign)}`,
  )
  const { rows } = await sql<{ id: string; title: string | null; sign: ReworkSign }>`
    select distinct repaired.id, pr.title, case ${sql.join(signs, sql` `)} end as sign
    from (${broughtRepairs(query)}) repaired inner join pull_requests pr on pr.id = repaired.pull_request
    where ${among(sql`repaired.id`, onePiece(deployments))} order by repaired.id, pr.title`.execute(kysely)
  const byDeployment = Map.groupBy(rows, ({ id }) => id)
  return new Map(
    [...byDeployment].map(([id, own]) => [id, own.map(({ title, sign }) => `${REWORK_SIGNS[sign]}: ${title ?? ''}`)]),
  )
}
