/** Incidents from issues, and the deployment that each is held to come from. */
import { sql } from 'kysely'
import { projectIncidentDeploymentRelationships } from '../../domain/crossdomain.ts'
import { incidentAssignees, incidents } from '../../domain/ticket.ts'
import { latestDeployments } from '../blame.ts'
import { REFERENCE } from '../policy.ts'
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

export const connectIncidentToDeployment: Calculation = ({ database, options }) => {
  const project = projectOf(options)
  const { dialect } = database
  return swap(database, async (inside) => {
    await sql`delete from project_incident_deployment_relationships where project_name = ${project}`.execute(
      inside.kysely,
    )
    return fill(inside, {
      table: projectIncidentDeploymentRelationships,
      columns: {
        id: sql`i.id`,
        project_name: sql`${project}`,
        deployment_id: sql`blamed.deployment_id`,
        ...originOf('i'),
      },
      from: sql`from (${latestDeployments({ dialect, project, environment: 'PRODUCTION', policy: REFERENCE })}) blamed
        inner join incidents i on i.id = blamed.incident_id where 1 = 1`,
    })
  })
}
