/** Incidents from issues, and the deployment that each is held to come from. */
import { sql } from 'kysely'
import { projectIncidentDeploymentRelationships } from '../../domain/crossdomain.ts'
import { incidentAssignees, incidents } from '../../domain/ticket.ts'
import { type Calculation, copied, fill, mapped, originOf, projectOf, swap, word, words } from './calculation.ts'

export const convertIssuesToIncidents: Calculation = ({ database, options }) => {
  const boards = mapped('boards', projectOf(options))
  // An issue that is no incident any more goes too; an incident that never was an issue stays.
  const outdated = sql`select distinct b.issue_id from board_issues b inner join issues i on i.id = b.issue_id
    where b.board_id in (${boards})`
  const found = sql`with found as (
    select b.issue_id, max(b.board_id) as board_id from board_issues b inner join issues i on i.id = b.issue_id
    where b.board_id in (${boards}) and i.type = 'INCIDENT' group by b.issue_id)`
  return swap(database, async (inside) => {
    await sql`delete from incident_assignees where incident_id in (${outdated})`.execute(inside.kysely)
    await sql`delete from incidents where id in (${outdated})`.execute(inside.kysely)
    const made = await fill(inside, {
      table: incidents,
      with: found,
      columns: {
        ...words('i', 'id', 'url', 'title', 'description', 'status', 'original_status', 'creator_id', 'creator_name'),
        ...words('i', 'priority', 'severity', 'urgency', 'component', 'original_project'),
        ...words('i', 'assignee_id', 'assignee_name'),
        incident_key: word('i.issue_key'),
        parent_incident_id: word('i.parent_issue_id'),
        ...copied('i', 'resolution_date', 'created_date', 'updated_date', 'lead_time_minutes'),
        ...copied('i', 'original_estimate_minutes', 'time_spent_minutes', 'time_remaining_minutes'),
        table: sql`'boards'`,
        scope_id: sql`found.board_id`,
        ...originOf('i'),
      },
      from: sql`from found inner join issues i on i.id = found.issue_id where 1 = 1`,
    })
    const assigned = await fill(inside, {
      table: incidentAssignees,
      with: found,
      columns: { incident_id: sql`i.id`, ...words('i', 'assignee_id', 'assignee_name'), ...originOf('i') },
      from: sql`from found inner join issues i on i.id = found.issue_id where 1 = 1`,
    })
    const further = await fill(inside, {
      table: incidentAssignees,
      with: found,
      columns: { incident_id: sql`a.issue_id`, ...words('a', 'assignee_id', 'assignee_name'), ...originOf('a') },
      from: sql`from found inner join issue_assignees a on a.issue_id = found.issue_id where 1 = 1`,
    })
    return made + assigned + further
  })
}

/** The latest success in production that was finished before the incident began. */
export const connectIncidentToDeployment: Calculation = ({ database, options }) => {
  const project = projectOf(options)
  return swap(database, async (inside) => {
    await sql`delete from project_incident_deployment_relationships where project_name = ${project}`.execute(
      inside.kysely,
    )
    return fill(inside, {
      table: projectIncidentDeploymentRelationships,
      // Incidents and deployments in one line of time: the running maximum is the latest deployment before.
      with: sql`with deployments as (
          select finished_date, min(cicd_deployment_id) as deployment_id from cicd_deployment_commits
          where cicd_scope_id in (${mapped('cicd_scopes', project)}) and result = 'SUCCESS'
            and environment = 'PRODUCTION' and finished_date is not null
          group by finished_date
        ), happened as (
          select i.id as incident_id, i.created_date as at, 0 as turn, case when 1 = 0 then i.created_date end as finished_date
          from incidents i inner join project_mapping m on m.${sql.id('table')} = i.${sql.id('table')} and m.row_id = i.scope_id
          where m.project_name = ${project} and i.created_date is not null
          union all
          select null, finished_date, 1, finished_date from deployments
        ), line as (
          select incident_id, max(finished_date) over (
            order by at, turn rows between unbounded preceding and current row) as latest
          from happened
        )`,
      columns: {
        id: sql`line.incident_id`,
        project_name: sql`${project}`,
        deployment_id: sql`d.deployment_id`,
        ...originOf('i'),
      },
      from: sql`from line inner join deployments d on d.finished_date = line.latest
        inner join incidents i on i.id = line.incident_id where line.incident_id is not null`,
    })
  })
}
