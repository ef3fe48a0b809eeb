import type { RawRecord, TableRow } from '../../../database/table.ts'
import { bigint, common, defineTable, key, string, text, timestamp, zeroTime } from '../../../database/table.ts'
import { commits as domainCommits, repoCommits as domainRepoCommits } from '../../../domain/code.ts'
import { pullRequestCommits as domainPullRequestCommits } from '../../../domain/pull-requests.ts'
import { type AnyExtractContext, innerJoin } from '../../../plugin-kit/index.ts'
import { accounts, entity, inRepo, pages, peopleIn, repoId, repos, table, values } from '../kit.ts'
import { forEachPullRequest, pullRequestId, pullRequests } from './pull-requests.ts'

/** Reads the author as git stores it: `Ada <ada@example.com>`. */
function signature({ author }: RawRecord): { name: string; email: string } {
  const text = String(author?.raw ?? '').trim()
  const start = text.lastIndexOf('<')
  if (start < 0 || !text.endsWith('>')) return { name: '', email: '' }
  return { name: text.slice(0, start).trim(), email: text.slice(start + 1, -1) }
}
const authorName = (commit: RawRecord): string =>
  signature(commit).name || commit.author?.user?.display_name || commit.author?.raw
const authorEmail = (commit: RawRecord): string => signature(commit).email

/** The key is the sha alone, as in the domain layer. */
export const commits = defineTable(
  '_tool_bitbucket_commits',
  {
    sha: key(string(40, 'hash')),
    author_id: string('author.user.account_id'),
    author_name: string(authorName),
    author_email: string(authorEmail),
    authored_date: zeroTime(timestamp('date')),
    committed_date: zeroTime(timestamp('date')),
    message: text(),
    url: string('links.html.href'),
    additions: bigint(() => 0),
    deletions: bigint(() => 0),
    ...common,
  },
  { idPrefix: 'bitbucket:BitbucketCommit' },
)
export const repoCommits = table('repo_commits', 'BitbucketRepoCommit', {
  repo_id: key(string(repoId)),
  commit_sha: key(string(40, 'hash')),
})
export const pullRequestCommits = table('pull_request_commits', 'BitbucketPrCommit', {
  repo_id: key(string(191, repoId)),
  pull_request_id: key(pullRequestId()),
  commit_sha: key(string(40, 'hash')),
  commit_author_name: text(authorName),
  commit_author_email: text(authorEmail),
  commit_authored_date: zeroTime(timestamp('date')),
})

function* commitRows(commit: RawRecord, context: Pick<AnyExtractContext, 'read'>): Generator<TableRow, void> {
  yield context.read(commits, commit)
  yield context.read(repoCommits, commit)
  yield* peopleIn([commit.author?.user], context)
}

export default entity(pullRequestCommits, {
  label: 'PR Commits',
  domainTypes: ['CODEREVIEW', 'CROSS'],
  raw: 'bitbucket_api_pull_request_commits',
  collect: {
    forEach: forEachPullRequest,
    request: ({ scope, input }) => ({ path: inRepo(scope, `pullrequests/${input.BitbucketId}/commits`) }),
    paging: pages(100),
    records: values,
    key: ({ hash }) => hash,
    emptyOn: [404], // the branch of a declined pull request was deleted
  },
  extract: {
    writes: [commits, repoCommits, accounts],
    *rows(commit, context) {
      yield context.read(pullRequestCommits, commit)
      yield* commitRows(commit, context)
    },
  },
  convert: {
    to: [domainPullRequestCommits],
    rows: ({ repo_id, pull_request_id, commit_sha, ...author }, { idOf }) => [
      domainPullRequestCommits.row({
        pull_request_id: idOf(pullRequests, repo_id, pull_request_id),
        commit_sha,
        commit_author_name: author.commit_author_name,
        commit_author_email: author.commit_author_email,
        commit_authored_date: author.commit_authored_date,
      }),
    ],
  },
})

/** Off by default, because git itself is faster. */
export const allCommits = entity(repoCommits, {
  label: 'Commits',
  domainTypes: ['CODE'],
  off: ['collect', 'extract', 'convert'],
  raw: 'bitbucket_api_commits',
  collect: {
    request: ({ scope }) => ({ path: inRepo(scope, 'commits') }),
    paging: pages(100),
    records: values,
    key: ({ hash }) => hash,
    emptyOn: [404], // an empty repository
  },
  extract: { writes: [commits, accounts], rows: commitRows },
  convert: {
    to: [domainCommits, domainRepoCommits],
    joins: { commit: innerJoin(commits, { sha: 'commit_sha' }) },
    rows: ({ repo_id, commit }, { idOf }) => [
      domainCommits.row({
        sha: commit.sha,
        message: commit.message,
        author_id: idOf(accounts, commit.author_id || null),
        author_name: commit.author_name,
        author_email: commit.author_email,
        authored_date: commit.authored_date,
        committed_date: commit.committed_date,
      }),
      domainRepoCommits.row({ repo_id: idOf(repos, repo_id), commit_sha: commit.sha }),
    ],
  },
})
