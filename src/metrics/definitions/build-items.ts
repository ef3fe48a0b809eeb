import { sql } from 'kysely'
import type { Sql } from '../calculate/calculation.ts'
import { firstOf, type MetricQuery, outside, selectItems } from '../metric.ts'
import { buildsOf } from '../sources.ts'

/** Pipeline runs of the project's scopes that succeeded or failed, by date of finishing. */
export function buildItems(query: MetricQuery, value: Sql): Sql {
  const { from, where } = buildsOf(query)
  return selectItems(query.dialect, {
    kind: 'build',
    id: sql`p.id`,
    at: sql`p.finished_date`,
    value,
    reason: firstOf(
      ['not_finished', sql`p.finished_date is null`],
      ['no_result', sql`coalesce(p.result, '') not in ('SUCCESS', 'FAILURE')`],
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
