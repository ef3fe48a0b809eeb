import { sql } from 'kysely'
import { filled } from '../express.ts'
import { firstOf, LOWER_MEDIAN, type Metric, selectItems } from '../metric.ts'
import { incidentsOf, ofTicket } from '../sources.ts'

export const incidentAge: Metric = {
  name: 'incident-age',
  title: 'Age of open incidents',
  definition: `Median age in minutes of the incidents that were open at the end of the range.${LOWER_MEDIAN}`,
  unit: 'minutes',
  better: 'lower',
  summary: 'median',
  madeOf: ['incidents'],
  items: (query) => {
    const { from, where } = incidentsOf(query)
    const end = query.to instanceof Date ? sql.raw(query.dialect.moment(query.to)) : query.to
    const age = filled(query.dialect.secondsBetween('i.created_date', '{end}'), { end })
    return selectItems(query.dialect, {
      kind: 'incident',
      id: sql`i.id`,
      at: sql`i.created_date`,
      value: sql`floor(${age} / 60)`,
      reason: firstOf(
        ['no_duration', sql`i.created_date is null`],
        ['created_after_range', sql`i.created_date > ${query.to}`],
        ['resolved', sql`i.resolution_date <= ${query.to}`],
      ),
      ...ofTicket,
      from: sql`${from} where ${where}`,
    })
  },
}
