import { sql } from 'kysely'
import type { Metric } from '../metric.ts'
import { serviceIncidents } from '../service/service-incidents.ts'
import { deploymentItems } from './deployment-items.ts'

export const serviceChangeFailureRate: Metric = {
  name: 'service-change-failure-rate',
  title: 'Change failure rate of the service',
  definition:
    'Incidents relative to deployments: the incidents created in the range whose x_issue_category is one of the chosen ' +
    'words and whose component is the chosen service, alone or among others, divided by all successful deployments of the project to ' +
    'production that finished in the range, counted as for the deployment frequency. No incident is attributed to a particular deployment, ' +
    'so it can be more than 1.',
  unit: 'share',
  better: 'lower',
  summary: 'ratio',
  madeOf: ['deployments', 'incidents'],
  divides: ['incidents', 'deployments'],
  isOfService: true,
  items: (query) =>
    sql`${serviceIncidents(query, { value: sql`1` })} union all ${deploymentItems(query, { value: sql`0` })}`,
}
