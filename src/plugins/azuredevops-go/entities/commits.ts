import type { RawRecord } from '../../../database/table.ts'
import { bigint, common, defineTable, key, string, text, timestamp } from '../../../database/table.ts'
import { commits as domainCommits, repoCommits as domainRepoCommits } from '../../../domain/code.ts'
import { pullRequestCommits as domainPullRequestCommits } from '../../../domain/pull-requests.ts'
import { innerJoin, offset } from '../../../plugin-kit/index.ts'
import { byToken, entity, inputId, inRepo, repos, repositoryId, reviews, table, versioned } from '../kit.ts'
import { ofPullRequest, pullRequests } from './pull-requests.ts'

/** The key is the sha alone, as in the domain layer. */
export const commits = defineTable(
  '_tool_azuredevops_go_commits',
  {
    sha: key(string(40, 'commitId')),
    message: text('comment'),
    author_name: string('author.name'),
    author_email: string('author.email'),
    authored_date: timestamp('author.date'),
    committer_name: string('committer.name'),
    committer_email: string('committer.email'),
    committed_date: timestamp('committer.date'),
    // Lists of commits have the address of the web page. Those of pull requests may have only the address in the API.
    web_url: string(({ remoteUrl, url }) => remoteUrl || url),
    additions: bigint('changeCounts.Add'),
    deletions: bigint('changeCounts.Delete'),
    edit: bigint('changeCounts.Edit'),
    ...common,
  },
  { idPrefix: 'azuredevops_go:AzuredevopsCommit' },
)
export const repoCommits = table('repo_commits', 'AzuredevopsRepoCommit', {
  repository_id: key(string(repositoryId)),
  commit_sha: key(string(40, 'commitId')),
})
/** The columns of the key are in DevLake's order. */
export const pullRequestCommits = defineTable(
  '_tool_azuredevops_go_pull_request_commits',
  {
    commit_sha: key(string(191, 'commitId')),
    connection_id: key(bigint((_commit, { connectionId }: RawRecord) => connectionId)),
    pull_request_id: key(bigint(inputId)),
    author_date: timestamp('author.date'),
    author_name: string('author.name'),
    author_email: string('author.email'),
    ...common,
  },
  { idPrefix: 'azuredevops_go:AzuredevopsPrCommit' },
)

/** Off by default, because gitextractor reads commits faster from git itself. */
export default entity(repoCommits, {
  label: 'Api Commits',
  domainTypes: ['CODE'],
  off: ['collect', 'extract', 'convert'],
  raw: 'azuredevops_go_api_commits',
  collect: {
    when: reviews,
    request: ({ scope }) => versioned(inRepo(scope, 'commits')),
    paging: offset({
      size: 100,
      offsetParam: 'searchCriteria.$skip',
      sizeParam: 'searchCriteria.$top',
      endsOn: 'empty',
    }),
    key: ({ commitId }) => commitId,
    incremental: { filterBy: (since) => ({ 'searchCriteria.fromDate': since.toISOString() }) },
  },
  extract: {
    edition: 1,
    writes: [commits],
    rows: (commit, { read }) => [read(commits, commit), read(repoCommits, commit)],
  },
  convert: {
    to: [domainCommits, domainRepoCommits],
    joins: { commit: innerJoin(commits, { sha: 'commit_sha' }) },
    rows: ({ repository_id, commit }, { idOf }) => [
      domainCommits.row({
        sha: commit.sha,
        additions: commit.additions,
        deletions: commit.deletions,
        message: commit.message,
        author_name: commit.author_name,
        author_email: commit.author_email,
        authored_date: commit.authored_date,
        author_id: commit.author_email,
        committer_name: commit.committer_name,
        committer_email: commit.committer_email,
        committed_date: commit.committed_date,
        committer_id: commit.committer_email,
      }),
      domainRepoCommits.row({ repo_id: idOf(repos, repository_id), commit_sha: commit.sha }),
    ],
  },
})

export const pullRequestCommitsEntity = entity(pullRequestCommits, {
  label: 'Api Pull Request Commits',
  names: { convert: 'convertApiPullRequestsCommits' },
  domainTypes: ['CODEREVIEW'],
  raw: 'azuredevops_go_api_pull_request_commits',
  collect: {
    forEach: {
      table: pullRequests,
      // The commits of a pull request are those that its head has and its target lacks, so both are part of the input.
      input: ({ azuredevops_id, source_commit_sha, target_ref_name, target_commit_sha }) => ({
        AzuredevopsId: azuredevops_id,
        Head: source_commit_sha,
        Target: `${target_ref_name} ${target_commit_sha}`,
      }),
      key: ({ AzuredevopsId }) => AzuredevopsId,
      tellsChange: true,
    },
    request: ({ scope, input }) => versioned(inRepo(scope, `pullRequests/${input.AzuredevopsId}/commits`)),
    paging: byToken(100),
    key: ({ commitId }) => commitId,
    emptyOn: [404],
  },
  extract: {
    edition: 1,
    writes: [commits, repoCommits],
    // A force push removes commits, so all commits of a pull request are replaced together.
    owns: [{ table: pullRequestCommits, by: { connection_id: 'connection_id', pull_request_id: 'pull_request_id' } }],
    rows: (commit, { read }) => [read(commits, commit), read(repoCommits, commit), read(pullRequestCommits, commit)],
  },
  convert: {
    to: [domainPullRequestCommits],
    ...ofPullRequest,
    rows: ({ pull_request_id, commit_sha, author_name, author_email, author_date }, { idOf }) => [
      domainPullRequestCommits.row({
        pull_request_id: idOf(pullRequests, pull_request_id),
        commit_sha,
        commit_author_name: author_name,
        commit_author_email: author_email,
        commit_authored_date: author_date,
      }),
    ],
  },
})
