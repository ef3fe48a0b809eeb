import { sql } from 'kysely'
import type { Sql } from '../calculate/calculation.ts'
import { firstOf, isOfOtherTime, type MetricQuery, outside, selectItems } from '../metric.ts'
import { pullRequestTimes } from '../pull-request-times.ts'
import { isBot, pullRequestsOf } from '../sources.ts'

/** A pull request that is still open belongs to every time since it was created. */
export const unmergedElsewhen = (query: MetricQuery): Sql =>
  sql`pr.merged_date is null and (${isOfOtherTime(sql`pr.closed_date`, query)} or pr.created_date > ${query.to})`

/** Selects merged pull requests by date of merge, or of deployment. Those without a value are left out. */
export function mergedItems(query: MetricQuery, value: Sql, join = sql``, deployed?: Sql): Sql {
  const { from, where } = pullRequestsOf(query)
  return selectItems(query.dialect, {
    kind: 'pull_request',
    project: sql`repo.project_name`,
    id: sql`pr.id`,
    at: deployed ?? sql`pr.merged_date`,
    value,
    reason: firstOf(
      ['other_time', unmergedElsewhen(query)],
      ['pull_request_not_merged', sql`pr.merged_date is null`],
      query.policy.excludeBots ? ['bot_author', isBot] : null,
      deployed ? ['other_time', sql`${deployed} is null and ${isOfOtherTime(sql`pr.merged_date`, query)}`] : null,
      deployed ? ['merge_commit_in_no_deployment', sql`${deployed} is null`] : null,
      ['outside_time_range', outside(deployed ?? sql`pr.merged_date`, query)],
      ['no_duration', sql`${value} is null`],
    ),
    title: sql`pr.title`,
    url: sql`pr.url`,
    repository: sql`pr.base_repo_id`,
    account: sql`pr.author_id`,
    origin: 'pr',
    from: sql`${from} ${join} where ${where}`,
  })
}

/** Selects merged pull requests with a column of the stored lead times as value. */
export function storedItems(query: MetricQuery, column: string): Sql {
  const { reading = 'known' } = query
  const times = pullRequestTimes({ dialect: query.dialect, project: sql`repo.project_name`, policy: query.policy })
  const minutes = times.column(column)
  if (reading === 'known') return mergedItems(query, minutes, times.join)
  const time = sql`coalesce(${minutes}, 0)`
  const deployed = reading === 'panels-deployed' ? times.column('pr_deployed_date') : undefined
  return mergedItems(query, time, times.join, deployed)
}
