import { sql } from 'kysely'
import type { Dialect } from '../../database/dialect.ts'
import { projectPrMetrics } from '../../domain/crossdomain.ts'
import { type Calculation, mapping, originOf, projectOf, raw, type Sql, word } from './calculation.ts'
import { inTurn, replace } from './results.ts'

/** Returns the minutes from one moment to another, rounded up. Null when one is unknown or the second is before the first. */
export function minutesBetween(dialect: Dialect, start: string, end: string): Sql {
  const minutes = `ceil(${dialect.secondsBetween(start, end)} / 60)`
  return raw(`case when ${minutes} >= 0 then ${minutes} end`)
}

/**
 * Calculates how a merged pull request came to production: first commit, creation, first review, merge, deployment.
 *
 * The records of a pull request are stacked and grouped by its id instead of joined. One of the database engines has no index for
 * a join of subqueries by a long text, and would compare every row with every other.
 */
export const calculateChangeLeadTime: Calculation = ({ database, options }) => {
  const { dialect } = database
  const project = projectOf(options)
  const coding = minutesBetween(dialect, 'way.commit_date', 'pr.created_date')
  const untilMerge = minutesBetween(dialect, 'pr.created_date', 'pr.merged_date')
  const deploying = minutesBetween(dialect, 'pr.merged_date', 'way.deployed_date')
  return inTurn(database, `${projectPrMetrics.name} ${project}`, (inside) =>
    replace(inside, {
      table: projectPrMetrics,
      within: [sql`project_name = ${project}`],
      with: wayToProduction(dialect, project),
      columns: {
        id: sql`pr.id`,
        project_name: sql`${project}`,
        first_commit_sha: word('way.commit_sha'),
        first_commit_authored_date: sql`way.commit_date`,
        pr_coding_time: coding,
        first_review_id: word('way.review_id'),
        first_comment_date: sql`way.review_date`,
        pr_pickup_time: minutesBetween(dialect, 'pr.created_date', 'way.review_date'),
        pr_review_time: minutesBetween(dialect, 'way.review_date', 'pr.merged_date'),
        deployment_commit_id: sql`case when way.deployed_date is null then '' else way.deployment_id end`,
        pr_deployed_date: sql`way.deployed_date`,
        pr_deploy_time: deploying,
        pr_cycle_time: sql`coalesce(${coding}, 0) + coalesce(${untilMerge}, 0) + coalesce(${deploying}, 0)`,
        pr_created_date: sql`pr.created_date`,
        pr_merged_date: sql`pr.merged_date`,
        ...originOf('pr'),
      },
      from: sql`from way inner join pull_requests pr on pr.id = way.id where 1 = 1`,
    }),
  )
}

function wayToProduction(dialect: Dialect, project: string): Sql {
  const select = sql`select ${raw(dialect.joinAsWritten)}`
  const repo = mapping('repo', 'repos', project)
  const scope = mapping('scope', 'cicd_scopes', project)
  const merged = sql`from ${repo.from} inner join pull_requests pr on pr.base_repo_id = repo.row_id`
  // The first part of the union decides the types of the columns.
  const noText = sql`case when 1 = 0 then pr.id end`
  const noTime = sql`case when 1 = 0 then pr.merged_date end`
  const isMerged = sql`${repo.where} and pr.merged_date is not null`
  return sql`with commits_in_turn as (
      ${select} pr.id, c.commit_sha, c.commit_authored_date,
        row_number() over (partition by pr.id order by c.commit_authored_date, c.commit_sha) as place
      ${merged} inner join pull_request_commits c on c.pull_request_id = pr.id
      where ${isMerged} and c.commit_authored_date is not null
    ), reviews_in_turn as (
      ${select} pr.id, c.id as review_id, c.created_date,
        row_number() over (partition by pr.id order by c.created_date, c.id) as place
      ${merged} inner join pull_request_comments c on c.pull_request_id = pr.id
      where ${isMerged} and c.created_date is not null
        and (coalesce(pr.author_id, '') = '' or c.account_id <> pr.author_id)
    ), deployments_in_turn as (
      ${select} pr.id, d.id as deployment_id, d.finished_date, row_number() over (
        partition by pr.id order by case when d.started_date is null then 1 else 0 end, d.started_date, d.id) as place
      from ${scope.from} inner join cicd_deployment_commits d on d.cicd_scope_id = scope.row_id
      inner join cicd_deployment_commits previous on previous.id = d.prev_success_deployment_commit_id
      inner join commits_diffs r on r.new_commit_sha = d.commit_sha and r.old_commit_sha = previous.commit_sha
      inner join pull_requests pr on pr.merge_commit_sha = r.commit_sha
      where ${scope.where} and d.result = 'SUCCESS' and d.environment = 'PRODUCTION'
        and d.prev_success_deployment_commit_id <> '' and pr.merge_commit_sha <> ''
    ), stacked as (
      ${select} pr.id, 1 as is_merged, ${noText} as commit_sha, ${noTime} as commit_date, ${noText} as review_id,
        ${noTime} as review_date, ${noText} as deployment_id, ${noTime} as deployed_date
      ${merged} where ${isMerged}
      union all
      select id, 0, commit_sha, commit_authored_date, null, null, null, null from commits_in_turn where place = 1
      union all
      select id, 0, null, null, review_id, created_date, null, null from reviews_in_turn where place = 1
      union all
      select id, 0, null, null, null, null, deployment_id, finished_date from deployments_in_turn where place = 1
    ), way as (
      select id, max(commit_sha) as commit_sha, max(commit_date) as commit_date, max(review_id) as review_id,
        max(review_date) as review_date, max(deployment_id) as deployment_id, max(deployed_date) as deployed_date
      from stacked group by id having max(is_merged) = 1
    )`
}
