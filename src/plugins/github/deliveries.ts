/** https://docs.github.com/en/webhooks/webhook-events-and-payloads: with few exceptions, the records are those of REST lists. */
import type { RawRecord } from '../../database/table.ts'
import {
  type DeliveredRecord,
  type DeliverySpec,
  type Effect,
  isSignedBySha256,
  type News,
} from '../../plugin-kit/index.ts'
import comments, { issueComments, pullRequestComments, reviewComments } from './entities/comments.ts'
import deploymentEntity, { deployments, statuses } from './entities/deployments.ts'
import issueEntity, { issues } from './entities/issues.ts'
import jobEntity, { jobs } from './entities/jobs.ts'
import pullRequestEntity, { detailsEntity, pullRequests } from './entities/pull-requests.ts'
import reviewEntity from './entities/reviews.ts'
import runEntity, { runs } from './entities/runs.ts'
import { repos } from './kit.ts'

const timeOf = (text: unknown): Date | null => {
  const time = new Date(typeof text === 'string' ? text : Number.NaN)
  return Number.isNaN(time.getTime()) ? null : time
}
const changeOf = ({ github_updated_at }: RawRecord): Date | null => github_updated_at
const changed = (record: RawRecord, table: News['table'], key = 'github_id'): News => ({
  table,
  where: { [key]: record.id },
  timeOf: changeOf,
  at: timeOf(record.updated_at),
})

const pullRequestInput = ({ number, id }: RawRecord) => ({ Number: number, GithubId: id })

/** The fields of a pull request that lists leave out. `detailsEntity` collects them. */
const DETAILS = ['additions', 'deletions', 'comments', 'commits', 'review_comments', 'merged', 'merged_by']
const asListed = (pull: RawRecord) =>
  Object.fromEntries(Object.entries(pull).filter(([name]) => !DETAILS.includes(name)))

const issueRecord = (issue: RawRecord): DeliveredRecord => ({
  entity: issueEntity,
  record: issue,
  news: changed(issue, issues),
})
const listedPullRequest = (pull: RawRecord): DeliveredRecord => ({
  entity: pullRequestEntity,
  record: asListed(pull),
  news: changed(pull, pullRequests),
})
const pullRequestDetails = (pull: RawRecord): DeliveredRecord => ({
  entity: detailsEntity,
  input: pullRequestInput(pull),
  record: pull,
  news: changed(pull, pullRequests),
})
/** Lists have states in capitals. */
const reviewRecord = ({ review, pull_request }: RawRecord): DeliveredRecord => ({
  entity: reviewEntity,
  input: pullRequestInput(pull_request),
  record: { ...review, state: String(review.state).toUpperCase() },
  news: changed(pull_request, pullRequests),
})
const commentRecord = ({ comment, issue }: RawRecord): DeliveredRecord => ({
  entity: comments,
  record: comment,
  news: changed(comment, issue.pull_request ? pullRequestComments : issueComments),
})
const reviewCommentRecord = (comment: RawRecord): DeliveredRecord => ({
  entity: reviewComments,
  record: comment,
  news: changed(comment, pullRequestComments),
})
const runRecord = (run: RawRecord): DeliveredRecord => ({
  entity: runEntity,
  record: run,
  news: { ...changed(run, runs, 'id'), listedAt: timeOf(run.created_at) },
})
const jobRecord = (job: RawRecord): DeliveredRecord => ({
  entity: jobEntity,
  input: { ID: job.run_id },
  record: job,
  news: {
    table: jobs,
    where: { id: job.id },
    timeOf: ({ completed_at, started_at }) => completed_at ?? started_at,
    at: timeOf(job.completed_at ?? job.started_at ?? job.created_at),
  },
})
const deploymentNews = (deployment: RawRecord): News => ({
  table: deployments,
  where: { id: deployment.node_id },
  timeOf: ({ updated_date }) => updated_date,
  at: timeOf(deployment.updated_at),
  listedAt: timeOf(deployment.created_at),
})
const deploymentRecord = (deployment: RawRecord): DeliveredRecord => ({
  entity: deploymentEntity,
  record: deployment,
  news: deploymentNews(deployment),
})
/** The statuses of a deployment are stored as one record, which is their list, the newest first. */
const statusRecord = ({ deployment, deployment_status: status }: RawRecord): DeliveredRecord => ({
  entity: statuses,
  input: { Id: deployment.node_id, DatabaseId: deployment.id },
  record: [status],
  merge: (stored) => [status, ...(stored ?? []).filter(({ id }: RawRecord) => id !== status.id)],
  news: deploymentNews(deployment),
})

type Read = (payload: RawRecord) => Effect

