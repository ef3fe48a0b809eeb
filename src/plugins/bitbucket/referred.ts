import type { AnyTable } from '../../database/table.ts'
import type { Referred } from '../../plugin-kit/index.ts'
import { commits, pullRequestCommits, repoCommits } from './entities/commits.ts'
import { comments as issueComments, issues } from './entities/issues.ts'
import { comments as pullRequestComments } from './entities/pull-request-comments.ts'
import { pullRequests, reviewers } from './entities/pull-requests.ts'
import { accounts } from './kit.ts'

const person = (table: AnyTable, column: string) => ({ table, columns: { account_id: column } })

/** Rows that many records refer to. They are kept as long as one record refers to them. */
export const referred: readonly Referred[] = [
  {
    table: accounts,
    by: [
      person(pullRequests, 'author_id'),
      person(pullRequests, 'merged_by_id'),
      person(reviewers, 'account_id'),
      person(pullRequestComments, 'author_id'),
      person(issues, 'author_id'),
      person(issues, 'assignee_id'),
      person(issueComments, 'author_id'),
      person(commits, 'author_id'),
    ],
  },
  { table: repoCommits, isScoped: true, by: [{ table: pullRequestCommits, columns: { commit_sha: 'commit_sha' } }] },
  {
    table: commits,
    by: [
      { table: pullRequestCommits, columns: { sha: 'commit_sha' } },
      { table: repoCommits, columns: { sha: 'commit_sha' } },
    ],
  },
]
