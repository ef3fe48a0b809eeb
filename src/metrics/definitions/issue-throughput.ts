import { sql } from 'kysely'
import type { Metric } from '../metric.ts'
import { resolvedItems } from './issue-items.ts'

export const issueThroughput: Metric = {
  name: 'issue-throughput',
  title: 'Issues resolved',
  definition: 'Number of issues of the project resolved in the range; one on two boards counts once.',
  unit: 'count',
  better: 'higher',
  summary: 'count',
  madeOf: ['issues'],
  items: (query) => resolvedItems(query, sql`1`),
}
