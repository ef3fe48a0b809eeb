/**
 * https://developer.atlassian.com/cloud/jira/platform/webhooks/. A delivery contains an issue without the data that boards add,
 * such as epic and sprints. So it is merged into the stored record. Only the list of a board tells which issues belong to the
 * board.
 */
import type { RawRecord } from '../../database/table.ts'
import {
  type DeliveredRecord,
  type DeliverySpec,
  type Effect,
  isSameText,
  isSignedBySha256,
} from '../../plugin-kit/index.ts'
import issueEntity from './entities/issues.ts'
import { issues } from './issue.ts'
import { boardIssues } from './kit.ts'

const timeOf = (value: unknown): Date | null => {
  const time = new Date(typeof value === 'string' || typeof value === 'number' ? value : Number.NaN)
  return Number.isNaN(time.getTime()) ? null : time
}
/** Jira writes offsets without a colon. */
const timeText = (time: Date): string => time.toISOString().replace('Z', '+0000')

/** Makes a record that changes the stored issue. Undefined if the issue is not stored. */
const changedIssue = (
  issue: { readonly id: unknown; readonly key?: unknown },
  at: Date | null,
  change: (stored: RawRecord) => RawRecord,
): DeliveredRecord => ({
  entity: issueEntity,
  record: issue,
  merge: (stored) => stored && change(stored),
  news: { table: issues, where: { issue_id: issue.id }, timeOf: ({ updated }) => updated, at },
})

/** Fields that only boards add to an issue, and lists that are cut in deliveries. */
const OF_BOARDS = ['sprint', 'closedSprints', 'epic', 'flagged', 'comment', 'worklog']

function updated({ issue, changelog, user, timestamp }: RawRecord): DeliveredRecord {
  const sent = Object.entries(issue.fields ?? {}).filter(([name]) => !OF_BOARDS.includes(name))
  const at = timeOf(issue.fields?.updated)
  return changedIssue({ id: issue.id, key: issue.key }, at, (stored) => ({
    ...stored,
    key: issue.key ?? stored.key,
    fields: { ...stored.fields, ...Object.fromEntries(sent) },
    ...(changelog?.id && {
      changelog: withChange(stored.changelog, { changelog, user, created: timeOf(timestamp) ?? at }),
    }),
  }))
}

function withChange(stored: RawRecord, { changelog, user, created }: RawRecord) {
  const histories: RawRecord[] = stored?.histories ?? []
  if (histories.some(({ id }) => String(id) === String(changelog.id))) return stored
  const history = { id: String(changelog.id), author: user, created: timeText(created), items: changelog.items ?? [] }
  return { ...stored, total: (stored?.total ?? histories.length) + 1, histories: [history, ...histories] }
}

interface Part {
  readonly field: 'comment' | 'worklog'
  readonly list: 'comments' | 'worklogs'
}

/** Changes one comment or worklog of the stored issue. If Jira had cut the list, only collecting reads all of it. */
function partOf(
  { field, list }: Part,
  issueId: unknown,
  part: RawRecord,
  isGone: boolean,
  at: Date | null,
): DeliveredRecord {
  return changedIssue({ id: issueId }, at, (stored) => {
    const before = stored.fields[field] ?? {}
    const all: RawRecord[] = before[list] ?? []
    if ((before.total ?? all.length) > all.length) return undefined
    const others = all.filter(({ id }) => String(id) !== String(part.id))
    const now = isGone ? others : [...others, part]
    const fields = { [field]: { ...before, total: now.length, [list]: now }, ...(at && { updated: timeText(at) }) }
    return { ...stored, fields: { ...stored.fields, ...fields } }
  })
}

const COMMENT: Part = { field: 'comment', list: 'comments' }
const WORKLOG: Part = { field: 'worklog', list: 'worklogs' }
const nameOf = ({ issue, worklog }: RawRecord): string => String(issue?.key ?? issue?.id ?? worklog?.issueId ?? '')

type Read = (payload: RawRecord) => Effect
const comment =
  (isGone: boolean): Read =>
  (payload) => ({
    subject: `a comment on ${nameOf(payload)}`,
    records: [partOf(COMMENT, payload.issue.id, payload.comment, isGone, timeOfPart(payload, payload.comment, isGone))],
  })
const worklog =
  (isGone: boolean): Read =>
  (payload) => ({
    subject: `work on issue ${nameOf(payload)}`,
    records: [
      partOf(WORKLOG, payload.worklog.issueId, payload.worklog, isGone, timeOfPart(payload, payload.worklog, isGone)),
    ],
  })
/** A deleted comment or worklog has no time of deletion, so the time of the delivery is used. */
const timeOfPart = ({ timestamp }: RawRecord, part: RawRecord, isGone: boolean): Date | null =>
  timeOf(isGone ? timestamp : (part.updated ?? part.created ?? timestamp))

const EVENTS = new Map<string, Read>(
  Object.entries({
    'jira:issue_updated': (payload: RawRecord) => ({
      subject: `issue ${nameOf(payload)}`,
      records: [updated(payload)],
    }),
    'jira:issue_created': (payload: RawRecord) => ({
      note: `${nameOf(payload)} is new: the next run of its boards brings it`,
    }),
    'jira:issue_deleted': (payload: RawRecord) => ({
      note: `${nameOf(payload)} was deleted: the next run takes it away`,
    }),
    comment_created: comment(false),
    comment_updated: comment(false),
    comment_deleted: comment(true),
    worklog_created: worklog(false),
    worklog_updated: worklog(false),
    worklog_deleted: worklog(true),
    sprint_created: () => ({ note: 'a sprint was changed: the next run brings it' }),
    sprint_updated: () => ({ note: 'a sprint was changed: the next run brings it' }),
    sprint_started: () => ({ note: 'a sprint was changed: the next run brings it' }),
    sprint_closed: () => ({ note: 'a sprint was changed: the next run brings it' }),
  }),
)

export const deliveries: DeliverySpec = {
  setup: {
    address: 'Jira settings → System → WebHooks → Create a WebHook → URL.',
    secret:
      'In the same form, under Secret. A server whose form has none is given it at the end of the address: ?secret= and the secret.',
    events: 'Choose issue updated, comment and worklog events, with "Exclude body" off.',
  },
  isGenuine: ({ headers, query, body }, secret) =>
    headers['x-hub-signature'] === undefined
      ? isSameText(query.secret ?? '', secret)
      : isSignedBySha256(headers['x-hub-signature'], body, secret),
  idOf: ({ headers }, payload) =>
    headers['x-atlassian-webhook-identifier'] ??
    (payload.timestamp ? `${payload.webhookEvent} ${nameOf(payload)} ${payload.timestamp}` : ''),
  eventOf: (_delivery, { webhookEvent }) => (typeof webhookEvent === 'string' ? webhookEvent : ''),
  scopes({ issue, worklog }) {
    const issue_id = issue?.id ?? worklog?.issueId
    if (!issue_id) return undefined
    const name = nameOf({ issue, worklog })
    const otherwise = `No board of this connection has ${name} so far: the next run finds it, if one does.`
    return { name, table: boardIssues, where: { issue_id }, otherwise }
  },
  read: (event, payload) => EVENTS.get(event)?.(payload),
}
