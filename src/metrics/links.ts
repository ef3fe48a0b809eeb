/** Finds which deployment brought which change, for policies that the stored lead times do not follow. */
import { sql } from 'kysely'
import type { Sql } from './calculate/calculation.ts'
import type { MetricQuery } from './metric.ts'
import { changesLinks } from './policy/policy.ts'
import { arrivalOf } from './policy/rollouts.ts'
import { deploymentCommitsOf, pullRequestsOf } from './sources.ts'

export const isStored = ({ policy, environment }: MetricQuery): boolean =>
  environment === 'PRODUCTION' && !changesLinks(policy)

/**
 * `ranges`: each commit in each range of a successful deployment to the environment. `is_first` is 1 where the deployment has no
 * predecessor, so that its range holds everything that went before.
 */
export function rangesOf(query: MetricQuery): Sql {
  const { from, where } = deploymentCommitsOf({ ...query, repository: undefined, team: undefined })
  const arrival = arrivalOf(query, sql`c.cicd_deployment_id`)
  const columns = sql`c.id as deployment_id, c.started_date, ${arrival.or(sql`c.finished_date`, sql`rolled.arrived_date`)} as finished_date, r.commit_sha`
  const select = sql`select ${sql.raw(query.dialect.joinAsWritten)} ${columns}`
  const fits = sql`${where} and c.result = 'SUCCESS' and c.environment = ${query.environment}`
  return sql`${select}, 0 as is_first ${from}
      inner join cicd_deployment_commits previous on previous.id = c.prev_success_deployment_commit_id
      inner join commits_diffs r on r.new_commit_sha = c.commit_sha and r.old_commit_sha = previous.commit_sha
      ${arrival.join} where ${fits} and c.prev_success_deployment_commit_id <> ''
    union all
    ${select}, 1 as is_first ${from}
      inner join commits_diffs r on r.new_commit_sha = c.commit_sha and r.old_commit_sha = ''
      ${arrival.join} where ${fits} and coalesce(c.prev_success_deployment_commit_id, '') = ''`
}

/**
 * Returns each pull request (`id`) with the finish of the first deployment that brought it (`finished_date`), or null.
 *
 * Commits of deployments and of pull requests are stacked with marks; equal marks mean the same change. The first row of a mark
 * is the deployment. With a join of the two, the database engines would have to guess sizes that they cannot know.
 */
export function linksOf(query: MetricQuery): Sql {
  const { dialect, policy } = query
  const marked = [...marksOfRanges(query), ...marksOfPullRequests(query)]
  const byStart = sql`case when started_date is null then 1 else 0 end, started_date, deployment_id`
  const firstIn = (column: string, turn: 0 | 1) =>
    sql`first_value(case when turn = ${sql.lit(turn)} then ${sql.ref(column)} end) over (partition by mark
      order by case when turn = ${sql.lit(turn)} then 0 else 1 end, ${byStart})`
  const met = sql`select id, merged_date, turn, ${firstIn('started_date', 0)} as started, ${firstIn('finished_date', 0)} as finished
    ${policy.firstDeploymentDays === null ? sql`` : sql`, ${firstIn('started_date', 1)} as first_started, ${firstIn('finished_date', 1)} as first_finished`}
    from marked`
  const isFirst =
    policy.firstDeploymentDays === null
      ? null
      : sql`${sql.raw(dialect.secondsBetween('merged_date', 'first_finished'))} between 0 and ${policy.firstDeploymentDays * 86_400}
          and (started is null or first_started < started)`
  const chosen = (first: string, later: string) =>
    isFirst ? sql`case when ${isFirst} then ${sql.ref(first)} else ${sql.ref(later)} end` : sql`${sql.ref(later)}`
  return sql`with ranges as (${rangesOf(query)}), marked as (${sql.join(marked, sql` union all `)}), met as (${met}),
    chosen as (select id, ${chosen('first_started', 'started')} as started, ${chosen('first_finished', 'finished')} as finished
      from met where turn = 2),
    ordered as (select id, finished, row_number() over (partition by id
      order by case when started is null then 1 else 0 end, started, case when finished is null then 1 else 0 end) as place
      from chosen)
    select id, finished as finished_date from ordered where place = 1`
}

