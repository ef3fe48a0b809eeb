/** https://linear.app/developers/webhooks: the data of an event about an issue is nearly all of the issue. */
import type { RawRecord } from '../../database/table.ts'
import { type DeliverySpec, type Effect, isSignedBySha256 } from '../../plugin-kit/index.ts'
import issueEntity, { issues } from './entities/issues.ts'
import { teams } from './kit.ts'

const timeOf = (text: unknown): Date | null => {
  const time = new Date(typeof text === 'string' ? text : Number.NaN)
  return Number.isNaN(time.getTime()) ? null : time
}
const reference = (id: unknown) => (id ? { id } : null)

/** Converts the data of an event into the form of the list of issues. */
function recordOf({ action, data }: RawRecord) {
  const { id, identifier, number, title, description, url, priority, estimate, dueDate, state } = data
  return {
    id,
    identifier,
    number,
    title,
    description: description ?? null,
    url,
    priority,
    estimate: estimate ?? null,
    dueDate: dueDate ?? null,
    trashed: action === 'remove' || data.trashed === true,
    createdAt: data.createdAt,
    updatedAt: data.updatedAt,
    startedAt: data.startedAt ?? null,
    completedAt: data.completedAt ?? null,
    canceledAt: data.canceledAt ?? null,
    state: state ?? reference(data.stateId),
    assignee: reference(data.assigneeId),
    creator: reference(data.creatorId),
    cycle: reference(data.cycleId),
    parent: reference(data.parentId),
    labels: {
      nodes: (data.labels ?? []).map(({ id, name }: RawRecord) => ({ id, name })),
      pageInfo: { hasNextPage: false, endCursor: null },
    },
  }
}

function effectOf(payload: RawRecord): Effect {
  const record = recordOf(payload)
  const at = timeOf(record.updatedAt)
  return {
    subject: `issue ${record.identifier}`,
    records: [
      {
        entity: issueEntity,
        record,
        merge: (stored) => ({ ...stored, ...record }),
        news: { table: issues, where: { id: record.id }, timeOf: ({ updated_date }) => updated_date, at },
      },
    ],
  }
}

export const deliveries: DeliverySpec = {
  setup: {
    address: 'Settings → API → Webhooks → New webhook → URL.',
    secret: 'Linear shows a signing secret when the webhook is added: enter it here.',
    events: 'Choose Issues. Others are only noted, since the next run brings them.',
  },
  isSecretOfSource: true,
  isGenuine: ({ headers, body }, secret) => isSignedBySha256(headers['linear-signature'], body, secret, ''),
  idOf: ({ headers }) => headers['linear-delivery'] ?? '',
  eventOf: (_delivery, { type, action }) => `${type} ${action}`,
  scopes: ({ data }) =>
    data?.teamId
      ? { name: String(data.team?.name ?? data.teamId), table: teams, where: { team_id: data.teamId } }
      : undefined,
  read(_event, payload) {
    if (payload.type === 'Issue' && payload.data?.id) return effectOf(payload)
    if (payload.type && payload.action) return { note: `${payload.type}: the next run brings it` }
    return undefined
  },
}
