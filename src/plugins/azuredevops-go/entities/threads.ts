import type { RawRecord } from '../../../database/table.ts'
import { bigint, key, string, text, timestamp } from '../../../database/table.ts'
import { pullRequestComments } from '../../../domain/pull-requests.ts'
import { entity, inputId, inRepo, table, versioned } from '../kit.ts'
import { identities, peopleIn, users } from './people.ts'
import { forEachPullRequest, ofPullRequest, pullRequests } from './pull-requests.ts'

export const comments = table('pull_request_comments', 'AzuredevopsPrComment', {
  pull_request_id: key(bigint(inputId)),
  thread_id: key(bigint()),
  comment_id: key(bigint('id')),
  author_id: string('author.id'),
  author_name: string('author.displayName'),
  body: text('content'),
  created_date: timestamp('publishedDate'),
  type: string(100),
  status: string(100),
})

/** Azure DevOps adds a thread of its own when somebody votes. A vote of 0 withdraws an earlier one. */
const VOTES = new Map([
  ['10', 'APPROVED'],
  ['5', 'APPROVED'],
  ['-5', 'CHANGES_REQUESTED'],
  ['-10', 'CHANGES_REQUESTED'],
])
const property = ({ properties }: RawRecord, name: string): string => String(properties?.[name]?.$value ?? '')
const voteIn = (thread: RawRecord): string | undefined =>
  property(thread, 'CodeReviewThreadType') === 'VoteUpdate'
    ? VOTES.get(property(thread, 'CodeReviewVoteResult'))
    : undefined

/** Keeps what people wrote or voted, and leaves out other entries that Azure DevOps adds. */
function kindOf(thread: RawRecord, { commentType }: RawRecord): { type: string; status: string } | undefined {
  const vote = voteIn(thread)
  if (vote) return { type: 'REVIEW', status: vote }
  if (commentType === 'system' || commentType === 'codeChange') return undefined
  return { type: thread.threadContext ? 'DIFF' : 'NORMAL', status: '' }
}

export default entity(comments, {
  label: 'Pr Threads',
  domainTypes: ['CODEREVIEW'],
  raw: 'azuredevops_go_api_pull_request_threads',
  collect: {
    forEach: forEachPullRequest,
    request: ({ scope, input }) => versioned(inRepo(scope, `pullRequests/${input.AzuredevopsId}/threads`)),
    emptyOn: [404],
  },
  extract: {
    writes: [identities],
    *rows(thread, { read }) {
      for (const comment of thread.isDeleted ? [] : (thread.comments ?? [])) {
        const kind = comment.isDeleted ? undefined : kindOf(thread, comment)
        if (!kind) continue
        yield read(comments, comment, { thread_id: thread.id, ...kind })
        yield* peopleIn([comment.author], { read })
      }
    },
  },
  convert: {
    to: [pullRequestComments],
    ...ofPullRequest,
    rows: (comment, { idOf }) => [
      pullRequestComments.row({
        id: idOf(comments, comment.pull_request_id, comment.thread_id, comment.comment_id),
        pull_request_id: idOf(pullRequests, comment.pull_request_id),
        body: comment.body,
        account_id: idOf(users, comment.author_id || null),
        created_date: comment.created_date,
        type: comment.type,
        status: comment.status,
      }),
    ],
  },
})
