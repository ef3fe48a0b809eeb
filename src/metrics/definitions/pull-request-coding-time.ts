import type { Metric } from '../metric.ts'
import { storedItems } from './merged-items.ts'

export const pullRequestCodingTime: Metric = {
  name: 'pull-request-coding-time',
  title: 'Pull request coding time',
  definition: 'Mean minutes from the first commit to the creation of the pull request, of those merged in the range.',
  unit: 'minutes',
  better: 'lower',
  summary: 'mean',
  madeOf: ['pull requests'],
  hasReadings: true,
  items: (query) => storedItems(query, 'pr_coding_time'),
}
