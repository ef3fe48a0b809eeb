/** Panels about the success and duration of deployments, for any population of deployed commits (`c`). */
import { sql } from 'kysely'
import type { Sql } from '../../metrics/calculate/calculation.ts'
import { count, moment, seconds, share, TIME, text } from '../columns.ts'
import type { Panel, PanelQuery } from '../dashboard.ts'
import { countIf, mean, named, shareIf } from '../expressions.ts'
import type { Population } from '../populations.ts'
import { isInRange, measuresByInterval } from '../statements.ts'
import { deploymentRows, remedy } from './deployments.ts'

/** Deployments to any environment that succeeded or failed. */
const decided = (population: Population, query: PanelQuery): Sql =>
  sql`select * from (${deploymentRows(population, query)}) known where result in ('SUCCESS', 'FAILURE')`

const number = { look: 'number', width: 6, height: 5, remedy } as const

export const deploymentSuccess = (population: Population): Panel => ({
  ...number,
  name: 'deployment-success',
  title: 'Deployment success',
  definition: 'Share of the deployments that succeeded among those that succeeded or failed in the range.',
  better: 'higher',
  columns: { value: share('Succeeded'), counted: count('Deployments') },
  statement: (query) => sql`select ${shareIf(query, sql`result = 'SUCCESS'`)} as value, count(*) as counted
    from (${decided(population, query)}) own where ${isInRange(query, sql`at`)}`,
})

export const meanDeploymentDuration = (population: Population): Panel => ({
  ...number,
  name: 'mean-deployment-duration',
  title: 'Deployment duration',
  definition: 'Mean duration of the deployments that succeeded or failed in the range.',
  better: 'lower',
  columns: { value: seconds('Duration'), counted: count('Deployments') },
  statement: (query) => sql`select ${mean(query, sql`duration`)} as value, count(duration) as counted
    from (${decided(population, query)}) own where ${isInRange(query, sql`at`)}`,
})

export const deploymentFailures = (population: Population): Panel => ({
  ...number,
  name: 'failed-deployments',
  title: 'Failed deployments',
  definition: 'Deployments that failed in the range, to any environment.',
  better: 'lower',
  columns: { value: count('Failed') },
  statement: (query) => sql`select coalesce(${countIf(sql`result = 'FAILURE'`)}, 0) as value
    from (${decided(population, query)}) own where ${isInRange(query, sql`at`)}`,
})

export const deploymentDurationSeries = (population: Population): Panel => ({
  name: 'deployment-duration-series',
  title: 'Deployment duration over time',
  definition: 'Mean duration of the deployments that succeeded or failed, by date of finish.',
  look: 'lines',
  better: 'lower',
  columns: { time: TIME, value: seconds('Duration'), counted: count('Deployments') },
  statement: (query) =>
    measuresByInterval(query, decided(population, query), {
      values: { value: mean(query, sql`duration`) },
      counts: { counted: sql`count(duration)` },
    }),
  remedy,
})

export const deploymentsByScope = (population: Population, title: string): Panel => ({
  name: 'deployments-by-scope',
  title: `Deployments by ${title.toLowerCase()}`,
  definition: 'Deployments finished in the range, to any environment, how many of them failed, and the latest.',
  look: 'ranking',
  columns: {
    scope: text(title),
    value: count('Deployments'),
    failed: count('Failed'),
    latest: moment('Latest'),
  },
  statement: (query) => {
    const { from, where } = population(query)
    const rows = sql`select distinct c.cicd_scope_id, c.cicd_deployment_id, c.result, c.finished_date ${from}
      where ${where} and ${isInRange(query, sql`c.finished_date`)}`
    return sql`select ${named('no name', sql`scope.name`, sql`own.cicd_scope_id`)} as scope, count(*) as value,
      ${countIf(sql`own.result = 'FAILURE'`)} as failed, max(own.finished_date) as latest
      from (${rows}) own left join cicd_scopes scope on scope.id = own.cicd_scope_id
      group by own.cicd_scope_id, scope.name order by value desc, scope limit 50`
  },
  remedy,
})
