/** The data of a fake PagerDuty account, its possible changes, and the events that it sends about them. */

const SITE = 'https://acme.pagerduty.com'
const API = 'https://api.pagerduty.com'

export interface Reference {
  readonly id: string
  readonly type: string
  readonly summary: string
  readonly self: string
  readonly html_url: string
}
export interface FakeService extends Reference {
  readonly name: string
}
export interface FakeIncident extends Reference {
  readonly incident_number: number
  readonly title: string
  readonly created_at: string
  updated_at: string
  status: string
  urgency: string
  priority: Reference | null
  service: Reference
  assignments: { at: string; assignee: Reference }[]
  incidents_responders: { state: string; user: Reference }[]
  teams: Reference[]
  last_status_change_at: string
}

export const reference = (type: string, id: string, summary: string): Reference => ({
  id,
  type: `${type}_reference`,
  summary,
  self: `${API}/${type}s/${id}`,
  html_url: `${SITE}/${type}s/${id}`,
})
export const USERS = ['Ada', 'Bo', 'Cleo'].map((name, index) => reference('user', `PUSER${index}`, name))
export const TEAMS = ['Web', 'Data'].map((name, index) => reference('team', `PTEAM${index}`, name))
export const PRIORITIES = ['P1', 'P2'].map((name, index) => reference('prioritie', `PPRIO${index}`, name))

/** The form is described at https://developer.pagerduty.com/docs/webhooks-overview. */
export interface FakeEvent {
  readonly event: {
    readonly id: string
    readonly event_type: string
    readonly resource_type: string
    readonly occurred_at: string
    readonly agent: Reference | null
    readonly data: Record<string, unknown>
  }
}

export function createWorld() {
  const world = {
    /** The server's clock, which dates changes. */
    now: () => new Date(),
    services: [] as FakeService[],
    incidents: [] as FakeIncident[],
    /** The events that it has sent about its changes. */
    events: [] as FakeEvent[],
  }
  const time = () => `${world.now().toISOString().slice(0, 19)}Z`
  function tell(event_type: string, { incident_number, ...incident }: FakeIncident): FakeEvent {
    const { id, html_url, self, status, created_at, title, service, teams, priority, urgency } = incident
    const assignees = incident.assignments.map(({ assignee }) => assignee)
    const data = {
      id,
      type: 'incident',
      self,
      html_url,
      number: incident_number,
      status,
      created_at,
      title,
      service,
      assignees,
      teams,
      priority,
      urgency,
      incident_key: id,
      conference_bridge: null,
      resolve_reason: null,
    }
    const about = { event_type, resource_type: 'incident', occurred_at: world.now().toISOString(), agent: null }
    const told = { event: { id: `event-${world.events.length + 1}`, ...about, data } }
    world.events.push(told)
    return told
  }
  function change(incident: FakeIncident, event: string, values: Partial<FakeIncident>): FakeEvent {
    Object.assign(incident, values, { updated_at: time() })
    return tell(`incident.${event}`, incident)
  }
  const setStatus = (incident: FakeIncident, status: string, event = status) =>
    change(incident, event, {
      status,
      last_status_change_at: time(),
      ...(status === 'resolved' && { assignments: [] }),
    })
  return Object.assign(world, {
    addService(id: string, name: string): FakeService {
      const made = { ...reference('service', id, name), name, html_url: `${SITE}/service-directory/${id}` }
      world.services.push(made)
      return made
    },
    renameService(id: string, name: string) {
      const index = world.services.findIndex((each) => each.id === id)
      const { summary: _, ...service } = world.services[index] as FakeService
      world.services[index] = { ...service, name, summary: name }
    },
    trigger(service: FakeService, { title = 'It burns', user = 0 } = {}): FakeIncident {
      const incident_number = (world.incidents.at(-1)?.incident_number ?? 0) + 1
      const { name: _, ...of } = service
      const at = time()
      const made: FakeIncident = {
        ...reference('incident', `Q${String(incident_number).padStart(6, '0')}`, `[#${incident_number}] ${title}`),
        type: 'incident',
        incident_number,
        title,
        created_at: at,
        updated_at: at,
        last_status_change_at: at,
        status: 'triggered',
        urgency: 'high',
        priority: null,
        service: { ...of, type: 'service_reference' },
        assignments: [{ at, assignee: USERS[user % USERS.length] as Reference }],
        incidents_responders: [],
        teams: [TEAMS[incident_number % TEAMS.length] as Reference],
      }
      world.incidents.push(made)
      tell('incident.triggered', made)
      return made
    },
    acknowledge: (incident: FakeIncident) => setStatus(incident, 'acknowledged'),
    resolve: (incident: FakeIncident) => setStatus(incident, 'resolved'),
    reopen: (incident: FakeIncident) => setStatus(incident, 'triggered', 'reopened'),
    setStatus,
    reassign: (incident: FakeIncident, user: number) =>
      change(incident, 'reassigned', {
        assignments: [{ at: time(), assignee: USERS[user % USERS.length] as Reference }],
      }),
    addResponder: (incident: FakeIncident, user: number) =>
      change(incident, 'responder.added', {
        incidents_responders: [{ state: 'pending', user: USERS[user % USERS.length] as Reference }],
      }),
    prioritise: (incident: FakeIncident, number: number) =>
      change(incident, 'priority_updated', { priority: PRIORITIES[number % PRIORITIES.length] as Reference }),
  })
}
export type World = ReturnType<typeof createWorld>
