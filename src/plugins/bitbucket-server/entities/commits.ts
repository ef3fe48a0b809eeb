import { key, string, text, timestamp, zeroTime } from '../../../database/table.ts'
import { pullRequestCommits as domainCommits } from '../../../domain/pull-requests.ts'
import { epochMilliseconds } from '../../../plugin-kit/index.ts'
import { entity, inRepo, PAGE, repoId, table, values } from '../kit.ts'
import { forEachPullRequest, pullRequestId, pullRequests } from './pull-requests.ts'

export const commits = table('pull_request_commits', 'BitbucketServerPrCommit', {
  repo_id: key(string(191, repoId)),
  pull_request_id: key(pullRequestId()),
  commit_sha: key(string(40, 'id')),
  // An author without an account has only the name in git.
  commit_author_name: text(({ author }) => author?.displayName || author?.name),
  commit_author_email: text('author.emailAddress'),
  commit_authored_date: zeroTime(timestamp(epochMilliseconds('authorTimestamp'))),
})

export default entity(commits, {
  label: 'Api Pull Request Commits',
  names: { convert: 'convertPullRequestCommits' },
  domainTypes: ['CODEREVIEW', 'CROSS'],
  raw: 'bitbucket_server_api_pull_request_commits',
  collect: {
    forEach: forEachPullRequest,
    request: ({ scope, input }) => ({ path: inRepo(scope, `pull-requests/${input.BitbucketId}/commits`) }),
    paging: PAGE,
    records: values,
    emptyOn: [404], // the commits or the pull request no longer exist
  },
  convert: {
    to: [domainCommits],
    rows: ({ repo_id, pull_request_id, commit_sha, ...author }, { idOf }) => [
      domainCommits.row({
        pull_request_id: idOf(pullRequests, repo_id, pull_request_id),
        commit_sha,
        commit_author_name: author.commit_author_name,
        commit_author_email: author.commit_author_email,
        commit_authored_date: author.commit_authored_date,
      }),
    ],
  },
})
