import { sql } from 'kysely'
import { blameOf } from '../blame.ts'
import type { Sql } from '../calculate/calculation.ts'
import { firstOf, isOfOtherTime, LOWER_MEDIAN, type Metric, type MetricQuery, outside, selectItems } from '../metric.ts'
import { deploymentCommitsOf, incidentsOf, ofTicket } from '../sources.ts'
import { serviceRecoveryTime } from './service-recovery-time.ts'

const key = {
  name: 'failed-deployment-recovery-time',
  title: 'Failed deployment recovery time',
  shortTitle: 'Recovery time',
  benchmark: { 2023: 'Failed deployment recovery time' },
} as const

export const recoveryTime: Metric = {
  ...key,
  definition:
    'Median minutes from the finish of a deployment to the resolution of the incident that is attributed to it, by date ' +
    'of the deployment. Both must be in the range.' +
    LOWER_MEDIAN,
  unit: 'minutes',
  better: 'lower',
  summary: 'median',
  madeOf: ['deployments', 'incidents'],
  counts: 'incidents',
  inServiceReport: { ...serviceRecoveryTime, ...key },
  items: (query) => {
    const { dialect } = query
    const seconds = sql.raw(dialect.secondsBetween('told.at', 'i.resolution_date'))
    return selectItems(dialect, {
      kind: 'incident',
      id: sql`i.id`,
      at: sql`told.at`,
      value: sql`floor(${seconds} / 60)`,
      reason: firstOf(
        ['other_time', sql`told.at is null and ${isOfOtherTime(sql`i.created_date`, query)}`],
        ['no_deployment_before_incident', sql`told.at is null`],
        ['deployment_outside_time_range', outside(sql`told.at`, query)],
        ['not_resolved', sql`i.resolution_date is null`],
        ['clock_backwards', sql`i.resolution_date < told.at`],
        ['outside_time_range', outside(sql`i.resolution_date`, query)],
      ),
      ...ofTicket,
      project: sql`told.project`,
      from: sql`from (${incidentsWithDeployment(query)}) told inner join incidents i on i.id = told.id where 1 = 1`,
    })
  },
}

/** Returns each incident of a project (`project`, `id`) with the finish of the deployment that it is attributed to (`at`), if there is one. */
function incidentsWithDeployment(query: MetricQuery): Sql {
  const { from, where } = incidentsOf(query)
  const commits = deploymentCommitsOf({ ...query, team: undefined })
  return sql`select blamed.project, blamed.id, finished.at
    from (select project, id, max(deployment_id) as deployment_id from (
        select own.project, i.id, case when 1 = 0 then i.id end as deployment_id, 1 as is_own ${from} where ${where}
        union all select project, incident_id, deployment_id, 0 from (${blameOf(query)}) known
      ) stacked group by project, id having max(is_own) = 1) blamed
    left join (select scope.project_name as project, c.cicd_deployment_id as id, max(c.finished_date) as at ${commits.from}
        where ${commits.where} and c.result = 'SUCCESS' and c.environment = ${query.environment}
        group by scope.project_name, c.cicd_deployment_id) finished
      on finished.project = blamed.project and finished.id = blamed.deployment_id`
}
