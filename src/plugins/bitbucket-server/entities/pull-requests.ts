import type { RawRecord } from '../../../database/table.ts'
import { bigint, boolean, indexed, key, string, text, timestamp, zeroTime } from '../../../database/table.ts'
import { classify } from '../../../domain/classify.ts'
import { pullRequests as domainPullRequests, pullRequestReviewers } from '../../../domain/pull-requests.ts'
import { epochMilliseconds, leftJoin } from '../../../plugin-kit/index.ts'
import { entity, firstLink, idOfRepo, inRepo, PAGE, peopleIn, repoId, repos, table, users, values } from '../kit.ts'

const RAW = 'bitbucket_server_api_pull_requests'

const closedAt = epochMilliseconds('closedDate')

export const pullRequests = table('pull_requests', 'BitbucketServerPullRequest', {
  repo_id: key(string(repoId)),
  bitbucket_id: key(bigint('id')),
  number: indexed(bigint('id')),
  base_repo_id: text(repoId),
  head_repo_id: text('fromRef.repository.slug'), // as in DevLake, without the project
  state: string(),
  title: text(),
  description: text(),
  bitbucket_server_created_at: zeroTime(timestamp(epochMilliseconds('createdDate'))),
  bitbucket_server_updated_at: indexed(zeroTime(timestamp(epochMilliseconds('updatedDate')))),
  closed_at: timestamp(closedAt),
  comment_count: bigint('properties.commentCount'),
  commits: bigint(() => 0),
  merged_at: timestamp((record) => (record.state === 'MERGED' ? closedAt(record) : null)),
  body: text(() => ''),
  type: string(({ title }, { scopeConfig }) => scopeConfig.typeOf(title ?? '')),
  component: string(({ description }, { scopeConfig }) => scopeConfig.componentOf(description ?? '')),
  merge_commit_sha: string(40, 'properties.mergeCommit.id'), // servers before 7.0 have it only in the activities
  head_ref: string('fromRef.displayId'),
  base_ref: string('toRef.displayId'),
  base_commit_sha: string('toRef.latestCommit'),
  head_commit_sha: string('fromRef.latestCommit'),
  url: string(firstLink),
  author_name: string('author.user.displayName'),
  author_id: bigint('author.user.id'),
})
/** DevLake does not store reviewers for Bitbucket Server. */
export const reviewers = table('pull_request_reviewers', 'BitbucketServerPrReviewer', {
  repo_id: key(string(repoId)),
  pull_request_id: key(bigint()),
  reviewer_id: key(bigint('user.id')),
  name: string('user.displayName'),
  slug: string('user.slug'),
  approved: boolean(),
  status: string(100),
})
/** The merge of a pull request, taken from its activities. It has a separate table, because other records provide the other columns. */
export const merges = table('pull_request_merges', 'BitbucketServerPrMerge', {
  repo_id: key(string(repoId)),
  pull_request_id: key(pullRequestId()),
  commit_sha: string(40, 'commit.id'),
  merged_by_id: bigint('user.id'),
  merged_by_name: string('user.displayName'),
})

export function pullRequestId() {
  return bigint((_record: unknown, { input }: RawRecord) => input.BitbucketId)
}

/** Requests for each pull request that has changed. The stored input uses DevLake's names. */
export const forEachPullRequest = {
  table: pullRequests,
  input: ({ bitbucket_id, repo_id }: { bitbucket_id: number; repo_id: string }) => ({
    BitbucketId: bitbucket_id,
    RepoId: repo_id,
  }),
  changedBy: 'bitbucket_server_updated_at',
}

const STATUS = { OPEN: ['OPEN'], MERGED: ['MERGED'], CLOSED: ['DECLINED'] }

export default entity(pullRequests, {
  label: 'Api Pull Requests',
  names: { convert: 'convertPullRequests' },
  domainTypes: ['CODEREVIEW', 'CROSS'],
  raw: RAW,
  collect: {
    // The server cannot filter by time, and does not say by which time it sorts, so the whole list is read.
    request: ({ scope }) => ({ path: inRepo(scope, 'pull-requests'), query: { state: 'ALL' } }),
    paging: PAGE,
    records: values,
    // The key contains the repository, because numbers start again in every repository.
    key: ({ id, toRef }) => `${idOfRepo(toRef.repository)}/${id}`,
  },
  extract: {
    writes: [users],
    owns: [
      {
        table: reviewers,
        by: { connection_id: 'connection_id', repo_id: 'repo_id', pull_request_id: 'bitbucket_id' },
      },
    ],
    dependsOn: ['prType', 'prComponent'],
    *rows(pullRequest, context) {
      const { id, author, reviewers: asked = [] } = pullRequest
      yield context.read(pullRequests, pullRequest)
      yield* peopleIn([author?.user, ...asked.map(({ user }: RawRecord) => user)], context)
      for (const each of asked) if (each.user?.id) yield context.read(reviewers, each, { pull_request_id: id })
    },
  },
  convert: {
    to: [domainPullRequests],
    joins: {
      merge: leftJoin(merges, { connection_id: 'connection_id', repo_id: 'repo_id', pull_request_id: 'bitbucket_id' }),
    },
    rows: ({ merge, ...pullRequest }, { idOf }) => [
      domainPullRequests.row({
        id: idOf(pullRequests, pullRequest.repo_id, pullRequest.bitbucket_id),
        base_repo_id: idOf(repos, pullRequest.base_repo_id),
        head_repo_id: idOf(repos, pullRequest.head_repo_id || null),
        status: classify(pullRequest.state, STATUS, pullRequest.state),
        original_status: pullRequest.state,
        title: pullRequest.title,
        description: pullRequest.description,
        url: pullRequest.url,
        author_name: pullRequest.author_name,
        author_id: idOf(users, pullRequest.author_id || null),
        merged_by_name: merge?.merged_by_name,
        merged_by_id: idOf(users, merge?.merged_by_id || null),
        pull_request_key: pullRequest.number,
        created_date: pullRequest.bitbucket_server_created_at,
        merged_date: pullRequest.merged_at,
        closed_date: pullRequest.closed_at,
        type: pullRequest.type,
        component: pullRequest.component,
        merge_commit_sha: merge?.commit_sha || pullRequest.merge_commit_sha,
        head_ref: pullRequest.head_ref,
        base_ref: pullRequest.base_ref,
        base_commit_sha: pullRequest.base_commit_sha,
        head_commit_sha: pullRequest.head_commit_sha,
      }),
    ],
  },
})

export const reviewersEntity = entity(reviewers, {
  label: 'Pull Request Reviewers',
  domainTypes: ['CODEREVIEW'],
  convert: {
    to: [pullRequestReviewers],
    replaces: [RAW],
    rows: ({ repo_id, pull_request_id, reviewer_id, name, slug }, { idOf }) => [
      pullRequestReviewers.row({
        pull_request_id: idOf(pullRequests, repo_id, pull_request_id),
        reviewer_id: idOf(users, reviewer_id),
        name,
        user_name: slug,
      }),
    ],
  },
})
