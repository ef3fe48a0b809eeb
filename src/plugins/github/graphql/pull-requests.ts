import type { AnyTable, RawRecord } from '../../../database/table.ts'
import { commits, repoCommits } from '../entities/commits.ts'
import restCommits, { pullRequestCommits } from '../entities/pull-request-commits.ts'
import rest, { pullRequestLabels, reviewers } from '../entities/pull-requests.ts'
import restReviews, { reviews } from '../entities/reviews.ts'
import { repoAccounts } from '../kit.ts'
import { COMMIT_FIELDS, commitOf } from './commits.ts'
import { ticketOf } from './issues.ts'
import {
  completion,
  innerList,
  nodesIn,
  ofItsRepository,
  overGraphql,
  personOf,
  reconciled,
  repositoryList,
  rowsOf,
} from './kit.ts'

const COMMIT = `commit { ${COMMIT_FIELDS} }`
const REVIEW = 'fullDatabaseId state body submittedAt commit { oid } author { ...person }'
const REQUEST = 'requestedReviewer { ...person }'

const PULL_REQUESTS = {
  size: 25,
  order: 'UPDATED_AT',
  fields: `id fullDatabaseId number repository { databaseId } state title body url createdAt updatedAt closedAt merged mergedAt isDraft
    additions deletions headRefName headRefOid baseRefName baseRefOid headRepository { databaseId }
    author { ...person } mergedBy { ...person } mergeCommit { oid } potentialMergeCommit { oid }
    labels(first: 100) { nodes { name } } comments { totalCount }
    ${innerList('reviewRequests', REQUEST)} ${innerList('commits', COMMIT)} ${innerList('reviews', REVIEW)}`,
}
export const { query, ...list } = repositoryList('pullRequests', PULL_REQUESTS)
export const { queries, reconcile } = reconciled('pullRequests', 'PullRequest', PULL_REQUESTS)
export const completions = [
  completion('PullRequest', 'commits', COMMIT),
  completion('PullRequest', 'reviews', REVIEW),
  completion('PullRequest', 'reviewRequests', REQUEST),
]

const pullRequestOf = (node: RawRecord) => ({
  ...ticketOf(node),
  merged: node.merged,
  merged_at: node.mergedAt,
  merged_by: personOf(node.mergedBy),
  // For pull requests that are not merged, REST has the commit of the trial merge.
  merge_commit_sha: node.mergeCommit?.oid ?? node.potentialMergeCommit?.oid,
  draft: node.isDraft,
  additions: node.additions,
  deletions: node.deletions,
  comments: node.comments?.totalCount,
  commits: node.commits?.totalCount,
  head: { ref: node.headRefName, sha: node.headRefOid, repo: { id: node.headRepository?.databaseId } },
  base: { ref: node.baseRefName, sha: node.baseRefOid },
  requested_reviewers: nodesIn(node.reviewRequests).flatMap(
    (each: RawRecord) => personOf(each.requestedReviewer) ?? [],
  ),
})

const reviewOf = (node: RawRecord) => ({
  id: node.fullDatabaseId,
  state: node.state,
  body: node.body,
  submitted_at: node.submittedAt,
  commit_id: node.commit?.oid,
  user: personOf(node.author),
})

const ofPullRequest = { connection_id: 'connection_id', pull_request_id: 'github_id' }

/** A pull request with its commits and reviews, which need three requests in REST. */
export default overGraphql(rest, {
  raw: 'github_graphql_prs',
  collect: {
    ...list,
    ...ofItsRepository,
    completes: completions,
    incremental: { newestFirstBy: 'updatedAt' },
    reconcile,
  },
  writes: [repoAccounts, commits, repoCommits],
  edition: 2,
  owns: [
    { table: pullRequestLabels, by: { connection_id: 'connection_id', pull_id: 'github_id' } },
    { table: reviewers, by: ofPullRequest },
    { table: reviews, by: ofPullRequest },
    { table: pullRequestCommits, by: ofPullRequest },
  ],
  *rows(node, context) {
    const pull = pullRequestOf(node)
    if (context.scopeConfig.isExcluded(pull.user)) return
    // In REST, these records get the id of their pull request from the input.
    const read = (table: AnyTable, record: unknown, values = {}) =>
      context.read(table, record, {
        ...values,
        ...('pull_request_id' in table.columns && { pull_request_id: pull.id }),
      })
    yield* rowsOf(rest)(pull, context)
    for (const { commit } of nodesIn(node.commits)) {
      yield* rowsOf(restCommits)(commitOf(commit, context), { ...context, read })
    }
    for (const each of nodesIn(node.reviews)) yield* rowsOf(restReviews)(reviewOf(each), { ...context, read })
  },
})
