import { sql } from 'kysely'
import type { Sql } from '../calculate/calculation.ts'
import { firstOf, isOfOtherTime, type MetricQuery, outside, selectItems } from '../metric.ts'
import { buildsOf } from '../sources.ts'

const hasNoResult = sql`coalesce(p.result, '') not in ('SUCCESS', 'FAILURE')`

/** Selects the pipeline runs of the project's scopes that succeeded or failed, by the date when they finished. */
export function buildItems(query: MetricQuery, value: Sql): Sql {
  const { from, where } = buildsOf(query)
  return selectItems(query.dialect, {
    kind: 'build',
    project: sql`scope.project_name`,
    id: sql`p.id`,
    at: sql`p.finished_date`,
    value,
    reason: firstOf(
      ['not_finished', sql`p.finished_date is null`],
      ['other_time', sql`${hasNoResult} and ${isOfOtherTime(sql`p.finished_date`, query)}`],
      ['no_result', hasNoResult],
      ['outside_time_range', outside(sql`p.finished_date`, query)],
      ['no_duration', sql`${value} is null`],
    ),
    title: sql`p.name`,
    url: sql`p.url`,
    repository: sql`''`,
    account: sql`''`,
    origin: 'p',
    from: sql`${from} where ${where}`,
  })
}
