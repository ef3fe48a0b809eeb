import type { RawRecord } from '../../../database/table.ts'
import { key, string, text, timestamp, zeroTime } from '../../../database/table.ts'
import { classify } from '../../../domain/classify.ts'
import { boardIssues, issueAssignees, issues } from '../../../domain/ticket.ts'
import { leftJoin, manyByKey, wholeTable } from '../../../plugin-kit/index.ts'
import { data, entity, MOST, newestFirst, onService, type Service, serviceIncidents, services, table } from '../kit.ts'
import { teams } from './teams.ts'
import { users } from './users.ts'

/** Returns the same service in every scope that collects the incident. */
const firstService = ({ impactedServices }: RawRecord, { scope }: { scope: Service }): string =>
  impactedServices?.[0] ?? scope.id

export const incidents = table('incidents', 'Incident', {
  id: key(string(191)),
  url: text('links.web'),
  service_id: text(firstService),
  service_name: text((incident, { scope, lookups }) => {
    const id = firstService(incident, { scope })
    return id === scope.id ? scope.name : lookups.services.get(id)?.name
  }),
  description: text(),
  message: text(),
  owner_team: text('ownerTeam'),
  priority: text(),
  status: text(),
  created_date: zeroTime(timestamp('createdAt')),
  updated_date: zeroTime(timestamp('updatedAt')),
})
/** Data that DevLake does not store. */
export const incidentDetails = table('incident_details', 'IncidentDetail', {
  incident_id: key(string(191, 'id')),
  tiny_id: string(100, 'tinyId'),
  impact_start_date: timestamp('impactStartDate'),
  impact_end_date: timestamp('impactEndDate'),
})
export const responders = table('responders', 'Responder', {
  id: key(string(191)),
  type: text(),
  full_name: text(({ id }, { lookups }) => lookups.users.get(id)?.full_name),
  name: text(({ id }, { lookups }) => lookups.users.get(id)?.username ?? lookups.teams.get(id)?.name),
})
export const assignments = table('assignments', 'Assignment', {
  responder_id: key(string(191, 'id')),
  incident_id: key(string(191)),
})

const STATUS = { IN_PROGRESS: ['open'], DONE: ['resolved', 'closed'] }

interface Assignee {
  readonly isTeam: boolean
  readonly assignee_id: string
  readonly assignee_name: string
}

/**
 * Chooses one responder for the issue, which has room for only one, since Opsgenie does not rank them. A person comes before a
 * team, and every run chooses the same one.
 */
function firstOf(everyone: readonly Assignee[]) {
  const byId = everyone.toSorted((one, other) => (one.assignee_id < other.assignee_id ? -1 : 1))
  const first = byId.find(({ isTeam }) => !isTeam) ?? byId[0]
  return { assignee_id: first?.assignee_id ?? '', assignee_name: first?.assignee_name ?? '' }
}

export default entity(incidents, {
  label: 'Incidents',
  domainTypes: ['TICKET', 'CROSS'],
  raw: 'opsgenie_incidents',
  collect: {
    tellsIncidents: true,
    // All incidents are read every time, because they are deleted, closed and moved to other services long after they were created.
    request: ({ scope }) => ({
      path: 'v1/incidents',
      query: { query: `impactedServices:${scope.id}`, sort: 'createdAt', order: 'desc' },
    }),
    records: data,
    ...newestFirst(MOST),
  },
  extract: {
    writes: [serviceIncidents, responders],
    owns: [assignments, incidentDetails].map((each) => ({
      table: each,
      by: { connection_id: 'connection_id', incident_id: 'id' },
    })),
    lookups: { services: wholeTable(services, 'id'), users: wholeTable(users, 'id'), teams: wholeTable(teams, 'id') },
    *rows(incident, { read }) {
      yield read(incidents, incident)
      yield read(serviceIncidents, incident)
      yield read(incidentDetails, incident)
      for (const responder of incident.responders ?? []) {
        if (!responder?.id) continue
        yield read(responders, responder)
        yield read(assignments, responder, { incident_id: incident.id })
      }
    },
  },
  convert: {
    joins: {
      ...onService.joins,
      details: leftJoin(incidentDetails, { connection_id: 'connection_id', incident_id: 'id' }),
    },
    where: onService.where,
    to: [issues, boardIssues, issueAssignees],
    owns: [{ table: issueAssignees, by: { issue_id: 'id' } }],
    lookups: {
      assignments: manyByKey(assignments, 'incident_id', ({ id }) => id),
      responders: wholeTable(responders, 'id'),
    },
    *rows({ details, tie, ...incident }, { idOf, lookups }) {
      const id = idOf(incidents, incident.id)
      const status = classify(incident.status, STATUS, 'OTHER')
      // The time of change moves on when a resolved incident is closed or edited, but the end of its impact stays.
      const end = status === 'DONE' ? (details?.impact_end_date ?? incident.updated_date) : null
      const minutes = end && Math.max(0, Math.trunc((Number(end) - Number(incident.created_date)) / 60_000))
      const everyone = (lookups.assignments.get(incident.id) ?? []).map(({ responder_id }) => {
        const found = lookups.responders.get(responder_id)
        const isTeam = found?.type === 'team'
        const assignee_id = idOf(isTeam ? teams : users, responder_id)
        return { isTeam, assignee_id, assignee_name: found?.full_name || found?.name || '' }
      })
      yield issues.row({
        id,
        url: incident.url,
        issue_key: incident.id,
        title: incident.message,
        description: incident.description,
        type: 'INCIDENT',
        status,
        original_status: incident.status,
        resolution_date: end,
        created_date: incident.created_date,
        updated_date: incident.updated_date,
        lead_time_minutes: minutes,
        priority: incident.priority,
        ...firstOf(everyone),
      })
      yield boardIssues.row({ board_id: idOf(services, tie.service_id), issue_id: id })
      for (const { assignee_id, assignee_name } of everyone) {
        yield issueAssignees.row({ issue_id: id, assignee_id, assignee_name })
      }
    },
  },
})
