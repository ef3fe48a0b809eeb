import { LOWER_MEDIAN, type Metric } from '../metric.ts'
import { deploymentItems } from './deployment-items.ts'

export const deploymentFrequency: Metric = {
  name: 'deployment-frequency',
  title: 'Deployment frequency',
  definition:
    'Median number of days per week with at least one successful deployment to production, over the weeks (from Monday) ' +
    'that the range touches. A week without a deployment counts as 0. The series counts deployments. A deployment of ' +
    'several repositories counts once, by its latest finish.' +
    LOWER_MEDIAN,
  unit: 'days per week',
  better: 'higher',
  summary: 'days',
  madeOf: ['deployments'],
  benchmark: { 2021: 'Deployment frequency', 2023: 'Deployment frequency' },
  items: (query) => deploymentItems(query),
}
