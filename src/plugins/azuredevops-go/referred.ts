import type { Referred } from '../../plugin-kit/index.ts'
import { commits, pullRequestCommits, repoCommits } from './entities/commits.ts'
import { identities } from './entities/people.ts'
import { pullRequests, reviewers } from './entities/pull-requests.ts'
import { comments } from './entities/threads.ts'
import { workItems } from './entities/work-items.ts'

/** Rows that many records refer to. They are kept as long as one record refers to them. */
export const referred: readonly Referred[] = [
  {
    table: repoCommits,
    isScoped: true,
    by: [{ table: pullRequestCommits, columns: { commit_sha: 'commit_sha' } }],
  },
  {
    table: commits,
    by: [
      { table: pullRequestCommits, columns: { sha: 'commit_sha' } },
      { table: repoCommits, columns: { sha: 'commit_sha' } },
    ],
  },
  {
    table: identities,
    by: [
      { table: pullRequests, columns: { azuredevops_id: 'created_by_id' } },
      { table: pullRequests, columns: { azuredevops_id: 'closed_by_id' } },
      { table: reviewers, columns: { azuredevops_id: 'reviewer_id' } },
      { table: comments, columns: { azuredevops_id: 'author_id' } },
      { table: workItems, columns: { azuredevops_id: 'creator_id' } },
      { table: workItems, columns: { azuredevops_id: 'assignee_id' } },
    ],
  },
]
