import { sql } from 'kysely'
import type { Sql } from '../calculate/calculation.ts'
import { firstOf, type MetricQuery, outside, selectItems } from '../metric.ts'
import { issuesOf, ofTicket } from '../sources.ts'

/** Selects the issues of the project's boards, each once, by date of resolution. */
export function resolvedItems(query: MetricQuery, value: Sql): Sql {
  const { from, where } = issuesOf(query)
  return selectItems(query.dialect, {
    kind: 'issue',
    id: sql`i.id`,
    at: sql`i.resolution_date`,
    value,
    reason: firstOf(
      ['other_time', sql`i.resolution_date is null and i.created_date > ${query.to}`],
      ['not_resolved', sql`i.resolution_date is null`],
      ['outside_time_range', outside(sql`i.resolution_date`, query)],
      ['clock_backwards', sql`i.resolution_date < i.created_date`],
      ['no_duration', sql`${value} is null`],
    ),
    ...ofTicket,
    from: sql`${from} where ${where}`,
  })
}
