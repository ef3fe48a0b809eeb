import { bigint, indexed, key, string, text, timestamp, zeroTime } from '../../../database/table.ts'
import { pullRequestComments } from '../../../domain/pull-requests.ts'
import { accounts, entity, inRepo, pages, peopleIn, repoId, table, values } from '../kit.ts'
import { forEachPullRequest, pullRequestId, pullRequests } from './pull-requests.ts'

export const comments = table('pull_request_comments', 'BitbucketPrComment', {
  bitbucket_id: key(bigint('id')),
  repo_id: indexed(string(191, repoId), 'pr'),
  pull_request_id: indexed(pullRequestId(), 'pr'),
  author_id: string('user.account_id'),
  author_name: string('user.display_name'),
  bitbucket_created_at: zeroTime(timestamp('created_on')),
  bitbucket_updated_at: timestamp('updated_on'),
  type: text(),
  body: text('content.raw'),
})

export default entity(comments, {
  label: 'PR Comments',
  domainTypes: ['CODEREVIEW'],
  raw: 'bitbucket_api_pull_request_comments',
  collect: {
    forEach: forEachPullRequest,
    request: ({ scope, input }) => ({ path: inRepo(scope, `pullrequests/${input.BitbucketId}/comments`) }),
    paging: pages(100),
    records: values,
    emptyOn: [404],
  },
  extract: {
    writes: [accounts],
    *rows(comment, context) {
      yield context.read(comments, comment)
      yield* peopleIn([comment.user], context)
    },
  },
  convert: {
    to: [pullRequestComments],
    rows: (comment, { idOf }) => [
      pullRequestComments.row({
        id: idOf(comments, comment.bitbucket_id),
        pull_request_id: idOf(pullRequests, comment.repo_id, comment.pull_request_id),
        body: comment.body,
        account_id: idOf(accounts, comment.author_id || null),
        created_date: comment.bitbucket_created_at,
        type: comment.type, // Bitbucket's own value, as in DevLake
      }),
    ],
  },
})
