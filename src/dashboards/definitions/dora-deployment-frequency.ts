import { sql } from 'kysely'
import { deploymentFrequency } from '../../metrics/definitions/deployment-frequency.ts'
import { count, share, TIME } from '../columns.ts'
import type { Dashboard, Panel } from '../dashboard.ts'
import { shareIf } from '../expressions.ts'
import { numberPanel, REMEDIES, seriesPanel, WORDS } from '../panels.ts'
import {
  deploymentResults,
  deploymentRows,
  deploymentsByRepository,
  deploymentsCount,
  latestDeployments,
} from '../parts/deployments.ts'
import { projectDeployments } from '../populations.ts'
import { countedItems, daysOf, isInRange, measuresByInterval } from '../statements.ts'
import { INTERVAL, PROJECT } from '../variables.ts'

const daysPerMonth: Panel = {
  name: 'days-per-month',
  title: 'Deployment days a month',
  definition:
    'Median number of days per month with at least one successful deployment to production, over the whole months in the range. It grades projects that deploy less than weekly.',
  look: 'number',
  width: 6,
  height: 5,
  better: 'higher',
  columns: { value: count('Days a month'), counted: count('Deployments'), words: WORDS },
  statement: (query) => daysOf(query, deploymentFrequency, 'month'),
  remedy: 'No whole month lies in the range: choose a longer one.',
}

const failures: Panel = {
  name: 'failed-deployments',
  title: 'Deployments that did not succeed',
  definition:
    'Share of the deployments to production finished in the range that failed or have no result. They count for no key; an incident counts against a deployment that succeeded.',
  look: 'number',
  width: 6,
  height: 5,
  better: 'lower',
  columns: { value: share('Did not succeed'), counted: count('Deployments') },
  statement: (query) => sql`select ${shareIf(query, sql`result <> 'SUCCESS'`)} as value, count(*) as counted
    from (${deploymentRows(projectDeployments, query)}) own where environment = 'PRODUCTION' and ${isInRange(query, sql`at`)}`,
  remedy: REMEDIES.deployments,
}

const days: Panel = {
  name: 'deployment-days',
  title: 'Days with deployments',
  definition:
    'Days with at least one successful deployment to production, in each interval. By week, the deployment frequency is the median of these numbers.',
  look: 'bars',
  better: 'higher',
  columns: { time: TIME, value: count('Days') },
  statement: (query) => {
    const rows = sql`select at, ${sql.raw(query.dialect.startOf('day', 'at'))} as day from (${countedItems(query, deploymentFrequency)}) item`
    return measuresByInterval(query, rows, { counts: { value: sql`count(distinct day)` } })
  },
  remedy: REMEDIES.deployments,
}

export const doraDeploymentFrequency: Dashboard = {
  name: 'dora-deployment-frequency',
  title: 'Deployment frequency',
  question: 'Which deployments, on which days, and what is the frequency made of?',
  group: 'Delivery',
  variables: [PROJECT, INTERVAL],
  sections: [
    { panels: [numberPanel(deploymentFrequency), daysPerMonth, deploymentsCount(projectDeployments), failures] },
    {
      panels: [
        seriesPanel(deploymentFrequency, { title: 'Deployments' }),
        days,
        deploymentsByRepository(projectDeployments),
        deploymentResults(projectDeployments),
      ],
    },
    { panels: [latestDeployments(projectDeployments)] },
  ],
}
