import { sql } from 'kysely'
import type { Dialect } from '../database/dialect.ts'
import { mapping, type Sql } from './calculate/calculation.ts'
import { changesBlame, type Policy } from './policy/policy.ts'
import { stands } from './policy/rollouts.ts'

interface BlameQuery {
  readonly dialect: Dialect
  readonly project: string | Sql
  readonly environment: string
  readonly policy: Policy
}

/**
 * Returns the incidents (`id`) of the project's scopes and of the issues on its boards. The incident itself names only one board,
 * but its issue may be on boards of several projects.
 */
export function incidentIdsOf(dialect: Dialect, project: string | Sql): Sql {
  const select = sql`select ${sql.raw(dialect.joinAsWritten)}`
  const ofProject = sql`m.project_name = ${project}`
  const table = sql.id('table')
  return sql`${select} i.id from project_mapping m
      inner join incidents i on i.${table} = m.${table} and i.scope_id = m.row_id where ${ofProject}
    union ${select} i.id from project_mapping m inner join board_issues b on b.board_id = m.row_id
      inner join incidents i on i.id = b.issue_id and i.${table} = 'boards' where ${ofProject} and m.${table} = 'boards'`
}

/**
 * Returns the deployment that each incident comes from (`incident_id`, `deployment_id`). Stored rows are used where every row of
 * a deployment counts, because that is how DevLake stores them. Otherwise it is calculated.
 */
export const blameOf = (query: BlameQuery): Sql =>
  changesBlame(query.policy) || query.environment !== 'PRODUCTION' || query.policy.rollouts !== 'every-row'
    ? latestDeployments(query)
    : sql`select id as incident_id, deployment_id from project_incident_deployment_relationships
        where project_name = ${query.project}`

/**
 * Finds the latest success that was finished before the incident began. Incidents and deployments are put into one timeline,
 * where the running maximum is the latest deployment so far, so no incident has to be compared with every deployment.
 */
export function latestDeployments({ dialect, project, environment, policy }: BlameQuery): Sql {
  const scope = mapping('scope', 'cicd_scopes', project)
  const service = (name: string) => (policy.blameByService ? sql`lower(coalesce(${sql.ref(name)}, ''))` : sql`''`)
  const select = sql`select ${sql.raw(dialect.joinAsWritten)}`
  const recent =
    policy.blameWithinHours === null
      ? sql`1 = 1`
      : sql`${sql.raw(dialect.secondsBetween('line.latest', 'line.at'))} <= ${policy.blameWithinHours * 3600}`
  const deployments = sql`select service, finished_date, min(deployment_id) as deployment_id from (
      ${select} ${service('s.name')} as service, d.finished_date, d.cicd_deployment_id as deployment_id
      from ${scope.from} inner join cicd_deployment_commits d on d.cicd_scope_id = scope.row_id
      left join cicd_scopes s on s.id = scope.row_id
      where ${scope.where} and d.result = 'SUCCESS' and d.environment = ${environment} and d.finished_date is not null
        and ${stands({ project, policy }, sql`d.cicd_deployment_id`)}
    ) each_commit group by service, finished_date`
  return sql`${select} line.incident_id, d.deployment_id
    from (select incident_id, at, service, max(finished_date) over (
        partition by service order by at, turn rows between unbounded preceding and current row) as latest
      from (
        select i.id as incident_id, i.created_date as at, ${service('i.component')} as service, 0 as turn,
          case when 1 = 0 then i.created_date end as finished_date
        from (${incidentIdsOf(dialect, project)}) own inner join incidents i on i.id = own.id
        where i.created_date is not null
        union all
        select null, finished_date, service, 1, finished_date from (${deployments}) own
      ) happened) line
    inner join (${deployments}) d on d.finished_date = line.latest and d.service = line.service
    where line.incident_id is not null and ${recent}`
}

/** Tells whether the component of any incident of the project is the name of something that the project deploys. */
export function namesService(dialect: Dialect, project: string | Sql): Sql {
  const scope = mapping('scope', 'cicd_scopes', project)
  return sql`exists (select 1 from (${incidentIdsOf(dialect, project)}) own inner join incidents i on i.id = own.id
    where lower(coalesce(i.component, '')) in (select lower(coalesce(s.name, '')) from ${scope.from}
      left join cicd_scopes s on s.id = scope.row_id where ${scope.where}))`
}
