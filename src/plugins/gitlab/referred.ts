import type { Referred } from '../../plugin-kit/index.ts'
import { commits, mergeRequestCommits, projectCommits } from './entities/merge-request-commits.ts'

/** Rows that many records make: a commit may be of several merge requests. They stay as long as one has it. */
export const referred: readonly Referred[] = [
  {
    table: projectCommits,
    isScoped: true,
    by: [{ table: mergeRequestCommits, columns: { commit_sha: 'commit_sha' } }],
  },
  { table: commits, by: [{ table: mergeRequestCommits, columns: { sha: 'commit_sha' } }] },
]
