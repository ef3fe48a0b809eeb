import { bigint, common, defineTable, key, string, text, timestamp, zeroTime } from '../../../database/table.ts'
import { pullRequestCommits } from '../../../domain/pull-requests.ts'
import { entity, inProject, PAGE, projectId, table } from '../kit.ts'
import { forEachMergeRequest, joinMergeRequest, mergeRequestId, mergeRequests, ofProject } from './merge-requests.ts'

/** The key is the sha alone, as in the domain layer. */
export const commits = defineTable(
  '_tool_gitlab_commits',
  {
    sha: key(string(40, 'id')),
    title: text(),
    message: text(),
    short_id: string(),
    author_name: string(),
    author_email: string(),
    authored_date: zeroTime(timestamp()),
    committer_name: string(),
    committer_email: string(),
    committed_date: zeroTime(timestamp()),
    web_url: string(),
    additions: bigint('stats.additions'),
    deletions: bigint('stats.deletions'),
    total: bigint('stats.total'),
    ...common,
  },
  { idPrefix: 'gitlab:GitlabCommit' },
)
export const projectCommits = table('project_commits', 'GitlabProjectCommit', {
  gitlab_project_id: key(bigint(projectId)),
  commit_sha: key(string(40, 'id')),
})
export const mergeRequestCommits = table('mr_commits', 'GitlabMrCommit', {
  commit_sha: key(string(40, 'id')),
  merge_request_id: key(mergeRequestId()),
  commit_author_name: string('author_name'),
  commit_author_email: string('author_email'),
  commit_authored_date: timestamp('authored_date'),
})

export default entity(mergeRequestCommits, {
  label: 'MR Commits',
  domainTypes: ['CODEREVIEW'],
  raw: 'gitlab_api_merge_request_commits',
  collect: {
    forEach: forEachMergeRequest,
    request: ({ scope, input }) => ({ path: inProject(scope, `merge_requests/${input.Iid}/commits`) }),
    paging: PAGE,
    emptyOn: [404], // deleted since
  },
  extract: {
    writes: [commits, projectCommits],
    // A force push removes commits, so all commits of a merge request are replaced together.
    owns: [
      {
        table: mergeRequestCommits,
        by: { connection_id: 'connection_id', merge_request_id: 'merge_request_id' },
      },
    ],
    rows: (commit, { read }) => [
      read(commits, commit),
      read(projectCommits, commit),
      read(mergeRequestCommits, commit),
    ],
  },
  convert: {
    to: [pullRequestCommits],
    joins: joinMergeRequest,
    where: ofProject,
    rows: ({ merge_request_id, commit_sha, ...author }, { idOf }) => [
      pullRequestCommits.row({
        pull_request_id: idOf(mergeRequests, merge_request_id),
        commit_sha,
        commit_author_name: author.commit_author_name,
        commit_author_email: author.commit_author_email,
        commit_authored_date: author.commit_authored_date,
      }),
    ],
  },
})
