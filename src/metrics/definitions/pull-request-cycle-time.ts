import type { Metric } from '../metric.ts'
import { storedItems } from './merged-items.ts'

export const pullRequestCycleTime: Metric = {
  name: 'pull-request-cycle-time',
  title: 'Pull request cycle time',
  definition:
    'Mean minutes from first commit to deployment of pull requests merged in the range. For those that are not deployed yet, the time ends with the merge.',
  unit: 'minutes',
  better: 'lower',
  summary: 'mean',
  madeOf: ['pull requests'],
  hasReadings: true,
  items: (query) => storedItems(query, 'pr_cycle_time'),
}
