import type { Metric } from '../metric.ts'
import { storedItems } from './merged-items.ts'

export const pullRequestCycleTime: Metric = {
  name: 'pull-request-cycle-time',
  title: 'Pull request cycle time',
  definition:
    'Mean minutes from first commit to deployment of pull requests merged in the range; the part after the merge counts once it is known.',
  unit: 'minutes',
  better: 'lower',
  summary: 'mean',
  madeOf: ['pull requests'],
  hasReadings: true,
  items: (query) => storedItems(query, 'pr_cycle_time'),
}
