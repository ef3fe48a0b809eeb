import type { RawRecord } from '../../../database/table.ts'
import { bigint, boolean, indexed, key, string, text, timestamp, zeroTime } from '../../../database/table.ts'
import { classify } from '../../../domain/classify.ts'
import {
  pullRequests as domainPullRequests,
  pullRequestComments,
  pullRequestReviewers,
} from '../../../domain/pull-requests.ts'
import { leftJoin } from '../../../plugin-kit/index.ts'
import {
  accounts,
  BY_CHANGE,
  changedSince,
  entity,
  inRepo,
  pages,
  peopleIn,
  repoId,
  repos,
  table,
  values,
} from '../kit.ts'

const RAW = 'bitbucket_api_pull_requests'
const CLOSED = ['DECLINED', 'SUPERSEDED']

export const pullRequests = table('pull_requests', 'BitbucketPullRequest', {
  repo_id: key(string(repoId)),
  bitbucket_id: key(bigint('id')),
  number: indexed(bigint('id')),
  base_repo_id: text('destination.repository.full_name'),
  head_repo_id: text('source.repository.full_name'), // empty if the fork was deleted
  state: string(),
  title: text(),
  description: text(),
  bitbucket_created_at: zeroTime(timestamp('created_on')),
  bitbucket_updated_at: indexed(zeroTime(timestamp('updated_on'))),
  // Bitbucket has no time of declining. After that, only comments change the pull request.
  closed_at: timestamp(({ state, updated_on, merge_commit }) =>
    CLOSED.includes(state) ? updated_on : merge_commit?.date,
  ),
  comment_count: bigint(),
  commits: bigint(() => 0),
  merged_at: timestamp('merge_commit.date'),
  body: text(() => ''),
  type: string(),
  component: string(() => ''),
  merge_commit_sha: string(40, 'merge_commit.hash'),
  head_ref: string('source.branch.name'),
  base_ref: string('destination.branch.name'),
  base_commit_sha: string('destination.commit.hash'),
  head_commit_sha: string('source.commit.hash'),
  url: string('links.html.href'),
  author_name: string('author.display_name'),
  author_id: string('author.account_id'),
  merged_by_name: string(100, ofMerger('display_name')),
  merged_by_id: string(100, ofMerger('account_id')),
})
export const reviewers = table('pr_reviewers', 'BitbucketPrReviewer', {
  repo_id: key(string(repoId)),
  pull_request_id: key(bigint()),
  account_id: key(string('user.account_id')),
  display_name: string('user.display_name'),
  role: string(100),
  state: string(100),
  approved: boolean(),
  participated_on: timestamp(),
})
/** Lists have the first twelve digits of a merge commit, by which no other record can be found. DevLake has no such table. */
export const mergeCommits = table('pr_merge_commits', 'BitbucketPrMergeCommit', {
  repo_id: key(string(repoId)),
  pull_request_id: key(bigint((_commit: unknown, { input }: RawRecord) => input.BitbucketId)),
  commit_sha: string(40, 'hash'),
  committed_date: timestamp('date'),
})

function ofMerger(field: string) {
  return ({ state, closed_by }: RawRecord) => (state === 'MERGED' ? closed_by?.[field] : '')
}

/** Requests for each pull request that has changed. The stored input uses DevLake's names. */
export const forEachPullRequest = {
  table: pullRequests,
  input: ({ bitbucket_id, repo_id }: { bitbucket_id: number; repo_id: string }) => ({
    BitbucketId: bitbucket_id,
    RepoId: repo_id,
  }),
  changedBy: 'bitbucket_updated_at',
}
export const pullRequestId = () =>
  bigint(({ pullrequest }: RawRecord, { input }: RawRecord) => pullrequest?.id ?? input.BitbucketId)

const STATUS = { OPEN: ['OPEN'], MERGED: ['MERGED'], CLOSED }

