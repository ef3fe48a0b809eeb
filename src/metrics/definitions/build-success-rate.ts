import { sql } from 'kysely'
import type { Metric } from '../metric.ts'
import { buildItems } from './build-items.ts'

export const buildSuccessRate: Metric = {
  name: 'build-success-rate',
  title: 'Build success rate',
  definition: 'Share of the pipeline runs that succeeded among those that succeeded or failed in the range.',
  unit: 'share',
  better: 'higher',
  summary: 'mean',
  madeOf: ['builds'],
  items: (query) => buildItems(query, sql`case when p.result = 'SUCCESS' then 1 else 0 end`),
}