const NEXT_RUN = 'the next run brings it'
const GONE = new Set(['deleted', 'transferred'])
/** Lists that are read by time of change do not show deletions. The next run that reads everything finds them. */
const unlessGone =
  (what: string, read: Read): Read =>
  (payload) =>
    GONE.has(payload.action) ? { note: `${what} was ${payload.action}: a full sync takes it away` } : read(payload)

/** Events that are handled in the same way for both APIs. */
const SHARED = {
  ping: () => ({ note: 'GitHub reaches this address', isGreeting: true }),
  issues: unlessGone('an issue', ({ issue }) => ({ subject: `issue ${issue.number}`, records: [issueRecord(issue)] })),
  issue_comment: unlessGone('a comment', (payload) => ({
    subject: `a comment on ${payload.issue.pull_request ? 'pull request' : 'issue'} ${payload.issue.number}`,
    records: [...(payload.issue.pull_request ? [] : [issueRecord(payload.issue)]), commentRecord(payload)],
  })),
  pull_request_review_comment: unlessGone('a comment', ({ comment, pull_request }) => ({
    subject: `a comment on pull request ${pull_request.number}`,
    records: [reviewCommentRecord(comment)],
  })),
  workflow_run: ({ workflow_run: run }) => ({ subject: `run ${run.run_number}`, records: [runRecord(run)] }),
  push: () => ({ note: `commits were pushed: ${NEXT_RUN}` }),
  release: () => ({ note: `a release was changed: ${NEXT_RUN}, with its tag and whether it is the latest` }),
  milestone: () => ({ note: `a milestone was changed: ${NEXT_RUN}` }),
  repository: () => ({ note: `the repository was changed: ${NEXT_RUN}` }),
} satisfies Readonly<Record<string, Read>>

const OVER_REST = {
  pull_request: ({ pull_request: pull }) => ({
    subject: `pull request ${pull.number}`,
    records: [listedPullRequest(pull), pullRequestDetails(pull)],
  }),
  pull_request_review: (payload) => ({
    subject: `a review of pull request ${payload.pull_request.number}`,
    records: [listedPullRequest(payload.pull_request), reviewRecord(payload)],
  }),
  workflow_job: ({ workflow_job: job }) => ({ subject: `job ${job.name}`, records: [jobRecord(job)] }),
  deployment: ({ deployment }) => ({
    subject: `a deployment to ${deployment.environment}`,
    records: [deploymentRecord(deployment)],
  }),
  deployment_status: (payload) => ({
    subject: `a deployment to ${payload.deployment.environment}`,
    records: [deploymentRecord(payload.deployment), statusRecord(payload)],
  }),
} satisfies Readonly<Record<string, Read>>

/** For connections that use GraphQL. There the row of a pull request includes its details, so only a complete record may replace it. */
const OVER_GRAPHQL = {
  pull_request: ({ pull_request: pull }) => ({
    subject: `pull request ${pull.number}`,
    records: [{ entity: pullRequestEntity, record: pull, news: changed(pull, pullRequests) }],
  }),
  pull_request_review: (payload) => ({
    subject: `a review of pull request ${payload.pull_request.number}`,
    records: [reviewRecord(payload)],
  }),
  workflow_job: () => ({ note: `a job was changed: ${NEXT_RUN}` }),
  deployment: () => ({ note: `there is a new deployment: ${NEXT_RUN}` }),
  deployment_status: () => ({ note: `a deployment was changed: ${NEXT_RUN}` }),
} satisfies Readonly<Record<string, Read>>

const deliveriesOver = (own: Readonly<Record<string, Read>>): DeliverySpec => {
  const events = new Map<string, Read>(Object.entries({ ...SHARED, ...own }))
  return {
    setup: {
      address: 'Settings of the repository or organisation → Webhooks → Add webhook → Payload URL.',
      secret: 'In the same form, under Secret. The content type is application/json.',
      events:
        'Choose "Let me select individual events": issues, issue comments, pull requests, pull request reviews and review comments, workflow runs and jobs, deployments and deployment statuses.',
    },
    isGenuine: ({ headers, body }, secret) => isSignedBySha256(headers['x-hub-signature-256'], body, secret),
    idOf: ({ headers }) => headers['x-github-delivery'] ?? '',
    eventOf: ({ headers }) => headers['x-github-event'] ?? '',
    scopes: ({ repository }) =>
      repository?.id
        ? { name: String(repository.full_name), table: repos, where: { github_id: repository.id } }
        : undefined,
    read: (event, payload) => events.get(event)?.(payload),
  }
}

export const deliveries = deliveriesOver(OVER_REST)
export const graphqlDeliveries = deliveriesOver(OVER_GRAPHQL)
