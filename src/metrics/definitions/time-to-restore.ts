import { sql } from 'kysely'
import { firstOf, LOWER_MEDIAN, type Metric, outside, selectItems } from '../metric.ts'
import { incidentsOf, ofTicket } from '../sources.ts'

export const timeToRestore: Metric = {
  name: 'time-to-restore-service',
  title: 'Time to restore service',
  definition:
    'Median minutes that incidents of the project took from creation to resolution, by date of resolution.' +
    LOWER_MEDIAN,
  unit: 'minutes',
  better: 'lower',
  summary: 'median',
  madeOf: ['incidents'],
  benchmark: { 2021: 'Time to restore service' },
  items: (query) => {
    const { from, where } = incidentsOf(query)
    return selectItems(query.dialect, {
      kind: 'incident',
      id: sql`i.id`,
      at: sql`i.resolution_date`,
      value: sql`i.lead_time_minutes`,
      reason: firstOf(
        ['other_time', sql`i.resolution_date is null and i.created_date > ${query.to}`],
        ['not_resolved', sql`i.resolution_date is null`],
        ['outside_time_range', outside(sql`i.resolution_date`, query)],
        ['clock_backwards', sql`i.resolution_date < i.created_date`],
        ['no_duration', sql`i.lead_time_minutes is null`],
      ),
      ...ofTicket,
      from: sql`${from} where ${where}`,
    })
  },
}
