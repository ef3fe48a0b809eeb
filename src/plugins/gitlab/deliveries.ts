/**
 * https://docs.gitlab.com/user/project/integrations/webhook_events/. A delivery contains less of a record than its list, and uses
 * other names for some of it. So it is merged into the stored record. A new record is complete if the delivery names the person
 * who opened it.
 */
import type { RawRecord } from '../../database/table.ts'
import {
  type DeliveredRecord,
  type DeliverySpec,
  type Effect,
  isSameText,
  isSignedAsStandard,
  newStandardSecret,
} from '../../plugin-kit/index.ts'
import issueEntity, { issues } from './entities/issues.ts'
import mergeRequestEntity, { mergeRequests } from './entities/merge-requests.ts'
import { projects } from './kit.ts'

/** Reads `2026-01-31 12:00:00 UTC` from older servers, or ISO 8601. */
function timeText(value: unknown): string | null {
  const time = new Date(typeof value === 'string' ? value.replace(/^(\S+) (\S+) UTC$/, '$1T$2Z') : Number.NaN)
  return Number.isNaN(time.getTime()) ? null : time.toISOString()
}
const timeOf = (value: unknown): Date | null => {
  const text = timeText(value)
  return text === null ? null : new Date(text)
}

const titlesOf = (labels: readonly RawRecord[] | undefined) => labels?.map(({ title }) => title)
/** Removes fields without a value. */
const told = (values: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))

/** Fields that issues and merge requests share, named as in their lists. */
const common = ({ object_attributes: sent, labels, assignees }: RawRecord) =>
  told({
    id: sent.id,
    iid: sent.iid,
    title: sent.title,
    description: sent.description,
    state: sent.state,
    web_url: sent.url,
    labels: titlesOf(labels ?? sent.labels),
    assignees,
    created_at: timeText(sent.created_at) ?? undefined,
    updated_at: timeText(sent.updated_at) ?? undefined,
  })

/** The person who opens it is its author. For later changes the delivery has only the id of the author. */
const openedBy = ({ object_attributes: { action, author_id }, user }: RawRecord) =>
  action === 'open' && user && (author_id === undefined || author_id === user.id) ? user : undefined

const changedWith =
  (payload: RawRecord, whole: Record<string, unknown>) =>
  (stored: RawRecord): unknown => {
    const author = stored?.author ?? openedBy(payload)
    return author && { ...stored, ...whole, author }
  }

function issueRecord(payload: RawRecord): DeliveredRecord {
  const { object_attributes: sent, assignees } = payload
  const isClosed = sent.state === 'closed'
  const record = {
    ...common(payload),
    ...told({ type: sent.type?.toUpperCase(), severity: sent.severity?.toUpperCase() }),
    ...(assignees && { assignee: assignees[0] ?? null }),
    closed_at: isClosed ? (timeText(sent.closed_at) ?? timeText(sent.updated_at)) : null,
  }
  return {
    entity: issueEntity,
    record,
    merge: changedWith(payload, record),
    news: newsOf(issues, sent),
  }
}

function mergeRequestRecord(payload: RawRecord): DeliveredRecord {
  const { object_attributes: sent, reviewers, user } = payload
  const isDraft = sent.draft ?? sent.work_in_progress
  const changed = timeText(sent.updated_at)
  const record = {
    ...common(payload),
    ...told({ draft: isDraft, work_in_progress: isDraft, reviewers, sha: sent.last_commit?.id }),
    ...told({ source_project_id: sent.source_project_id, target_project_id: sent.target_project_id }),
    ...told({ source_branch: sent.source_branch, target_branch: sent.target_branch }),
    ...told({ merge_commit_sha: sent.merge_commit_sha, squash_commit_sha: sent.squash_commit_sha }),
    // The time of the merge is missing, so the time of the change is used until a run collects the exact one.
    ...(sent.action === 'merge' && { merged_at: changed, merged_by: user, merge_user: user }),
    ...(sent.action === 'close' && { closed_at: changed }),
    ...(sent.action === 'reopen' && { closed_at: null }),
    ...(sent.action === 'open' && { merged_at: null, closed_at: null }),
  }
  return {
    entity: mergeRequestEntity,
    record,
    merge: changedWith(payload, record),
    news: newsOf(mergeRequests, sent),
  }
}

const newsOf = (table: DeliveredRecord['news']['table'], { id, updated_at }: RawRecord): DeliveredRecord['news'] => ({
  table,
  where: { gitlab_id: id },
  timeOf: ({ gitlab_updated_at }) => gitlab_updated_at,
  at: timeOf(updated_at),
})

type Read = (payload: RawRecord) => Effect
const note =
  (what: string): Read =>
  () => ({ note: `${what}: the next run brings it` })
const issue: Read = (payload) => ({
  subject: `issue ${payload.object_attributes.iid}`,
  records: [issueRecord(payload)],
})

const EVENTS = new Map<string, Read>(
  Object.entries({
    merge_request: (payload: RawRecord) => ({
      subject: `merge request ${payload.object_attributes.iid}`,
      records: [mergeRequestRecord(payload)],
    }),
    issue,
    incident: issue,
    work_item: issue,
    note: note('a comment was written'),
    push: note('commits were pushed'),
    tag_push: note('a tag was pushed'),
    pipeline: note('a pipeline was changed'),
    build: note('a job was changed'),
    deployment: note('a deployment was changed'),
    release: note('a release was changed'),
  }),
)

export const deliveries: DeliverySpec = {
  setup: {
    address: 'Settings of the project or group → Webhooks → Add new webhook → URL.',
    secret: 'In the same form, as signing token; a server whose form has none takes it as secret token.',
    events: 'Choose merge request events and issue events; others are only noted, since the next run brings them.',
  },
  newSecret: newStandardSecret,
  isGenuine: ({ headers, body }, secret) =>
    headers['webhook-signature'] === undefined
      ? isSameText(headers['x-gitlab-token'] ?? '', secret)
      : isSignedAsStandard(headers, body, secret),
  idOf: ({ headers }) => headers['idempotency-key'] ?? headers['webhook-id'] ?? headers['x-gitlab-event-uuid'] ?? '',
  eventOf: ({ headers }, { object_kind }) => String(object_kind ?? headers['x-gitlab-event'] ?? ''),
  scopes: ({ project }) =>
    project?.id
      ? { name: String(project.path_with_namespace ?? project.id), table: projects, where: { gitlab_id: project.id } }
      : undefined,
  read: (event, payload) => EVENTS.get(event)?.(payload),
}
