/** Panels of incidents and the deployments that they are attributed to. */
import { sql } from 'kysely'
import { blameOf } from '../../metrics/blame.ts'
import type { Sql } from '../../metrics/calculate/calculation.ts'
import { ADDRESS, count, minutes, moment, share, TIME, text } from '../columns.ts'
import type { Panel, PanelQuery } from '../dashboard.ts'
import { minutesFrom, named, shareIf } from '../expressions.ts'
import { REMEDIES } from '../panels.ts'
import { projectDeployments, projectIncidents } from '../populations.ts'
import { eventsByInterval, isInRange, metricQueryOf } from '../statements.ts'
import { deploymentRows } from './deployments.ts'
import { leadTime } from './issues.ts'

/** Successful deployments to production. */
const successes = (query: PanelQuery): Sql => sql`select * from (${deploymentRows(projectDeployments, query)}) every_one
  where environment = 'PRODUCTION' and result = 'SUCCESS'`

/** The deployment (`deployment_id`) that each incident (`incident_id`) is attributed to. */
const blame = (query: PanelQuery): Sql => blameOf(metricQueryOf(query))

/** Null if the clocks of the tools contradict each other. */
const recoveryFrom = (query: PanelQuery, deployed: Sql): Sql =>
  sql`case when i.resolution_date >= ${deployed} then ${minutesFrom(query, deployed, sql`i.resolution_date`)} end`

export const deploymentsWithIncidents: Panel = {
  name: 'deployments-with-incidents',
  title: 'Deployments and the incidents attributed to them',
  definition:
    'One row for each incident whose deployment finished in the range. The deployment is the latest successful one to production before the incident began. Recovery is the time from the finish of the deployment to the resolution.',
  look: 'table',
  width: 24,
  height: 12,
  columns: {
    deployed: moment('Deployed'),
    deployment: text('Deployment', 'deployment_url'),
    incident: text('Incident', 'url'),
    began: moment('Began'),
    resolved: moment('Resolved'),
    recovery: minutes('Recovery'),
    deployment_url: ADDRESS,
    url: ADDRESS,
  },
  statement: (
    query,
  ) => sql`select own.at as deployed, own.title as deployment, i.title as incident, i.created_date as began,
    i.resolution_date as resolved, ${recoveryFrom(query, sql`own.at`)} as recovery,
    own.url as deployment_url, i.url
    from (${blame(query)}) held inner join (${successes(query)}) own on own.id = held.deployment_id
    inner join incidents i on i.id = held.incident_id where ${isInRange(query, sql`own.at`)}
    order by own.at desc, i.id limit 500`,
  remedy: REMEDIES.incidents,
}

export const incidentsAndDeployments: Panel = {
  name: 'incidents-and-deployments',
  title: 'Deployments, those that failed, and incidents',
  definition:
    'Successful deployments to production by date of finish, how many of them have an incident, and incidents by the date on which they began.',
  look: 'bars',
  columns: {
    time: TIME,
    deployments: count('Deployments'),
    failed: count('With an incident'),
    incidents: count('Incidents'),
  },
  statement: (query) => {
    const { from, where } = projectIncidents(query)
    return eventsByInterval(query, {
      deployments: sql`select at from (${successes(query)}) own`,
      failed: sql`select own.at from (${successes(query)}) own
        inner join (select distinct deployment_id from (${blame(query)}) each_one) held on held.deployment_id = own.id`,
      incidents: sql`select i.created_date as at ${from} where ${where}`,
    })
  },
  remedy: REMEDIES.deployments,
}

/** Shows failures by repository. A deployment of several repositories counts for each of them. */
export const failuresByRepository: Panel = {
  name: 'failures-by-repository',
  title: 'By repository',
  definition:
    'Successful deployments to production finished in the range by repository, and the share of them that have an incident. A deployment of several repositories counts for each of them.',
  look: 'ranking',
  better: 'lower',
  columns: { repository: text('Repository'), value: share('Change failure rate'), deployments: count('Deployments') },
  statement: (query) => {
    const { from, where } = projectDeployments(query)
    const own = sql`select distinct c.cicd_deployment_id as id, c.repo_id, c.repo_url ${from}
      where ${where} and c.result = 'SUCCESS' and c.environment = 'PRODUCTION' and ${isInRange(query, sql`c.finished_date`)}`
    const rows = sql`select ${named('no repository', sql`repos.name`, sql`own.repo_url`)} as repository, held.deployment_id
      from (${own}) own left join repos on repos.id = own.repo_id
      left join (select distinct deployment_id from (${blame(query)}) each_one) held on held.deployment_id = own.id`
    return sql`select repository, ${shareIf(query, sql`deployment_id is not null`)} as value, count(*) as deployments
      from (${rows}) each_one group by repository order by deployments desc, repository limit 50`
  },
  remedy: REMEDIES.deployments,
}

/** Shows deployments and incidents in the order of time. */
export const timeline: Panel = {
  name: 'timeline',
  title: 'Time line of deployments and incidents',
  definition:
    'Successful deployments to production and incidents of the range in one list, the latest first. An incident is attributed to the next deployment below it.',
  look: 'table',
  width: 24,
  height: 12,
  columns: {
    at: moment('When'),
    kind: text('What'),
    title: text('Title', 'url'),
    note: text('Note'),
    url: ADDRESS,
  },
  statement: (query) => {
    const { from, where } = projectIncidents(query)
    const deployments = sql`select at, 'Deployment' as kind, id, title, '' as note, url from (${successes(query)}) own`
    const incidents = sql`select i.created_date, 'Incident', i.id, i.title,
      case when i.resolution_date is null then 'not resolved' else 'resolved' end, i.url ${from} where ${where}`
    return sql`select at, kind, title, note, url from (${deployments} union all ${incidents}) happened
      where ${isInRange(query, sql`at`)} order by at desc, kind, id limit 500`
  },
  remedy: REMEDIES.deployments,
}

/** Shows incidents with both of their durations, as far as they are known. */
export const incidentTimes: Panel = {
  name: 'incident-times',
  title: 'Incidents and how long they took',
  definition:
    'Incidents that began or were resolved in the range. Time to restore begins with the creation of the incident; recovery begins with the finish of its deployment.',
  look: 'table',
  width: 24,
  height: 12,
  columns: {
    began: moment('Began'),
    resolved: moment('Resolved'),
    title: text('Incident', 'url'),
    component: text('Component'),
    deployment: text('Deployment'),
    restore: minutes('Time to restore'),
    recovery: minutes('Recovery'),
    url: ADDRESS,
  },
  statement: (query) => {
    const { from, where } = projectIncidents(query)
    return sql`select i.created_date as began, i.resolution_date as resolved, i.title, ${named('', sql`i.component`)} as component,
      case when held.deployment_id is null then 'none before it' else coalesce(cause.title, '') end as deployment,
      ${leadTime} as restore, ${recoveryFrom(query, sql`cause.at`)} as recovery, i.url
      ${from} left join (${blame(query)}) held on held.incident_id = i.id
      left join (${successes(query)}) cause on cause.id = held.deployment_id
      where ${where} and (${isInRange(query, sql`i.created_date`)} or ${isInRange(query, sql`i.resolution_date`)})
      order by i.created_date desc, i.id limit 500`
  },
  remedy: REMEDIES.incidents,
}
