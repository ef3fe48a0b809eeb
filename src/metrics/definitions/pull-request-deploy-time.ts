import type { Metric } from '../metric.ts'
import { storedItems } from './merged-items.ts'

export const pullRequestDeployTime: Metric = {
  name: 'pull-request-deploy-time',
  title: 'Pull request deploy time',
  definition: 'Mean minutes from merge to deployment, of pull requests merged in the range and deployed since.',
  unit: 'minutes',
  better: 'lower',
  summary: 'mean',
  madeOf: ['deployments', 'pull requests', 'history'],
  counts: 'pull requests',
  hasReadings: true,
  items: (query) => storedItems(query, 'pr_deploy_time'),
}
