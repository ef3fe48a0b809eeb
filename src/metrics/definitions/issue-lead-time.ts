import { sql } from 'kysely'
import { LOWER_MEDIAN, type Metric } from '../metric.ts'
import { resolvedItems } from './issue-items.ts'

export const issueLeadTime: Metric = {
  name: 'issue-lead-time',
  title: 'Issue lead time',
  definition: `Median minutes from creation to resolution of the issues resolved in the range.${LOWER_MEDIAN}`,
  unit: 'minutes',
  better: 'lower',
  summary: 'median',
  madeOf: ['issues'],
  items: (query) => resolvedItems(query, sql`i.lead_time_minutes`),
}
