import type { RawRecord } from '../../../database/table.ts'
import { key, string, timestamp, zeroTime } from '../../../database/table.ts'
import { pullRequestCommits as domainPullRequestCommits } from '../../../domain/pull-requests.ts'
import { type AnyExtractContext, leftJoin } from '../../../plugin-kit/index.ts'
import { entity, inRepo, REST_PAGE, repoAccounts, table } from '../kit.ts'
import { commitRows, commits, repoCommits } from './commits.ts'
import {
  forEachPullRequest,
  joinPullRequest,
  ofRepo,
  pullRequestDetails,
  pullRequestId,
  pullRequests,
} from './pull-requests.ts'

export const pullRequestCommits = table('pull_request_commits', 'GithubPrCommit', {
  commit_sha: key(string(40, 'sha')),
  pull_request_id: key(pullRequestId()),
  commit_author_name: string('commit.author.name'),
  commit_author_email: string('commit.author.email'),
  commit_authored_date: zeroTime(timestamp('commit.author.date')),
})

const LIST_RAW = 'github_api_pull_request_commits'
const LONG_RAW = 'github_api_pull_request_long_commits'

/**
 * GitHub lists at most this many commits of a pull request, and does not say when it leaves some out. A comparison of its two
 * ends returns all of them.
 */
const MOST_LISTED = 250

type PullRequestRow = Parameters<typeof forEachPullRequest.input>[0]
const commonSpec = {
  domainTypes: ['CROSS', 'CODEREVIEW'],
  extract: {
    writes: [commits, repoCommits, repoAccounts],
    // A force push removes commits, so all commits of a pull request are replaced together.
    owns: [
      {
        table: pullRequestCommits,
        by: { connection_id: 'connection_id', pull_request_id: 'pull_request_id' },
      },
    ],
    rows: (commit: RawRecord, context: AnyExtractContext) => [
      ...commitRows(commit, context),
      context.read(repoCommits, commit),
      context.read(pullRequestCommits, commit),
    ],
  },
} as const
const bySha = ({ sha }: RawRecord) => sha

export default entity(pullRequestCommits, {
  ...commonSpec,
  label: 'PR Commits',
  raw: LIST_RAW,
  collect: {
    forEach: forEachPullRequest,
    request: ({ scope, input }) => ({ path: inRepo(scope, `pulls/${input.Number}/commits`) }),
    paging: REST_PAGE,
    key: bySha,
    emptyOn: [404],
  },
  convert: {
    to: [domainPullRequestCommits],
    joins: joinPullRequest,
    where: ofRepo,
    replaces: [LIST_RAW, LONG_RAW, 'github_graphql_prs'],
    rows: (commit, { idOf }) => [
      domainPullRequestCommits.row({
        pull_request_id: idOf(pullRequests, commit.pull_request_id),
        commit_sha: commit.commit_sha,
        commit_author_name: commit.commit_author_name,
        commit_author_email: commit.commit_author_email,
        commit_authored_date: commit.commit_authored_date,
      }),
    ],
  },
})

/** A separate list, because a comparison fails if one of the two ends is deleted. That is recorded as a gap, and the listed commits stay. */
export const longPullRequests = entity(pullRequestCommits, {
  ...commonSpec,
  label: 'Long PR Commits',
  raw: LONG_RAW,
  collect: {
    forEach: {
      ...forEachPullRequest,
      joins: { details: leftJoin(pullRequestDetails, { connection_id: 'connection_id', github_id: 'github_id' }) },
      only: ({ details }) => (details?.commits ?? 0) > MOST_LISTED,
      input: (pull) => ({
        ...forEachPullRequest.input(pull as PullRequestRow),
        Range: `${pull.base_commit_sha}...${pull.head_commit_sha}`,
      }),
      key: ({ GithubId }) => GithubId,
    },
    request: ({ scope, input }) => ({ path: inRepo(scope, `compare/${input.Range}`) }),
    paging: REST_PAGE,
    records: ({ commits }) => commits,
    key: bySha,
  },
})