export default entity(pullRequests, {
  label: 'Pull Requests',
  domainTypes: ['CODEREVIEW', 'CROSS'],
  raw: RAW,
  collect: {
    request: ({ scope }) => ({
      path: inRepo(scope, 'pullrequests'),
      query: {
        state: ['OPEN', 'MERGED', ...CLOSED],
        fields: '+values.participants,+values.merge_commit.date,+values.merge_commit.hash',
        ...BY_CHANGE,
      },
    }),
    paging: pages(50),
    records: values,
    // The key is an address, because numbers start again in every repository.
    key: ({ id, links }) => links?.html?.href ?? id,
    incremental: { filterBy: changedSince },
  },
  extract: {
    writes: [accounts],
    owns: [
      {
        table: reviewers,
        by: { connection_id: 'connection_id', repo_id: 'repo_id', pull_request_id: 'bitbucket_id' },
      },
    ],
    *rows(pullRequest, context) {
      const { id, author, closed_by, participants = [] } = pullRequest
      yield context.read(pullRequests, pullRequest)
      yield* peopleIn([author, closed_by, ...participants.map(({ user }: RawRecord) => user)], context)
      for (const each of participants) {
        if (each.user?.account_id) yield context.read(reviewers, each, { pull_request_id: id })
      }
    },
  },
  convert: {
    to: [domainPullRequests],
    joins: {
      merge: leftJoin(mergeCommits, {
        connection_id: 'connection_id',
        repo_id: 'repo_id',
        pull_request_id: 'bitbucket_id',
      }),
    },
    rows: ({ merge, ...pullRequest }, { idOf }) => {
      const { repo_id, base_repo_id, head_repo_id } = pullRequest
      const merged_date = pullRequest.merged_at ?? merge?.committed_date ?? null
      return [
        domainPullRequests.row({
          id: idOf(pullRequests, repo_id, pullRequest.bitbucket_id),
          // If a repository was renamed, records contain the new name.
          base_repo_id: idOf(repos, repo_id),
          head_repo_id: idOf(repos, (head_repo_id === base_repo_id ? repo_id : head_repo_id) || null),
          status: classify(pullRequest.state, STATUS, pullRequest.state),
          original_status: pullRequest.state,
          title: pullRequest.title,
          description: pullRequest.description,
          url: pullRequest.url,
          author_name: pullRequest.author_name,
          author_id: idOf(accounts, pullRequest.author_id || null),
          merged_by_name: pullRequest.merged_by_name,
          merged_by_id: idOf(accounts, pullRequest.merged_by_id || null),
          pull_request_key: pullRequest.number,
          created_date: pullRequest.bitbucket_created_at,
          merged_date,
          closed_date: pullRequest.closed_at ?? merged_date,
          type: pullRequest.type,
          component: pullRequest.component,
          merge_commit_sha: merge?.commit_sha || pullRequest.merge_commit_sha,
          head_ref: pullRequest.head_ref,
          base_ref: pullRequest.base_ref,
          base_commit_sha: pullRequest.base_commit_sha,
          head_commit_sha: pullRequest.head_commit_sha,
        }),
      ]
    },
  },
})

export const mergeCommitsEntity = entity(mergeCommits, {
  label: 'PR Merge Commits',
  domainTypes: ['CODEREVIEW'],
  raw: 'bitbucket_api_pull_request_merge_commits',
  collect: {
    forEach: {
      ...forEachPullRequest,
      input: ({ merge_commit_sha, ...row }) => ({ ...forEachPullRequest.input(row), Sha: merge_commit_sha }),
      only: ({ merge_commit_sha }) => merge_commit_sha !== '' && merge_commit_sha.length < 40,
    },
    request: ({ scope, input }) => ({ path: inRepo(scope, `commit/${input.Sha}`) }),
    records: (commit) => [commit],
    key: ({ hash }) => hash,
    emptyOn: [404], // removed by a force push
  },
})

const REVIEWS = new Map([
  ['approved', 'APPROVED'],
  ['changes_requested', 'CHANGES_REQUESTED'],
])
const reviewOf = ({ state, approved }: { state: string; approved: boolean }) =>
  REVIEWS.get(state) ?? (approved ? 'APPROVED' : undefined)

/** People who were asked for a review, and the reviews of those who gave one. */
export const reviewersEntity = entity(reviewers, {
  label: 'PR Reviewers',
  domainTypes: ['CODEREVIEW', 'CROSS'],
  convert: {
    to: [pullRequestReviewers, pullRequestComments],
    replaces: [RAW],
    *rows(reviewer, { idOf }) {
      const { repo_id, pull_request_id: number, account_id, display_name, role, participated_on } = reviewer
      const pull_request_id = idOf(pullRequests, repo_id, number)
      const reviewer_id = idOf(accounts, account_id)
      const status = reviewOf(reviewer)
      if (role === 'REVIEWER' || status) {
        yield pullRequestReviewers.row({ pull_request_id, reviewer_id, name: display_name })
      }
      if (!status || !participated_on) return
      yield pullRequestComments.row({
        id: idOf(reviewers, repo_id, number, account_id),
        pull_request_id,
        account_id: reviewer_id,
        created_date: participated_on,
        type: 'REVIEW',
        status,
      })
    },
  },
})
