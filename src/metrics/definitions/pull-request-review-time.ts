import type { Metric } from '../metric.ts'
import { storedItems } from './merged-items.ts'

export const pullRequestReviewTime: Metric = {
  name: 'pull-request-review-time',
  title: 'Pull request review time',
  definition: 'Mean minutes from the first comment or review to the merge, of pull requests merged in the range.',
  unit: 'minutes',
  better: 'lower',
  summary: 'mean',
  madeOf: ['pull requests'],
  hasReadings: true,
  items: (query) => storedItems(query, 'pr_review_time'),
}
