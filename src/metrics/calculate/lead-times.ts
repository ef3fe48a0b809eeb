import { sql } from 'kysely'
import type { Dialect } from '../../database/dialects/dialect.ts'
import { projectPrMetrics } from '../../domain/crossdomain.ts'
import { type Calculation, fill, mapped, originOf, projectOf, raw, type Sql, swap, word } from './calculation.ts'

/** Minutes from one moment to another, rounded up; null when one is unknown or the clock ran backwards. */
export function minutesBetween(dialect: Dialect, start: string, end: string): Sql {
  const minutes = `ceil(${dialect.secondsBetween(start, end)} / 60)`
  return raw(`case when ${minutes} >= 0 then ${minutes} end`)
}

/** How a merged pull request came to production: first commit, creation, first review, merge, deployment. */
export const calculateChangeLeadTime: Calculation = ({ database, options }) => {
  const { dialect } = database
  const project = projectOf(options)
  const coding = minutesBetween(dialect, 'f.commit_authored_date', 'pr.created_date')
  const untilMerge = minutesBetween(dialect, 'pr.created_date', 'pr.merged_date')
  const deploying = minutesBetween(dialect, 'pr.merged_date', 'd.finished_date')
  const ofProject = sql`pr.base_repo_id in (${mapped('repos', project)}) and pr.merged_date is not null`
  const scopes = mapped('cicd_scopes', project)
  return swap(database, async (inside) => {
    await sql`delete from project_pr_metrics where project_name = ${project}`.execute(inside.kysely)
    return fill(inside, {
      table: projectPrMetrics,
      with: sql`with first_commits as (
          select c.pull_request_id, c.commit_sha, c.commit_authored_date, row_number() over (
            partition by c.pull_request_id order by c.commit_authored_date, c.commit_sha) as place
          from pull_requests pr inner join pull_request_commits c on c.pull_request_id = pr.id
          where ${ofProject} and c.commit_authored_date is not null
        ), reviews as (
          select c.pull_request_id, c.id, c.created_date, row_number() over (
            partition by c.pull_request_id order by c.created_date, c.id) as place
          from pull_requests pr inner join pull_request_comments c on c.pull_request_id = pr.id
          where ${ofProject} and c.created_date is not null
            and (coalesce(pr.author_id, '') = '' or c.account_id <> pr.author_id)
        ), deployments as (
          select pr.id as pull_request_id, dc.id, dc.finished_date, row_number() over (
            partition by pr.id order by case when dc.started_date is null then 1 else 0 end, dc.started_date, dc.id) as place
          from cicd_deployment_commits dc
          inner join cicd_deployment_commits previous on previous.id = dc.prev_success_deployment_commit_id
          inner join commits_diffs r on r.new_commit_sha = dc.commit_sha and r.old_commit_sha = previous.commit_sha
          inner join pull_requests pr on pr.merge_commit_sha = r.commit_sha
          where dc.cicd_scope_id in (${scopes}) and dc.result = 'SUCCESS' and dc.environment = 'PRODUCTION'
            and dc.prev_success_deployment_commit_id <> '' and pr.merge_commit_sha <> '' and ${ofProject}
        )`,
      columns: {
        id: sql`pr.id`,
        project_name: sql`${project}`,
        first_commit_sha: word('f.commit_sha'),
        first_commit_authored_date: sql`f.commit_authored_date`,
        pr_coding_time: coding,
        first_review_id: word('v.id'),
        first_comment_date: sql`v.created_date`,
        pr_pickup_time: minutesBetween(dialect, 'pr.created_date', 'v.created_date'),
        pr_review_time: minutesBetween(dialect, 'v.created_date', 'pr.merged_date'),
        deployment_commit_id: sql`case when d.finished_date is null then '' else d.id end`,
        pr_deployed_date: sql`d.finished_date`,
        pr_deploy_time: deploying,
        pr_cycle_time: sql`coalesce(${coding}, 0) + coalesce(${untilMerge}, 0) + coalesce(${deploying}, 0)`,
        pr_created_date: sql`pr.created_date`,
        pr_merged_date: sql`pr.merged_date`,
        ...originOf('pr'),
      },
      from: sql`from pull_requests pr
        left join first_commits f on f.pull_request_id = pr.id and f.place = 1
        left join reviews v on v.pull_request_id = pr.id and v.place = 1
        left join deployments d on d.pull_request_id = pr.id and d.place = 1
        where ${ofProject}`,
    })
  })
}
