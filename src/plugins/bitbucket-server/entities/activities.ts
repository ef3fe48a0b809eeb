import type { RawRecord } from '../../../database/table.ts'
import { bigint, boolean, common, defineTable, indexed, key, string, text, timestamp } from '../../../database/table.ts'
import { pullRequestComments } from '../../../domain/pull-requests.ts'
import { epochMilliseconds, leftJoin, manyByKey } from '../../../plugin-kit/index.ts'
import { entity, inRepo, PAGE, peopleIn, repoId, table, users, values } from '../kit.ts'
import { forEachPullRequest, merges, pullRequestId, pullRequests } from './pull-requests.ts'

const RAW = 'bitbucket_server_api_pull_request_activities'
const WEEK = 7 * 24 * 3_600_000

/** As in DevLake, the times of the row are those of the comment. */
export const comments = defineTable(
  '_tool_bitbucket_server_pull_request_comments',
  {
    connection_id: key(bigint((_record: unknown, { connectionId }: RawRecord) => connectionId)),
    bitbucket_id: key(bigint('id')),
    repo_id: indexed(string(191, repoId), 'pr'),
    pull_request_id: indexed(pullRequestId(), 'pr'),
    author_id: bigint('comment.author.id'),
    author_name: string('comment.author.displayName'),
    body: text('comment.text'),
    ...common,
    created_at: { ...common.created_at, source: epochMilliseconds('createdDate') },
    updated_at: timestamp(() => undefined),
  },
  { idPrefix: 'bitbucket_server:BitbucketServerPrComment' },
)
/** Other actions of people, and the place of their comments. DevLake has no such table. */
export const activities = table('pull_request_activities', 'BitbucketServerPrActivity', {
  bitbucket_id: key(bigint('id')),
  repo_id: indexed(string(191, repoId), 'pr'),
  pull_request_id: indexed(pullRequestId(), 'pr'),
  action: string(100),
  is_on_diff: boolean(({ commentAnchor }) => Boolean(commentAnchor)),
  user_id: bigint('user.id'),
  happened_at: timestamp(epochMilliseconds('createdDate')),
})
/** Answers to comments have no activity of their own. */
export const replies = table('pull_request_replies', 'BitbucketServerPrReply', {
  bitbucket_id: key(bigint('id')),
  activity_id: indexed(bigint()),
  repo_id: indexed(string(191, repoId), 'pr'),
  pull_request_id: indexed(pullRequestId(), 'pr'),
  author_id: bigint('author.id'),
  written_at: timestamp(epochMilliseconds('createdDate')),
  body: text('text'),
})

const REVIEWS = new Map([
  ['APPROVED', 'APPROVED'],
  ['REVIEWED', 'CHANGES_REQUESTED'],
  ['UNAPPROVED', 'UNAPPROVED'],
])

function* repliesIn(comment: RawRecord): Generator<RawRecord, void> {
  for (const reply of comment?.comments ?? []) {
    yield reply
    yield* repliesIn(reply)
  }
}

export default entity(activities, {
  label: 'Api Pull Requests Activities',
  names: { convert: 'convertPullRequestComments' },
  domainTypes: ['CODEREVIEW', 'CROSS'],
  raw: RAW,
  collect: {
    // The time of change is not enough, because comments and approvals do not change a pull request.
    forEach: { ...forEachPullRequest, again: { where: { state: 'OPEN' }, within: WEEK } },
    request: ({ scope, input }) => ({ path: inRepo(scope, `pull-requests/${input.BitbucketId}/activities`) }),
    paging: PAGE,
    records: values,
    emptyOn: [404], // deleted since
  },
  extract: {
    writes: [users, comments, replies, merges],
    owns: [{ table: replies, by: { connection_id: 'connection_id', activity_id: 'bitbucket_id' } }],
    *rows(activity, context) {
      const { id, action, user, comment } = activity
      yield context.read(activities, activity)
      yield* peopleIn([user, comment?.author], context)
      if (action === 'MERGED') yield context.read(merges, activity)
      if (action !== 'COMMENTED' || !comment) return
      yield context.read(comments, activity)
      for (const reply of repliesIn(comment)) {
        yield context.read(replies, reply, { activity_id: id })
        yield* peopleIn([reply.author], context)
      }
    },
  },
  convert: {
    to: [pullRequestComments],
    joins: { comment: leftJoin(comments, { connection_id: 'connection_id', bitbucket_id: 'bitbucket_id' }) },
    lookups: { replies: manyByKey(replies, 'activity_id', ({ bitbucket_id }) => bitbucket_id) },
    *rows({ comment, ...activity }, { idOf, lookups }) {
      const pull_request_id = idOf(pullRequests, activity.repo_id, activity.pull_request_id)
      const status = REVIEWS.get(activity.action)
      if (status) {
        yield pullRequestComments.row({
          id: idOf(activities, activity.bitbucket_id),
          pull_request_id,
          account_id: idOf(users, activity.user_id || null),
          created_date: activity.happened_at,
          type: 'REVIEW',
          status,
        })
      }
      if (comment) {
        yield pullRequestComments.row({
          id: idOf(comments, comment.bitbucket_id),
          pull_request_id,
          body: comment.body,
          account_id: idOf(users, comment.author_id || null),
          created_date: comment.created_at,
          type: activity.is_on_diff ? 'DIFF' : 'NORMAL',
        })
      }
      for (const reply of lookups.replies.get(activity.bitbucket_id) ?? []) {
        yield pullRequestComments.row({
          id: idOf(replies, reply.bitbucket_id),
          pull_request_id,
          body: reply.body,
          account_id: idOf(users, reply.author_id || null),
          created_date: reply.written_at,
          type: 'NORMAL',
        })
      }
    },
  },
})
