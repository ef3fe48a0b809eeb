import type { Metric } from '../metric.ts'
import { deploymentItems } from './deployment-items.ts'

export const deploymentFrequency: Metric = {
  name: 'deployment-frequency',
  title: 'Deployment frequency',
  definition:
    'Days with at least one successful deployment to production, as the median over the weeks (from Monday) that the ' +
    'range touches; weeks without any count as 0. The series counts deployments. A deployment of several ' +
    'repositories is one, dated by its latest finish.',
  unit: 'days per week',
  better: 'higher',
  summary: 'days',
  madeOf: ['deployments'],
  benchmark: { 2021: 'Deployment frequency', 2023: 'Deployment frequency' },
  items: (query) => deploymentItems(query),
}
