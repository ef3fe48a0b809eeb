import { sql } from 'kysely'
import type { Metric } from '../metric.ts'
import { buildItems } from './build-items.ts'

export const buildDuration: Metric = {
  name: 'build-duration',
  title: 'Build duration',
  definition: 'Mean seconds of the pipeline runs that succeeded or failed in the range.',
  unit: 'seconds',
  better: 'lower',
  summary: 'mean',
  madeOf: ['builds'],
  items: (query) => buildItems(query, sql`p.duration_sec`),
}
