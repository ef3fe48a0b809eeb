import { sql } from 'kysely'
import type { Metric } from '../metric.ts'
import { mergedItems } from './merged-items.ts'

export const pullRequestThroughput: Metric = {
  name: 'pull-request-throughput',
  title: 'Pull requests merged',
  definition: 'Number of pull requests merged in the range.',
  unit: 'count',
  better: 'higher',
  summary: 'count',
  madeOf: ['pull requests'],
  items: (query) => mergedItems(query, sql`1`),
}
