import type { AnyTable } from '../../database/table.ts'
import type { Referred } from '../../plugin-kit/index.ts'
import { issueAssignees, issues } from './entities/issues.ts'
import { commits, mergeRequestCommits, projectCommits } from './entities/merge-request-commits.ts'
import { mergeRequestAssignees, mergeRequestReviewers, mergeRequests } from './entities/merge-requests.ts'
import notes from './entities/notes.ts'
import { people } from './entities/people.ts'
import { releases } from './entities/releases.ts'

const person = (table: AnyTable, column: string) => ({ table, columns: { gitlab_id: column } })

/** Rows that many records refer to, such as a commit of several merge requests. They are kept as long as one record refers to them. */
export const referred: readonly Referred[] = [
  {
    table: people,
    by: [
      person(issues, 'creator_id'),
      person(issues, 'assignee_id'),
      person(issueAssignees, 'assignee_id'),
      person(mergeRequests, 'author_user_id'),
      person(mergeRequestAssignees, 'assignee_id'),
      person(mergeRequestReviewers, 'reviewer_id'),
      person(notes.table, 'author_user_id'),
      person(releases, 'author_id'),
    ],
  },
  {
    table: projectCommits,
    isScoped: true,
    by: [{ table: mergeRequestCommits, columns: { commit_sha: 'commit_sha' } }],
  },
  { table: commits, by: [{ table: mergeRequestCommits, columns: { sha: 'commit_sha' } }] },
]
