import { bigint, key, type RowOf, string, text, timestamp, zeroTime } from '../../../database/table.ts'
import { classify } from '../../../domain/classify.ts'
import { boardIssues, issueAssignees, issues } from '../../../domain/ticket.ts'
import { manyByKey, wholeTable } from '../../../plugin-kit/index.ts'
import { entity, PAGE, services, table, WITH_TOTAL } from '../kit.ts'
import { teams, users } from './people.ts'

export const incidents = table('incidents', 'Incident', {
  number: key(bigint('incident_number')),
  url: text('html_url'),
  service_id: text('service.id'),
  summary: text(),
  status: text(),
  urgency: text(),
  priority: text(({ priority }) => priority?.summary ?? priority?.name ?? ''),
  created_date: zeroTime(timestamp('created_at')),
  updated_date: zeroTime(timestamp('last_status_change_at')),
})
export const assignments = table('assignments', 'Assignment', {
  user_id: key(string(191, 'assignee.id')),
  incident_number: key(bigint()),
  assigned_at: zeroTime(timestamp('at')),
})
/** People who were asked for help. DevLake leaves them out. */
export const responders = table('responders', 'Responder', {
  user_id: key(string(191, 'user.id')),
  incident_number: key(bigint()),
  state: string(100),
})
export const incidentTeams = table('incident_teams', 'IncidentTeam', {
  team_id: key(string(191, 'id')),
  incident_number: key(bigint()),
})

const STATUS = { TODO: ['triggered'], IN_PROGRESS: ['acknowledged'], DONE: ['resolved'] }
const UNRESOLVED = ['triggered', 'acknowledged']
const DAY = 24 * 60 * 60 * 1000

const latestOf = (found: readonly RowOf<typeof assignments>[] = []) =>
  found.toSorted((one, other) => Number(other.assigned_at) - Number(one.assigned_at))[0]

export default entity(incidents, {
  label: 'Incidents',
  domainTypes: ['TICKET', 'CROSS'],
  raw: 'pagerduty_incidents',
  collect: {
    tellsIncidents: true,
    request: ({ scope }) => ({
      path: 'incidents',
      query: { 'service_ids[]': scope.id, sort_by: 'created_at:desc', ...WITH_TOTAL },
    }),
    paging: PAGE,
    records: (body) => body.incidents,
    incremental: {
      newestFirstBy: 'created_at',
      // Resolved incidents can be opened again, or get another priority.
      lookBack: { days: 30, changedBy: 'updated_at' },
      refetch: {
        where: { status: UNRESOLVED },
        request: ({ number }) => ({ path: `incidents/${number}` }),
        records: ({ incident }) => [incident],
      },
    },
    // https://developer.pagerduty.com/api-reference/9d0b4b12e36f9-list-incidents: a range has at most 6 months.
    windows: {
      cap: 10_000,
      earliest: new Date('2009-01-01T00:00:00Z'), // before PagerDuty
      whole: { date_range: 'all' },
      oldest: { query: { sort_by: 'created_at:asc' }, at: ({ incidents }) => incidents?.[0]?.created_at },
      longest: 180 * DAY,
      isEndExclusive: true,
      query: ({ from, to }) => ({ since: from.toISOString(), until: to.toISOString() }),
      total: ({ body }) => body.total,
      by: 'created_date',
    },
  },
  extract: {
    writes: [users, teams],
    owns: [assignments, responders, incidentTeams].map((each) => ({
      table: each,
      by: { connection_id: 'connection_id', incident_number: 'number' },
    })),
    *rows(incident, { read, scope }) {
      // An incident that was moved to another service belongs to that service.
      if (incident.service?.id !== scope.id) return
      yield read(incidents, incident)
      const own = { incident_number: incident.incident_number }
      for (const each of incident.assignments ?? []) {
        if (!each.assignee?.id) continue
        yield read(assignments, each, own)
        yield read(users, each.assignee)
      }
      for (const each of incident.incidents_responders ?? []) {
        if (!each.user?.id) continue
        yield read(responders, each, own)
        yield read(users, each.user)
      }
      for (const each of incident.teams ?? []) {
        yield read(incidentTeams, each, own)
        yield read(teams, each)
      }
    },
  },
  convert: {
    to: [issues, boardIssues, issueAssignees],
    owns: [{ table: issueAssignees, by: { issue_id: 'id' } }],
    lookups: {
      assignments: manyByKey(assignments, 'incident_number', ({ number }) => number),
      responders: manyByKey(responders, 'incident_number', ({ number }) => number),
      users: wholeTable(users, 'id'),
    },
    *rows({ number, ...incident }, { idOf, lookups }) {
      const id = idOf(incidents, number)
      const nameOf = (user: string) => lookups.users.get(user)?.name ?? ''
      const assignee = latestOf(lookups.assignments.get(number))?.user_id
      const isResolved = classify(incident.status, STATUS, 'OTHER') === 'DONE'
      const minutes = Math.trunc((Number(incident.updated_date) - Number(incident.created_date)) / 60_000)
      yield issues.row({
        id,
        url: incident.url,
        issue_key: String(number),
        description: incident.summary,
        type: 'INCIDENT',
        status: classify(incident.status, STATUS, 'OTHER'),
        original_status: incident.status,
        resolution_date: isResolved ? incident.updated_date : null,
        created_date: incident.created_date,
        updated_date: incident.updated_date,
        lead_time_minutes: isResolved ? Math.max(0, minutes) : null,
        // As in DevLake, this is PagerDuty's id. The id of the account is in issue_assignees.
        assignee_id: assignee ?? '',
        assignee_name: assignee ? nameOf(assignee) : '',
        priority: incident.priority,
        urgency: incident.urgency,
      })
      yield boardIssues.row({ board_id: idOf(services, incident.service_id), issue_id: id })
      const everyone = [...(lookups.assignments.get(number) ?? []), ...(lookups.responders.get(number) ?? [])]
      for (const user of new Set(everyone.map(({ user_id }) => user_id))) {
        yield issueAssignees.row({ issue_id: id, assignee_id: idOf(users, user), assignee_name: nameOf(user) })
      }
    },
  },
})
