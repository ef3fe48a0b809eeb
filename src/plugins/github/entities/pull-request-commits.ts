import { key, string, timestamp, zeroTime } from '../../../database/table.ts'
import { pullRequestCommits as domainPullRequestCommits } from '../../../domain/pull-requests.ts'
import { leftJoin } from '../../../plugin-kit/index.ts'
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

/** GitHub lists no more commits of a pull request, without a word; a comparison of its two ends has them all. */
const MOST_LISTED = 250

export default entity(pullRequestCommits, {
  label: 'PR Commits',
  domainTypes: ['CROSS', 'CODEREVIEW'],
  raw: 'github_api_pull_request_commits',
  collect: {
    forEach: {
      ...forEachPullRequest,
      joins: { details: leftJoin(pullRequestDetails, { connection_id: 'connection_id', github_id: 'github_id' }) },
      input: ({ details, ...pull }) => ({
        ...forEachPullRequest.input(pull as never),
        ...((details?.commits ?? 0) > MOST_LISTED && { Range: `${pull.base_commit_sha}...${pull.head_commit_sha}` }),
      }),
      key: ({ GithubId }) => GithubId,
    },
    request: ({ scope, input }) => ({
      path: inRepo(scope, input.Range ? `compare/${input.Range}` : `pulls/${input.Number}/commits`),
    }),
    paging: REST_PAGE,
    records: (body) => body.commits ?? body,
    key: ({ sha }) => sha,
    emptyOn: [404],
  },
  extract: {
    writes: [commits, repoCommits, repoAccounts],
    // A force push takes commits away: those of a pull request are replaced together.
    owns: [
      {
        table: pullRequestCommits,
        by: { connection_id: 'connection_id', pull_request_id: 'pull_request_id' },
      },
    ],
    rows: (commit, context) => [
      ...commitRows(commit, context),
      context.read(repoCommits, commit),
      context.read(pullRequestCommits, commit),
    ],
  },
  convert: {
    to: [domainPullRequestCommits],
    joins: joinPullRequest,
    where: ofRepo,
    replaces: ['github_api_pull_request_commits', 'github_graphql_prs'],
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
