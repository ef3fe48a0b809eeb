/** https://support.atlassian.com/bitbucket-cloud/docs/event-payloads/: deliveries contain whole pull requests and issues. */
import type { RawRecord } from '../../database/table.ts'
import { type DeliveredRecord, type DeliverySpec, type Effect, isSignedBySha256 } from '../../plugin-kit/index.ts'
import issueEntity, { issues } from './entities/issues.ts'
import pullRequestEntity, { pullRequests } from './entities/pull-requests.ts'
import { repos } from './kit.ts'

const timeOf = (text: unknown): Date | null => {
  const time = new Date(String(text))
  return Number.isNaN(time.getTime()) ? null : time
}
const newsOf = (
  table: DeliveredRecord['news']['table'],
  { repository }: RawRecord,
  { id, updated_on }: RawRecord,
): DeliveredRecord['news'] => ({
  table,
  where: { repo_id: repository.full_name, bitbucket_id: id },
  timeOf: ({ bitbucket_updated_at }) => bitbucket_updated_at,
  at: timeOf(updated_on),
})

function pullRequestRecord(payload: RawRecord): DeliveredRecord {
  const { pullrequest } = payload
  const { merge_commit, updated_on } = pullrequest
  // The time of the merge is missing, so the time of the change is used until a run collects the exact one.
  const record = { ...pullrequest, ...(merge_commit && { merge_commit: { date: updated_on, ...merge_commit } }) }
  return { entity: pullRequestEntity, record, news: newsOf(pullRequests, payload, pullrequest) }
}

type Read = (payload: RawRecord) => Effect
const pullRequest: Read = (payload) => ({
  subject: `pull request ${payload.pullrequest.id}`,
  records: [pullRequestRecord(payload)],
})
const issue: Read = (payload) => ({
  subject: `issue ${payload.issue.id}`,
  records: [{ entity: issueEntity, record: payload.issue, news: newsOf(issues, payload, payload.issue) }],
})
const note =
  (what: string): Read =>
  () => ({ note: `${what}: the next run brings it` })

const PULL_REQUEST = ['created', 'updated', 'fulfilled', 'rejected', 'approved', 'unapproved']
const REVIEW = ['changes_request_created', 'changes_request_removed']
const COMMENT = ['comment_created', 'comment_updated', 'comment_deleted', 'comment_resolved', 'comment_reopened']

const EVENTS = new Map<string, Read>([
  ...[...PULL_REQUEST, ...REVIEW].map((name): [string, Read] => [`pullrequest:${name}`, pullRequest]),
  ...COMMENT.map((name): [string, Read] => [`pullrequest:${name}`, note('a comment was changed')]),
  ['issue:created', issue],
  ['issue:updated', issue],
  ['issue:comment_created', note('a comment was written')],
  ['repo:push', note('commits were pushed')],
  ['repo:commit_status_created', note('a build was started')],
  ['repo:commit_status_updated', note('a build was changed')],
])

export const deliveries: DeliverySpec = {
  setup: {
    address: 'Repository settings or workspace settings → Webhooks → Add webhook → URL.',
    secret: 'In the same form, as secret.',
    events: 'Choose the events of pull requests and issues; others are only noted, since the next run brings them.',
  },
  isGenuine: ({ headers, body }, secret) => isSignedBySha256(headers['x-hub-signature'], body, secret),
  idOf: ({ headers }) => headers['x-request-uuid'] ?? '',
  eventOf: ({ headers }) => headers['x-event-key'] ?? '',
  scopes: ({ repository }) =>
    typeof repository?.full_name === 'string'
      ? { name: repository.full_name, table: repos, where: { bitbucket_id: repository.full_name } }
      : undefined,
  read: (event, payload) => EVENTS.get(event)?.(payload),
}
