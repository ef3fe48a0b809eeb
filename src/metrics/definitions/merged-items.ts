import { sql } from 'kysely'
import type { Sql } from '../calculate/calculation.ts'
import { firstOf, type MetricQuery, outside, selectItems } from '../metric.ts'
import { isBot, pullRequestsOf } from '../sources.ts'

/** Merged pull requests by date of merge; without a value they are left out, never taken for 0. */
export function mergedItems(query: MetricQuery, value: Sql, join = sql``): Sql {
  const { from, where } = pullRequestsOf(query)
  return selectItems(query.dialect, {
    kind: 'pull_request',
    id: sql`pr.id`,
    at: sql`pr.merged_date`,
    value,
    reason: firstOf(
      ['pull_request_not_merged', sql`pr.merged_date is null`],
      query.policy.excludeBots ? ['bot_author', isBot] : null,
      ['outside_time_range', outside(sql`pr.merged_date`, query)],
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

/** A column of the stored lead times. */
export const storedItems = (query: MetricQuery, column: string): Sql =>
  mergedItems(
    query,
    sql`${sql.ref(`m.${column}`)}`,
    sql`left join project_pr_metrics m on m.id = pr.id and m.project_name = ${query.project}`,
  )
