/**
 * https://developer.pagerduty.com/docs/webhooks-overview: subscriptions of version 3. An event contains nearly all of an
 * incident. The times of assignment and of the last change of status are taken from the event or from the stored record.
 */
import type { RawRecord } from '../../database/table.ts'
import { type DeliverySpec, type Effect, isSignedBySha256 } from '../../plugin-kit/index.ts'
import incidentEntity, { incidents } from './entities/incidents.ts'
import { services } from './kit.ts'

/** Events that change the status. All others keep the stored time of the last change of status. */
const OF_STATUS = new Set(['triggered', 'acknowledged', 'unacknowledged', 'resolved', 'reopened'])
const OF_INCIDENT = new Set([...OF_STATUS, 'reassigned', 'escalated', 'delegated', 'priority_updated'])

/** Lists have times in whole seconds. */
const wholeSecond = (time: Date): string => `${time.toISOString().slice(0, 19)}Z`
const timeOf = (text: unknown): Date | null => {
  const time = new Date(typeof text === 'string' ? text : Number.NaN)
  return Number.isNaN(time.getTime()) ? null : time
}

function assignmentsOf({ status, assignees = [] }: RawRecord, stored: RawRecord, at: string) {
  // As in lists, a resolved incident is assigned to nobody.
  if (status === 'resolved') return []
  return assignees.map((assignee: RawRecord) => {
    const before = stored?.assignments?.find((each: RawRecord) => each.assignee?.id === assignee.id)
    return { at: before?.at ?? at, assignee }
  })
}

/** Converts the data of an event into the form of the list of incidents. */
function recordOf({ number, title, assignees: _, ...data }: RawRecord) {
  return { ...data, title, incident_number: number, summary: `[#${number}] ${title}` }
}

function effectOf(kind: string, { event: { data, occurred_at } }: RawRecord): Effect {
  const occurred = timeOf(occurred_at)
  const at = occurred ? wholeSecond(occurred) : ''
  const record = recordOf(data)
  return {
    subject: `incident ${data.number}`,
    records: [
      {
        entity: incidentEntity,
        record,
        merge(stored) {
          if (!stored && !OF_STATUS.has(kind)) return undefined
          if (stored?.updated_at && Date.parse(stored.updated_at) > Date.parse(at)) return stored
          const last_status_change_at = OF_STATUS.has(kind) ? at : stored.last_status_change_at
          const assignments = assignmentsOf(data, stored, at)
          return { ...stored, ...record, assignments, last_status_change_at, updated_at: at }
        },
        news: {
          table: incidents,
          where: { number: data.number },
          timeOf: ({ updated_date }) => updated_date,
          at: occurred && new Date(at),
          listedAt: timeOf(data.created_at),
        },
      },
    ],
  }
}

export const deliveries: DeliverySpec = {
  setup: {
    address: 'Integrations → Generic Webhooks (v3) → New Webhook → Webhook URL.',
    secret: 'PagerDuty shows a signing secret when the webhook is added: enter it here.',
    events:
      'Choose the incident events: triggered, acknowledged, unacknowledged, resolved, reopened, reassigned, escalated, delegated and priority updated. Others are only noted, since the next run brings them.',
  },
  isSecretOfSource: true,
  isGenuine: ({ headers, body }, secret) => isSignedBySha256(headers['x-pagerduty-signature'], body, secret, 'v1'),
  idOf: (_delivery, { event }) => String(event?.id ?? ''),
  eventOf: (_delivery, { event }) => String(event?.event_type ?? ''),
  scopes({ event }) {
    const service = event?.data?.service ?? event?.data?.incident?.service
    return service?.id
      ? { name: String(service.summary ?? service.id), table: services, where: { id: service.id } }
      : undefined
  },
  read(event, payload) {
    if (event === 'pagey.ping') return { note: 'PagerDuty reaches this address', isGreeting: true }
    const [subject, ...rest] = event.split('.')
    const kind = rest.join('.')
    if (subject === 'incident' && OF_INCIDENT.has(kind)) return effectOf(kind, payload)
    if (subject === 'incident') return { note: `an incident was changed (${kind}): the next run brings it` }
    if (subject === 'service') return { note: 'a service was changed: the next run brings it' }
    return undefined
  },
}
