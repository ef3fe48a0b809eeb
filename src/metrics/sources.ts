/** The rows that metrics are made of: deployments, pull requests, incidents, issues and builds of a project. */
import { sql } from 'kysely'
import { incidentIdsOf } from './blame.ts'
import { accountOfAssignee } from './calculate/account-of-assignee.ts'
import { mapping, type Sql } from './calculate/calculation.ts'
import type { Expressed, MetricQuery } from './metric.ts'
import { isJoined, standingForKin } from './policy/rollouts.ts'

/** The part of a query that chooses rows. */
type Scoping = Pick<MetricQuery, 'project' | 'environment' | 'repository' | 'team' | 'policy'>

const all = (...conditions: readonly (Sql | null | undefined | false)[]): Sql =>
  sql.join(conditions.filter((each) => each) as Sql[], sql` and `)

const ofTeam = (account: Sql, team: Expressed<string> | undefined): Sql | null =>
  team === undefined
    ? null
    : sql`${account} in (select ua.account_id from user_accounts ua inner join team_users tu on tu.user_id = ua.user_id where tu.team_id = ${team})`

/** `pr`: the pull requests whose base is a repository of the project. More conditions can follow `where`. */
export function pullRequestsOf(filter: Scoping): { from: Sql; where: Sql } {
  const repo = mapping('repo', 'repos', filter.project)
  return {
    from: sql`from ${repo.from} inner join pull_requests pr on pr.base_repo_id = repo.row_id`,
    where: all(
      repo.where,
      filter.repository !== undefined && sql`pr.base_repo_id = ${filter.repository}`,
      ofTeam(sql`pr.author_id`, filter.team),
    ),
  }
}

/** Recognises robots by the names that tools give them. */
export const isBot = sql`(lower(coalesce(pr.author_name, '')) like '%[bot]' or lower(coalesce(pr.author_name, '')) like '%-bot'
  or lower(coalesce(pr.author_name, '')) in ('dependabot', 'renovate', 'greenkeeper', 'snyk-bot', 'github-actions'))`

/** The condition that limits deployed commits to the repository and the team. */
const narrowed = (alias: string, { repository, team }: Scoping): Sql =>
  all(
    sql`1 = 1`,
    repository !== undefined &&
      sql`(${sql.ref(`${alias}.repo_id`)} = ${repository}
        or ${sql.ref(`${alias}.repo_url`)} in (select url from repos where id = ${repository}))`,
    team !== undefined &&
      sql`${sql.ref(`${alias}.commit_sha`)} in (select co.sha from commits co inner join user_accounts ua on ua.account_id = co.author_id
        inner join team_users tu on tu.user_id = ua.user_id where tu.team_id = ${team})`,
  )

/**
 * `c`: the deployment commits of the project's scopes, including all rows of a rollout. A rollout belongs to a repository or a
 * team if any of its rows does, even if the row that represents the rollout does not.
 */
export function deploymentCommitsOf(filter: Scoping): { from: Sql; where: Sql } {
  const scope = mapping('scope', 'cicd_scopes', filter.project)
  const isNarrowed = filter.repository !== undefined || filter.team !== undefined
  const kin = isNarrowed ? standingForKin(filter, narrowed('kin', filter)) : null
  const own = narrowed('c', filter)
  return {
    from: sql`from ${scope.from} inner join cicd_deployment_commits c on c.cicd_scope_id = scope.row_id`,
    where: all(scope.where, isNarrowed && (kin ? sql`(${own} or c.cicd_deployment_id in (${kin}))` : own)),
  }
}

/**
 * Returns one row for each deployment, whatever the number of its commits. `at` is its latest finish among the commits that fit,
 * `marked` tells whether its id is among `marks`, and `joined` whether another row represents its rollout. Deployments are
 * counted this way everywhere: those that fit and are not joined. The statement is stacked and grouped, because subqueries that
 * are joined by a long text cannot use an index.
 */
export function deploymentsOf(filter: Scoping, marks?: Sql): Sql {
  const { from, where } = deploymentCommitsOf(filter)
  const commits = sql`select c.cicd_deployment_id as id, c.result, c.environment, c.finished_date, c.name, c.url, c.repo_id,
    c._raw_data_table, c._raw_data_params, c._raw_data_id, 1 as is_own ${from} where ${where}`
  const marked = sql`select mark.id, null, null, null, null, null, null, null, null, null, 0 from (${marks}) mark`
  const fits = sql`c.result = 'SUCCESS' and c.environment = ${filter.environment}`
  return sql`select c.id, max(case when c.result = 'SUCCESS' then 1 else 0 end) as succeeded,
      max(case when ${fits} then 1 else 0 end) as fits,
      max(case when ${fits} then c.finished_date end) as at, max(c.finished_date) as ended,
      max(case when c.is_own = 0 then 1 else 0 end) as marked,
      case when ${isJoined(filter, sql`c.id`)} then 1 else 0 end as joined,
      max(c.name) as title, max(c.url) as url, max(c.repo_id) as repository,
      max(c._raw_data_table) as _raw_data_table, max(c._raw_data_params) as _raw_data_params,
      max(c._raw_data_id) as _raw_data_id
    from (${marks ? sql`${commits} union all ${marked}` : commits}) c group by c.id having max(c.is_own) = 1`
}

/** The columns with which an item shows an issue or an incident, `i`. */
export const ofTicket = {
  title: sql`i.title`,
  url: sql`i.url`,
  repository: sql`''`,
  account: accountOfAssignee('i'),
  origin: 'i',
} as const

/** `i`: the incidents of the project. */
export function incidentsOf(filter: MetricQuery): { from: Sql; where: Sql } {
  return {
    from: sql`from (${incidentIdsOf(filter.dialect, filter.project)}) own inner join incidents i on i.id = own.id`,
    where: all(sql`1 = 1`, ofTeam(sql`i.assignee_id`, filter.team)),
  }
}

/** `i`: the issues on the project's boards. */
export function issuesOf(filter: Scoping): { from: Sql; where: Sql } {
  const board = mapping('board', 'boards', filter.project)
  return {
    from: sql`from (select distinct b.issue_id from ${board.from} inner join board_issues b on b.board_id = board.row_id
      where ${board.where}) own inner join issues i on i.id = own.issue_id`,
    where: all(sql`1 = 1`, ofTeam(accountOfAssignee('i'), filter.team)),
  }
}

/** `p`: the pipelines of the project's scopes. */
export function buildsOf(filter: Scoping): { from: Sql; where: Sql } {
  const scope = mapping('scope', 'cicd_scopes', filter.project)
  return {
    from: sql`from ${scope.from} inner join cicd_pipelines p on p.cicd_scope_id = scope.row_id`,
    where: scope.where,
  }
}
