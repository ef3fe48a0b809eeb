import type { Metric } from '../metric.ts'
import { storedItems } from './merged-items.ts'

export const pullRequestPickupTime: Metric = {
  name: 'pull-request-pickup-time',
  title: 'Pull request pickup time',
  definition:
    'Mean minutes from creation to the first comment or review by somebody else, of pull requests merged in the range.',
  unit: 'minutes',
  better: 'lower',
  summary: 'mean',
  madeOf: ['pull requests'],
  hasReadings: true,
  items: (query) => storedItems(query, 'pr_pickup_time'),
}
