import { bigint, indexed, key, string, text, timestamp } from '../../../database/table.ts'
import { pullRequestComments, pullRequestReviewers } from '../../../domain/pull-requests.ts'
import { entity, inRepo, peopleIn, REST_PAGE, repoAccounts, table, withoutGhosts } from '../kit.ts'
import { accounts } from './accounts.ts'
import {
  forEachPullRequest,
  joinPullRequest,
  ofRepo,
  PULL_REQUEST_RAW,
  pullRequestId,
  pullRequests,
  reviewers,
} from './pull-requests.ts'

const RAW = 'github_api_pull_request_reviews'

export const reviews = table('pull_request_reviews', 'GithubPrReview', {
  github_id: key(bigint('id')),
  pull_request_id: indexed(pullRequestId()),
  body: text(),
  author_username: string('user.login'),
  author_user_id: bigint('user.id'),
  commit_sha: string('commit_id'),
  github_submit_at: timestamp('submitted_at'),
  state: string(),
})

export default entity(reviews, {
  label: 'PR Reviews',
  domainTypes: ['CROSS', 'CODEREVIEW'],
  raw: RAW,
  collect: {
    forEach: forEachPullRequest,
    request: ({ scope, input }) => ({ path: inRepo(scope, `pulls/${input.Number}/reviews`) }),
    paging: REST_PAGE,
    emptyOn: [404],
  },
  extract: {
    writes: [reviewers, repoAccounts],
    *rows(given, context) {
      const review = withoutGhosts(given, 'user')
      if (review.state === 'PENDING' || context.scopeConfig.isExcluded(review.user)) return
      yield context.read(reviews, review)
      if (review.user) yield context.read(reviewers, review.user)
      yield* peopleIn([review.user], context)
    },
  },
  convert: {
    to: [pullRequestComments],
    joins: joinPullRequest,
    where: ofRepo,
    replaces: [RAW, 'github_graphql_prs'],
    rows: (review, { idOf }) => [
      pullRequestComments.row({
        id: idOf(reviews, review.github_id),
        pull_request_id: idOf(pullRequests, review.pull_request_id),
        body: review.body,
        account_id: idOf(accounts, review.author_user_id || null),
        created_date: review.github_submit_at,
        commit_sha: review.commit_sha,
        type: 'REVIEW',
        status: review.state,
      }),
    ],
  },
})

export const reviewersEntity = entity(reviewers, {
  label: 'Reviews',
  domainTypes: ['CROSS', 'CODEREVIEW'],
  convert: {
    to: [pullRequestReviewers],
    joins: joinPullRequest,
    where: ofRepo,
    replaces: [RAW, ...PULL_REQUEST_RAW],
    rows: ({ pull_request_id, reviewer_id, name, username }, { idOf }) => [
      pullRequestReviewers.row({
        pull_request_id: idOf(pullRequests, pull_request_id),
        reviewer_id: idOf(accounts, reviewer_id),
        name,
        user_name: username,
      }),
    ],
  },
})
