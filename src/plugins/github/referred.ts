import type { AnyTable } from '../../database/table.ts'
import type { Referred } from '../../plugin-kit/index.ts'
import { issueComments, pullRequestComments } from './entities/comments.ts'
import { commits, repoCommits } from './entities/commits.ts'
import { deployments } from './entities/deployments.ts'
import { events } from './entities/events.ts'
import { issueAssignees, issues } from './entities/issues.ts'
import { pullRequestCommits } from './entities/pull-request-commits.ts'
import { pullRequestDetails, pullRequests, reviewers } from './entities/pull-requests.ts'
import { releases } from './entities/releases.ts'
import { reviews } from './entities/reviews.ts'
import { repoAccounts } from './kit.ts'

const person = (table: AnyTable, column: string) => ({ table, columns: { account_id: column } })

/** Rows that many records refer to. They are kept as long as one record refers to them. */
export const referred: readonly Referred[] = [
  {
    table: repoAccounts,
    isScoped: true,
    by: [
      person(issues, 'author_id'),
      person(issueAssignees, 'assignee_id'),
      person(pullRequests, 'author_id'),
      person(pullRequests, 'merged_by_id'),
      person(pullRequestDetails, 'merged_by_id'),
      person(reviewers, 'reviewer_id'),
      person(reviews, 'author_user_id'),
      person(issueComments, 'author_user_id'),
      person(pullRequestComments, 'author_user_id'),
      { table: events, columns: { login: 'author_username' } },
      { table: releases, columns: { login: 'author_name' } },
      person(commits, 'author_id'),
      person(commits, 'committer_id'),
    ],
  },
  // A commit may belong to several pull requests, and to the default branch.
  { table: repoCommits, isScoped: true, by: [{ table: pullRequestCommits, columns: { commit_sha: 'commit_sha' } }] },
  {
    table: commits,
    by: [
      { table: pullRequestCommits, columns: { sha: 'commit_sha' } },
      { table: repoCommits, columns: { sha: 'commit_sha' } },
      { table: deployments, columns: { sha: 'commit_oid' } },
    ],
  },
]
