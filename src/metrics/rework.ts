/** Which deployments repaired something that users met in production. */
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { among, onePiece } from '../database/pieces.ts'
import { isOneOf, type Sql } from './calculate/calculation.ts'
import type { MetricQuery } from './metric.ts'
import type { Policy } from './policy/policy.ts'
import { REWORK_SIGNS, type ReworkSign } from './policy/rework-signs.ts'
import { arrivalOf } from './policy/rollouts.ts'
import { type Asked, alike } from './whole.ts'

const ofType = (type: 'BUG' | 'INCIDENT'): Sql => sql`exists (
  select 1 from pull_request_issues l inner join issues i on i.id = l.issue_id
  where l.pull_request_id = pr.id and i.type = ${sql.lit(type)})`

const begins = (text: Sql, prefix: string): Sql => sql`${text} like ${`${prefix.replace(/[!%_]/g, '!$&')}%`} escape '!'`

/** The condition for each sign, about the pull request `pr`. */
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
  const arrival = arrivalOf({ project: sql`m.project_name`, policy: query.policy }, sql`c.cicd_deployment_id`)
  const signs = query.policy.reworkSigns.map((sign) => CONDITIONS[sign](query.policy))
  return sql`select m.project_name as project, ${arrival.or(sql`c.cicd_deployment_id`, sql`rolled.arrived_id`)} as id, pr.id as pull_request
    from project_pr_metrics m inner join pull_requests pr on pr.id = m.id
    inner join cicd_deployment_commits c on c.id = m.deployment_commit_id ${arrival.join}
    where ${isOneOf(sql`m.project_name`, query.project)} and m.deployment_commit_id <> '' and (${sql.join(signs, sql` or `)})`
}

export const reworked = (query: MetricQuery): Sql => sql`select project, id from (${broughtRepairs(query)}) repaired`

interface Repair {
  readonly id: string
  readonly title: string | null
  readonly sign: ReworkSign
}

/** Says, for each of the deployments, which pull requests made it rework, and by which sign. */
export async function readRework(
  { kysely, dialect }: Database,
  asked: Asked,
  deployments: readonly string[],
): Promise<ReadonlyMap<string, string[]>> {
  if (deployments.length === 0) return new Map()
  const repairs = alike(asked).map(({ filter, projects }) => {
    const { reworkSigns } = filter.policy
    const signs = reworkSigns.map((sign) => sql`when ${CONDITIONS[sign](filter.policy)} then ${sql.lit(sign)}`)
    const brought = broughtRepairs({ ...filter, project: projects, dialect, isExplained: false })
    return sql`select repaired.id, pr.title, case ${sql.join(signs, sql` `)} end as sign
      from (${brought}) repaired inner join pull_requests pr on pr.id = repaired.pull_request
      where ${among(sql`repaired.id`, onePiece(deployments))}`
  })
  const { rows } = await sql<Repair>`select distinct id, title, sign
    from (${sql.join(repairs, sql` union all `)}) every_repair order by id, title`.execute(kysely)
  const byDeployment = Map.groupBy(rows, ({ id }) => id)
  return new Map(
    [...byDeployment].map(([id, own]) => [id, own.map(({ title, sign }) => `${REWORK_SIGNS[sign]}: ${title ?? ''}`)]),
  )
}
