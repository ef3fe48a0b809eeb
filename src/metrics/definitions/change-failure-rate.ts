import { sql } from 'kysely'
import { blameOf } from '../blame.ts'
import type { Metric } from '../metric.ts'
import { deploymentItems } from './deployment-items.ts'
import { serviceChangeFailureRate } from './service-change-failure-rate.ts'

const key = {
  name: 'change-failure-rate',
  title: 'Change failure rate',
  happened: 'led to an incident',
  benchmark: { 2021: 'Change failure rate', 2023: 'Change failure rate' },
} as const

export const changeFailureRate: Metric = {
  ...key,
  definition:
    'Share of the successful deployments to production that have an incident. An incident is attributed to the latest ' +
    'deployment that finished before it began. Deployments that failed are not counted.',
  unit: 'share',
  better: 'lower',
  summary: 'mean',
  madeOf: ['deployments', 'incidents'],
  inServiceReport: { ...serviceChangeFailureRate, ...key },
  items: (query) =>
    deploymentItems(query, { marks: sql`select project, deployment_id as id from (${blameOf(query)}) blamed` }),
}
