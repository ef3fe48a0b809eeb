/** https://confluence.atlassian.com/bitbucketserver/event-payload-938025882.html: deliveries contain whole pull requests. */
import type { RawRecord } from '../../database/table.ts'
import { type DeliverySpec, type Effect, isSignedBySha256 } from '../../plugin-kit/index.ts'
import pullRequestEntity, { pullRequests } from './entities/pull-requests.ts'
import { firstLink, idOfRepo, repos } from './kit.ts'

const repositoryOf = ({ pullRequest, repository }: RawRecord): RawRecord => pullRequest?.toRef?.repository ?? repository

type Read = (payload: RawRecord) => Effect
const pullRequest: Read = (payload) => {
  const sent = payload.pullRequest
  return {
    subject: `pull request ${sent.id}`,
    records: [
      {
        entity: pullRequestEntity,
        record: sent,
        // Deliveries may leave out the address of the web page, so the stored one is kept.
        merge: (stored) => ({ ...sent, links: firstLink(sent) ? sent.links : stored?.links }),
        news: {
          table: pullRequests,
          where: { repo_id: idOfRepo(repositoryOf(payload)), bitbucket_id: sent.id },
          timeOf: ({ bitbucket_server_updated_at }) => bitbucket_server_updated_at,
          at: typeof sent.updatedDate === 'number' ? new Date(sent.updatedDate) : null,
        },
      },
    ],
  }
}
const note =
  (what: string): Read =>
  () => ({ note: `${what}: the next run brings it` })

const PULL_REQUEST = ['opened', 'modified', 'from_ref_updated', 'merged', 'declined', 'reviewer:updated']
const REVIEW = ['reviewer:approved', 'reviewer:unapproved', 'reviewer:needs_work']
const COMMENT = ['comment:added', 'comment:edited', 'comment:deleted']

const EVENTS = new Map<string, Read>([
  ...PULL_REQUEST.map((name): [string, Read] => [`pr:${name}`, pullRequest]),
  ...REVIEW.map((name): [string, Read] => [`pr:${name}`, note('a review was given')]),
  ...COMMENT.map((name): [string, Read] => [`pr:${name}`, note('a comment was changed')]),
  ['pr:deleted', note('a pull request was deleted')],
  ['repo:refs_changed', note('commits were pushed')],
  ['diagnostics:ping', () => ({ note: 'Bitbucket reaches Weir', isGreeting: true })],
])

export const deliveries: DeliverySpec = {
  setup: {
    address: 'Repository settings or project settings → Webhooks → Create webhook → URL.',
    secret: 'In the same form, as secret.',
    events: 'Choose the events of pull requests; others are only noted, since the next run brings them.',
  },
  isGenuine: ({ headers, body }, secret) => isSignedBySha256(headers['x-hub-signature'], body, secret),
  idOf: ({ headers }) => headers['x-request-id'] ?? '',
  eventOf: ({ headers }) => headers['x-event-key'] ?? '',
  scopes(payload) {
    const repository = repositoryOf(payload)
    if (!repository?.project?.key) return undefined
    const id = idOfRepo(repository)
    return { name: id, table: repos, where: { bitbucket_id: id } }
  },
  read: (event, payload) => EVENTS.get(event)?.(payload),
}
