import type { RawRecord } from '../../../database/table.ts'
import {
  bigint,
  common,
  defineTable,
  indexed,
  key,
  string,
  type TableRow,
  text,
  timestamp,
  zeroTime,
} from '../../../database/table.ts'
import { commits as domainCommits, repoCommits as domainRepoCommits } from '../../../domain/code.ts'
import type { AnyExtractContext } from '../../../plugin-kit/index.ts'
import { innerJoin, leftJoin } from '../../../plugin-kit/index.ts'
import { entity, inRepo, LONG_LIST, peopleIn, REST_PAGE, repoAccounts, repoId, repos, table } from '../kit.ts'
import { accounts } from './accounts.ts'

/** The key is the sha alone, as in the domain layer. */
export const commits = defineTable(
  '_tool_github_commits',
  {
    sha: key(string(40)),
    author_id: bigint('author.id'),
    author_name: string('commit.author.name'),
    author_email: string('commit.author.email'),
    authored_date: zeroTime(timestamp('commit.author.date')),
    committer_id: bigint('committer.id'),
    committer_name: string('commit.committer.name'),
    committer_email: string('commit.committer.email'),
    committed_date: zeroTime(timestamp('commit.committer.date')),
    message: text('commit.message'),
    url: string(),
    // Lists do not have these values, and a row must not depend on which answer came last. They are stored in `commit_stats`.
    additions: bigint(() => 0),
    deletions: bigint(() => 0),
    ...common,
  },
  { idPrefix: 'github:GithubCommit' },
)
export const repoCommits = table('repo_commits', 'GithubRepoCommit', {
  repo_id: key(bigint(repoId)),
  commit_sha: key(string(40, 'sha')),
})
const commitStats = table('commit_stats', 'GithubCommitStat', {
  sha: key(string(40)),
  additions: bigint('stats.additions'),
  deletions: bigint('stats.deletions'),
  committed_date: indexed(zeroTime(timestamp('commit.committer.date'))),
})

/** Makes the rows of a commit and its people, for every entity that contains commits. */
export const commitRows = (commit: RawRecord, context: Reading): TableRow[] => [
  context.read(commits, commit),
  ...peopleIn([commit.author, commit.committer], context),
]
type Reading = Pick<AnyExtractContext, 'read'>

/** Off by default, because gitextractor reads commits faster from git itself. */
export default entity(repoCommits, {
  label: 'Commits',
  domainTypes: ['CODE'],
  off: ['collect', 'extract', 'convert'],
  raw: 'github_api_commits',
  collect: {
    request: ({ scope }) => ({ path: inRepo(scope, 'commits') }),
    paging: REST_PAGE,
    incremental: { filterBy: (since) => ({ since: since.toISOString() }) },
    longList: LONG_LIST,
    key: ({ sha }) => sha,
    emptyOn: [409], // an empty repository
  },
  extract: {
    writes: [commits, repoAccounts],
    rows: (commit, context) => [...commitRows(commit, context), context.read(repoCommits, commit)],
  },
  convert: {
    to: [domainCommits, domainRepoCommits],
    joins: {
      commit: innerJoin(commits, { sha: 'commit_sha' }),
      stats: leftJoin(commitStats, { connection_id: 'connection_id', sha: 'commit_sha' }),
    },
    rows: ({ repo_id, commit, stats }, { idOf }) => [
      domainCommits.row({
        sha: commit.sha,
        additions: stats?.additions ?? commit.additions,
        deletions: stats?.deletions ?? commit.deletions,
        message: commit.message,
        author_name: commit.author_name,
        author_email: commit.author_email,
        authored_date: commit.authored_date,
        author_id: idOf(accounts, commit.author_id || null),
        committer_name: commit.committer_name,
        committer_email: commit.committer_email,
        committed_date: commit.committed_date,
        committer_id: idOf(accounts, commit.committer_id || null),
      }),
      domainRepoCommits.row({ repo_id: idOf(repos, repo_id), commit_sha: commit.sha }),
    ],
  },
})

export const stats = entity(commitStats, {
  label: 'Commit Stats',
  domainTypes: ['CODE'],
  off: ['collect', 'extract'],
  raw: 'github_api_commit_stats',
  collect: {
    forEach: {
      table: repoCommits,
      input: ({ commit_sha }) => ({ Sha: commit_sha }),
      changedBy: 'created_at',
    },
    request: ({ scope, input }) => ({ path: inRepo(scope, `commits/${input.Sha}`) }),
    records: (commit) => [commit],
    emptyOn: [404, 422], // removed by a force push
  },
})
