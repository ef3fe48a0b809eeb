import { sql } from 'kysely'
import type { Dialect } from '../database/dialect.ts'
import { isOneOf, mapping, type Projects, type Sql } from './calculate/calculation.ts'
import { changesBlame, type Policy } from './policy/policy.ts'
import { stands } from './policy/rollouts.ts'

interface BlameQuery {
  readonly dialect: Dialect
  readonly project: Projects
  readonly environment: string
  readonly policy: Policy
}

/**
 * Returns the incidents (`project`, `id`) of the projects' scopes and of the issues on their boards. The incident itself names
 * only one board, but its issue may be on boards of several projects.
 */
export function incidentIdsOf(dialect: Dialect, projects: Projects): Sql {
  const select = sql`select ${sql.raw(dialect.joinAsWritten)} m.project_name as project, i.id`
  const ofProject = isOneOf(sql`m.project_name`, projects)
  const table = sql.id('table')
  return sql`${select} from project_mapping m
      inner join incidents i on i.${table} = m.${table} and i.scope_id = m.row_id where ${ofProject}
    union ${select} from project_mapping m inner join board_issues b on b.board_id = m.row_id
      inner join incidents i on i.id = b.issue_id and i.${table} = 'boards' where ${ofProject} and m.${table} = 'boards'`
}

/**
 * Returns the deployment that each incident comes from (`project`, `incident_id`, `deployment_id`). Stored rows are used where every row of
 * a deployment counts, because that is how DevLake stores them. Otherwise it is calculated.
 */
export const blameOf = (query: BlameQuery): Sql =>
  changesBlame(query.policy) || query.environment !== 'PRODUCTION' || query.policy.rollouts !== 'every-row'
    ? latestDeployments(query)
    : sql`select project_name as project, id as incident_id, deployment_id from project_incident_deployment_relationships
        where ${isOneOf(sql`project_name`, query.project)}`

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
  const deployments = sql`select project, service, finished_date, min(deployment_id) as deployment_id from (
      ${select} scope.project_name as project, ${service('s.name')} as service, d.finished_date, d.cicd_deployment_id as deployment_id
      from ${scope.from} inner join cicd_deployment_commits d on d.cicd_scope_id = scope.row_id
      left join cicd_scopes s on s.id = scope.row_id
      where ${scope.where} and d.result = 'SUCCESS' and d.environment = ${environment} and d.finished_date is not null
        and ${stands({ project: sql`scope.project_name`, policy }, sql`d.cicd_deployment_id`)}
    ) each_commit group by project, service, finished_date`
  return sql`${select} line.project, line.incident_id, d.deployment_id
    from (select project, incident_id, at, service, max(finished_date) over (
        partition by project, service order by at, turn rows between unbounded preceding and current row) as latest
      from (
        select own.project, i.id as incident_id, i.created_date as at, ${service('i.component')} as service, 0 as turn,
          case when 1 = 0 then i.created_date end as finished_date
        from (${incidentIdsOf(dialect, project)}) own inner join incidents i on i.id = own.id
        where i.created_date is not null
        union all
        select project, null, finished_date, service, 1, finished_date from (${deployments}) own
      ) happened) line
    inner join (${deployments}) d on d.project = line.project and d.finished_date = line.latest and d.service = line.service
    where line.incident_id is not null and ${recent}`
}

/** Tells whether the component of any incident of the project is the name of something that the project deploys. */
export function namesService(dialect: Dialect, project: Projects): Sql {
  const scope = mapping('scope', 'cicd_scopes', project)
  return sql`exists (select 1 from (${incidentIdsOf(dialect, project)}) own inner join incidents i on i.id = own.id
    where lower(coalesce(i.component, '')) in (select lower(coalesce(s.name, '')) from ${scope.from}
      left join cicd_scopes s on s.id = scope.row_id where ${scope.where}))`
}
