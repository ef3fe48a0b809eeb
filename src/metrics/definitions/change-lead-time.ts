import { sql } from 'kysely'
import { raw, type Sql } from '../calculate/calculation.ts'
import { minutesBetween } from '../calculate/lead-times.ts'
import { isWithoutHistory } from '../findings/without-history.ts'
import { isStored, linksOf, rangesOf, trunkCommitsOf } from '../links.ts'
import { firstOf, isOfOtherTime, LOWER_MEDIAN, type Metric, type MetricQuery, outside, selectItems } from '../metric.ts'
import { cycleTime, pullRequestTimes } from '../pull-request-times.ts'
import { isBot, pullRequestsOf } from '../sources.ts'
import { unmergedElsewhen } from './merged-items.ts'

/**
 * Tells, for each commit (`commit_sha`), whether it was in a first deployment to this environment (`is_here` 1) or only in
 * another environment (0). It explains why a pull request was not deployed.
 */
const whereabouts = (query: MetricQuery): Sql => sql`select commit_sha, max(is_here) as is_here from (
    select commit_sha, 1 as is_here from (${rangesOf(query)}) here where is_first = 1
    union all select r.commit_sha, 0 from (${elsewhere(query)}) r
  ) everywhere group by commit_sha`

const elsewhere = (query: MetricQuery): Sql => sql`select ${raw(query.dialect.joinAsWritten)} r.commit_sha
  from project_mapping scope inner join cicd_deployment_commits c on c.cicd_scope_id = scope.row_id
  inner join cicd_deployment_commits previous on previous.id = c.prev_success_deployment_commit_id
  inner join commits_diffs r on r.new_commit_sha = c.commit_sha and r.old_commit_sha = previous.commit_sha
  where scope.project_name = ${query.project} and scope.${sql.id('table')} = 'cicd_scopes' and c.result = 'SUCCESS'
    and c.environment <> ${query.environment} and c.prev_success_deployment_commit_id <> ''`

const anyDeployment = ({ project, environment }: MetricQuery): Sql => sql`exists (select 1
  from project_mapping any_scope inner join cicd_deployment_commits any_commit on any_commit.cicd_scope_id = any_scope.row_id
  where any_scope.project_name = ${project} and any_scope.${sql.id('table')} = 'cicd_scopes'
    and any_commit.result = 'SUCCESS' and any_commit.environment = ${environment})`

/** The repository has no git history, in the same sense as in lists of projects, the terminal and dashboards. */
const isOfUnreadRepository = sql`exists (select 1 from repos r where r.id = pr.base_repo_id and ${isWithoutHistory})`

function pullRequestItems(query: MetricQuery): Sql {
  const { dialect, policy, isExplained } = query
  const { from, where } = pullRequestsOf(query)
  const times = pullRequestTimes(query)
  const deployed = isStored(query) ? times.column('pr_deployed_date') : sql`link.finished_date`
  const minutes = isStored(query) ? times.column('pr_cycle_time') : cycleTime(dialect, 'link.finished_date')
  const source = isStored(query)
    ? from
    : sql`from (${linksOf(query)}) link inner join pull_requests pr on pr.id = link.id`
  const undeployed = sql`${deployed} is null`
  return selectItems(dialect, {
    kind: 'pull_request',
    id: sql`pr.id`,
    at: deployed,
    value: minutes,
    reason: firstOf(
      ['other_time', unmergedElsewhen(query)],
      ['pull_request_not_merged', sql`pr.merged_date is null`],
      policy.excludeBots ? ['bot_author', isBot] : null,
      ['not_calculated', sql`m.id is null`],
      ['other_time', sql`${undeployed} and ${isOfOtherTime(sql`pr.merged_date`, query)}`],
      ...(isExplained
        ? ([
            ['no_deployments', sql`${undeployed} and not ${anyDeployment(query)}`],
            ['no_git_history', sql`${undeployed} and ${isOfUnreadRepository}`],
            ['no_merge_commit', sql`${undeployed} and coalesce(pr.merge_commit_sha, '') = ''`],
            ['only_in_first_deployment', sql`${undeployed} and places.is_here = 1`],
            ['only_in_other_environment', sql`${undeployed} and places.is_here = 0`],
          ] as const)
        : []),
      ['merge_commit_in_no_deployment', undeployed],
      ['outside_time_range', outside(deployed, query)],
    ),
    title: sql`pr.title`,
    url: sql`pr.url`,
    repository: sql`pr.base_repo_id`,
    account: sql`pr.author_id`,
    origin: 'pr',
    from: sql`${source} ${times.join}
      ${isExplained ? sql`left join (${whereabouts(query)}) places on places.commit_sha = pr.merge_commit_sha` : sql``}
      where ${isStored(query) ? where : sql`1 = 1`}`,
  })
}

const commitItems = (query: MetricQuery): Sql =>
  selectItems(query.dialect, {
    kind: 'commit',
    id: sql`co.sha`,
    at: sql`trunk.finished_date`,
    value: minutesBetween(query.dialect, 'co.authored_date', 'trunk.finished_date'),
    reason: firstOf(
      ['outside_time_range', outside(sql`trunk.finished_date`, query)],
      ['clock_backwards', sql`co.authored_date > trunk.finished_date`],
    ),
    title: sql`co.message`,
    url: sql`''`,
    repository: sql`''`,
    account: sql`co.author_id`,
    origin: 'co',
    from: sql`from (${trunkCommitsOf(query)}) trunk inner join commits co on co.sha = trunk.sha where 1 = 1`,
  })

export const changeLeadTime: Metric = {
  name: 'change-lead-time',
  title: 'Change lead time',
  definition:
    'Median minutes from the first commit of a pull request to the deployment that brought its merge commit to ' +
    'production, by date of that deployment. The first deployment of a repository counts for no pull request.' +
    LOWER_MEDIAN,
  unit: 'minutes',
  better: 'lower',
  summary: 'median',
  madeOf: ['deployments', 'pull requests', 'history'],
  counts: 'pull requests',
  hasFinerReasons: true,
  benchmark: { 2021: 'Lead time for changes', 2023: 'Lead time for changes' },
  items: (query) =>
    query.policy.countTrunkCommits
      ? sql`${pullRequestItems(query)} union all ${commitItems(query)}`
      : pullRequestItems(query),
}
