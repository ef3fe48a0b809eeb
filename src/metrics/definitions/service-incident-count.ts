import { sql } from 'kysely'
import type { Metric } from '../metric.ts'
import { serviceIncidents } from '../service/service-incidents.ts'

export const serviceIncidentCount: Metric = {
  name: 'service-incidents',
  title: 'Incidents of the service',
  definition:
    'Number of incidents created in the range whose x_issue_category is one of the chosen words and whose component is the chosen service, alone or among others.',
  unit: 'count',
  better: 'lower',
  summary: 'count',
  madeOf: ['incidents'],
  isOfService: true,
  items: (query) => serviceIncidents(query, { value: sql`1` }),
}
