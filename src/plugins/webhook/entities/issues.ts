import {
  bigint,
  double,
  key,
  optional,
  type RowOf,
  required,
  string,
  text,
  timestamp,
} from '../../../database/table.ts'
import { ISSUE_TYPES } from '../../../domain/enums.ts'
import { boardIssues, issues as domainIssues, incidentAssignees, incidents } from '../../../domain/ticket.ts'
import { type EntityContext, fromFields, type Message, oneOf } from '../../../plugin-kit/index.ts'
import { entity, spanOf, table } from '../kit.ts'

export const fields = fromFields({
  issue_key: key(string(200)),
  title: required(text()),
  status: required(oneOf(['TODO', 'IN_PROGRESS', 'DONE'], string(100))),
  original_status: required(string(100)),
  created_date: required(timestamp()),
  type: string(100),
  url: string(),
  description: text(),
  epic_key: string(),
  parent_issue_key: string(200),
  story_point: optional(double()),
  resolution_date: timestamp(),
  updated_date: timestamp(),
  lead_time_minutes: optional(bigint()),
  original_estimate_minutes: optional(bigint()),
  time_spent_minutes: optional(bigint()),
  time_remaining_minutes: optional(bigint()),
  creator_id: string(200),
  creator_name: string(),
  assignee_id: string(200),
  assignee_name: string(),
  priority: string(),
  severity: string(),
  component: string(),
})

export const issues = table('issues', fields)

const MINUTE_MS = 60_000
/** Returns the type of the domain model if the text is one in any upper or lower case. Otherwise the text itself. */
const typeOf = (type: string): string => ISSUE_TYPES.find((known) => known === type.toUpperCase()) ?? type

/** The columns that an issue shares with the incident that is made from it. */
function ticketOf(issue: RowOf<typeof issues>, { idOf }: EntityContext<undefined, undefined>) {
  return {
    ...issue,
    id: idOf(issues, issue.issue_key),
    creator_id: idOf(issues, issue.creator_id),
    assignee_id: idOf(issues, issue.assignee_id),
    // Reports on services use the date of the last update, and not every sender gives it.
    updated_date: issue.updated_date ?? issue.resolution_date ?? issue.created_date,
    lead_time_minutes: issue.lead_time_minutes || spanOf(issue.created_date, issue.resolution_date, MINUTE_MS),
  }
}

const issueEntity = entity(issues, {
  label: 'Issues',
  domainTypes: ['TICKET'],
  raw: 'webhook_issues',
  convert: {
    to: [domainIssues, boardIssues, incidents, incidentAssignees],
    owns: [
      { table: incidents, by: { id: 'id' } },
      { table: incidentAssignees, by: { incident_id: 'id' } },
    ],
    *rows(issue, context) {
      const ticket = ticketOf(issue, context)
      const board = context.idOf(issues)
      const parent = context.idOf(issues, issue.parent_issue_key)
      const type = typeOf(issue.type)
      yield domainIssues.row({ ...ticket, type, original_type: issue.type, parent_issue_id: parent })
      yield boardIssues.row({ board_id: board, issue_id: ticket.id })
      if (type !== 'INCIDENT') return
      const origin = { table: 'boards', scope_id: board }
      yield incidents.row({ ...ticket, ...origin, incident_key: issue.issue_key, parent_incident_id: parent })
      const { id: incident_id, assignee_id, assignee_name } = ticket
      if (assignee_id) yield incidentAssignees.row({ incident_id, assignee_id, assignee_name })
    },
  },
})
export default issueEntity

export const issueMessage: Message = { entity: issueEntity, fields }
