import type { Metric } from '../metric.ts'
import { reworked } from '../rework.ts'
import { deploymentItems } from './deployment-items.ts'

export const reworkRate: Metric = {
  name: 'rework-rate',
  title: 'Rework rate',
  happened: 'repaired an earlier one',
  definition:
    'Share of the successful deployments to production that were unplanned repairs: they brought a revert, a branch ' +
    'named hotfix, or a pull request that names a bug or an incident.',
  unit: 'share',
  better: 'lower',
  summary: 'mean',
  madeOf: ['deployments', 'pull requests', 'history'],
  isOfRework: true,
  items: (query) => deploymentItems(query, { marks: reworked(query) }),
}