const sameSha = (sha: string) => sql`concat('sha ', ${sql.ref(sha)})`
/** A rebase keeps the author of a commit and the date of authoring. */
const samePatch = (email: string, date: string) => sql`concat('patch ', ${sql.ref(email)}, ' ', ${sql.ref(date)})`
const sameNumber = (repository: string, number: Sql) => sql`concat('number ', ${sql.ref(repository)}, ' ', ${number})`

function marksOfRanges({ dialect, policy, project }: MetricQuery): Sql[] {
  // The first part of the union decides the types of the columns.
  const none = sql`case when 1 = 0 then r.deployment_id end as id, case when 1 = 0 then r.finished_date end as merged_date`
  const select = (mark: Sql) =>
    sql`select ${sql.raw(dialect.joinAsWritten)} ${mark} as mark, ${none}, r.deployment_id, r.started_date, r.finished_date, r.is_first as turn from ranges r`
  if (!policy.linkSquashed) return [select(sameSha('r.commit_sha'))]
  const commits = sql`inner join commits co on co.sha = r.commit_sha`
  const number = sql.raw(dialect.firstMatch('co.message', '[(]#[0-9]+[)]'))
  return [
    select(sameSha('r.commit_sha')),
    sql`${select(samePatch('co.author_email', 'co.authored_date'))} ${commits} where co.author_email <> ''`,
    sql`${select(sameNumber('held.repo_id', number))} ${commits}
      inner join project_mapping repo on repo.project_name = ${project} and repo.${sql.id('table')} = 'repos'
      inner join repo_commits held on held.repo_id = repo.row_id and held.commit_sha = co.sha where ${number} <> ''`,
  ]
}

function marksOfPullRequests(query: MetricQuery): Sql[] {
  const { from, where } = pullRequestsOf(query)
  const select = (mark: Sql, join = sql``) =>
    sql`select ${sql.raw(query.dialect.joinAsWritten)} ${mark}, pr.id, pr.merged_date, null, null, null, 2 ${from} ${join} where ${where}`
  // A pull request without a usable merge commit gets a mark of its own. So every pull request is in the result, even if no deployment knows it.
  const merge = select(sql`case when coalesce(pr.merge_commit_sha, '') = '' or pr.merged_date is null
    then concat('none ', pr.id) else ${sameSha('pr.merge_commit_sha')} end`)
  if (!query.policy.linkSquashed) return [merge]
  const commits = sql`inner join pull_request_commits c on c.pull_request_id = pr.id and pr.merged_date is not null`
  return [
    merge,
    select(sameSha('c.commit_sha'), commits),
    select(samePatch('c.commit_author_email', 'c.commit_authored_date'), commits),
    select(sameNumber('pr.base_repo_id', sql`concat('(#', pr.pull_request_key, ')')`)),
  ]
}

/** Returns commits of the ranges that belong to no pull request of the project: `sha`, `finished_date`. */
export function trunkCommitsOf(query: MetricQuery): Sql {
  const { from, where } = pullRequestsOf({ ...query, repository: undefined, team: undefined })
  const select = sql`select ${sql.raw(query.dialect.joinAsWritten)}`
  return sql`select r.commit_sha as sha, min(r.finished_date) as finished_date, max(claimed) as claimed from (
      select commit_sha, finished_date, 0 as claimed from (${rangesOf(query)}) own
      where is_first = 0 and finished_date is not null
      union all
      ${select} pr.merge_commit_sha, null, 1 ${from} where ${where} and pr.merge_commit_sha <> ''
      union all
      ${select} c.commit_sha, null, 1 ${from} inner join pull_request_commits c on c.pull_request_id = pr.id where ${where}
    ) r group by r.commit_sha having max(claimed) = 0`
}
