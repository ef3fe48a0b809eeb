import type { RawRecord } from '../../../database/table.ts'
import { bigint, boolean, indexed, key, string, text, timestamp, zeroTime } from '../../../database/table.ts'
import { classify } from '../../../domain/classify.ts'
import {
  pullRequestAssignees,
  pullRequestLabels,
  pullRequestReviewers,
  pullRequests,
} from '../../../domain/pull-requests.ts'
import { type ExtractContext, innerJoin } from '../../../plugin-kit/index.ts'
import {
  BY_CHANGE,
  changedSince,
  entity,
  inProject,
  PAGE,
  type Project,
  person,
  projectIdColumn,
  projects,
  type Rules,
  table,
} from '../kit.ts'
import { accounts } from './accounts.ts'
import { people, peopleIn } from './people.ts'

export const MERGE_REQUEST_RAW = ['gitlab_api_merge_requests', 'gitlab_api_merge_request_details']

const labelsOf = ({ labels }: { labels?: string[] | null }): string[] => labels ?? []

export const mergeRequests = table('merge_requests', 'GitlabMergeRequest', {
  gitlab_id: key(bigint('id')),
  iid: indexed(bigint()),
  project_id: projectIdColumn(),
  source_project_id: bigint(), // 0: the fork was deleted
  target_project_id: bigint(),
  state: string(),
  title: text(),
  web_url: string(),
  user_notes_count: bigint(),
  work_in_progress: boolean((mergeRequest) => mergeRequest.work_in_progress ?? mergeRequest.draft),
  is_detail_required: boolean((mergeRequest) => !('merged_at' in mergeRequest || 'closed_at' in mergeRequest)),
  source_branch: string(),
  target_branch: string(),
  merge_commit_sha: string(),
  squash_commit_sha: string(),
  diff_head_sha: string('sha'),
  merged_at: timestamp(),
  gitlab_created_at: zeroTime(timestamp('created_at')),
  gitlab_updated_at: timestamp('updated_at'),
  closed_at: timestamp(),
  type: string((mergeRequest, { scopeConfig }) => scopeConfig.pullRequestTypeOf(labelsOf(mergeRequest))),
  merged_by_username: string(({ merged_by, merge_user }) => (merged_by ?? merge_user)?.username),
  description: text(),
  author_username: string('author.username'),
  author_user_id: bigint('author.id'),
  component: string((mergeRequest, { scopeConfig }) => scopeConfig.pullRequestComponentOf(labelsOf(mergeRequest))),
})
const mergeRequestLabels = table('mr_labels', 'GitlabMrLabel', {
  mr_id: key(bigint()),
  label_name: key(string('name')),
})
const ofMergeRequest = { merge_request_id: key(bigint()), project_id: projectIdColumn(), ...person }
const assignees = table('assignees', 'GitlabAssignee', { assignee_id: key(bigint('id')), ...ofMergeRequest })
const reviewers = table('reviewers', 'GitlabReviewer', { reviewer_id: key(bigint('id')), ...ofMergeRequest })

export { assignees as mergeRequestAssignees, mergeRequestLabels, reviewers as mergeRequestReviewers }

/** For tables whose rows belong to a merge request. `where` limits them to the project. */
export const joinMergeRequest = {
  mergeRequest: innerJoin(mergeRequests, { connection_id: 'connection_id', gitlab_id: 'merge_request_id' }),
}
export const ofProject = ({ gitlab_id }: Project) => ({ 'mergeRequest.project_id': gitlab_id })
/** The key column of tables whose rows belong to a merge request. */
export const mergeRequestId = () => bigint((_record: unknown, { input }: RawRecord) => input.GitlabId)

/** Requests for each merge request that has changed. The stored input uses DevLake's names. */
export const forEachMergeRequest = {
  table: mergeRequests,
  input: ({ iid, gitlab_id }: { iid: number; gitlab_id: number }) => ({ Iid: iid, GitlabId: gitlab_id }),
  changedBy: 'gitlab_updated_at',
}

const owned = (table: typeof assignees | typeof reviewers | typeof mergeRequestLabels, column: string) => ({
  table,
  by: { connection_id: 'connection_id', [column]: 'gitlab_id' },
})
const extract = {
  writes: [people],
  owns: [
    owned(mergeRequestLabels, 'mr_id'),
    owned(assignees, 'merge_request_id'),
    owned(reviewers, 'merge_request_id'),
  ],
  dependsOn: ['prType', 'prComponent'],
  edition: 2,
}
type Context = Pick<ExtractContext<Project, Rules, Record<never, never>>, 'read'>
function* rowsOf(mergeRequest: RawRecord, { read }: Context, values = {}) {
  const merge_request_id = mergeRequest.id
  yield read(mergeRequests, mergeRequest, values)
  for (const name of labelsOf(mergeRequest)) yield read(mergeRequestLabels, { name }, { mr_id: merge_request_id })
  for (const one of mergeRequest.assignees ?? []) yield read(assignees, one, { merge_request_id })
  for (const one of mergeRequest.reviewers ?? []) yield read(reviewers, one, { merge_request_id })
  const { author, assignees: assigned, reviewers: asked } = mergeRequest
  yield* peopleIn([author, ...(assigned ?? []), ...(asked ?? [])], { read })
}

const STATUS = { OPEN: ['opened'], MERGED: ['merged'], CLOSED: ['closed', 'locked'] }

export default entity(mergeRequests, {
  label: 'Merge Requests',
  domainTypes: ['CODEREVIEW'],
  raw: 'gitlab_api_merge_requests',
  collect: {
    request: ({ scope }) => ({ path: inProject(scope, 'merge_requests'), query: { scope: 'all', ...BY_CHANGE } }),
    paging: PAGE,
    knownBy: { path: 'iid', column: 'iid' },
    incremental: { filterBy: changedSince },
  },
  extract: { ...extract, rows: (mergeRequest, context) => rowsOf(mergeRequest, context) },
  convert: {
    to: [pullRequests],
    replaces: MERGE_REQUEST_RAW,
    rows: (mergeRequest, { idOf }) => [
      pullRequests.row({
        id: idOf(mergeRequests, mergeRequest.gitlab_id),
        base_repo_id: idOf(projects, mergeRequest.target_project_id),
        head_repo_id: idOf(projects, mergeRequest.source_project_id),
        status: classify(mergeRequest.state, STATUS, mergeRequest.state),
        original_status: mergeRequest.state,
        title: mergeRequest.title,
        description: mergeRequest.description,
        url: mergeRequest.web_url,
        author_name: mergeRequest.author_username,
        author_id: idOf(accounts, mergeRequest.author_user_id),
        pull_request_key: mergeRequest.iid,
        created_date: mergeRequest.gitlab_created_at,
        merged_date: mergeRequest.merged_at,
        closed_date: mergeRequest.closed_at,
        type: mergeRequest.type,
        component: mergeRequest.component,
        merge_commit_sha: mergeRequest.merge_commit_sha || mergeRequest.squash_commit_sha || mergeRequest.diff_head_sha,
        head_ref: mergeRequest.source_branch,
        base_ref: mergeRequest.target_branch,
      }),
    ],
  },
})

/** Servers before GitLab 11 give the times of merging and closing only in answers about a single merge request. */
export const details = entity(mergeRequests, {
  label: 'MR Details',
  domainTypes: ['CODEREVIEW'],
  raw: 'gitlab_api_merge_request_details',
  collect: {
    forEach: {
      ...forEachMergeRequest,
      where: ({ gitlab_id }) => ({ project_id: gitlab_id, is_detail_required: true }),
    },
    request: ({ scope, input }) => ({ path: inProject(scope, `merge_requests/${input.Iid}`) }),
    records: (mergeRequest) => [mergeRequest],
    emptyOn: [404],
  },
  extract: {
    ...extract,
    rows: (mergeRequest, context) => rowsOf(mergeRequest, context, { is_detail_required: true }),
  },
})

export const labels = entity(mergeRequestLabels, {
  label: 'MR Labels',
  domainTypes: ['CODEREVIEW'],
  convert: {
    to: [pullRequestLabels],
    joins: { mergeRequest: innerJoin(mergeRequests, { connection_id: 'connection_id', gitlab_id: 'mr_id' }) },
    where: ofProject,
    replaces: MERGE_REQUEST_RAW,
    rows: ({ mr_id, label_name }, { idOf }) => [
      pullRequestLabels.row({ pull_request_id: idOf(mergeRequests, mr_id), label_name }),
    ],
  },
})

export const assigneesEntity = entity(assignees, {
  label: 'MR Assignees',
  domainTypes: ['CODEREVIEW'],
  convert: {
    to: [pullRequestAssignees],
    replaces: MERGE_REQUEST_RAW,
    rows: ({ merge_request_id, assignee_id, name, username }, { idOf }) => [
      pullRequestAssignees.row({
        pull_request_id: idOf(mergeRequests, merge_request_id),
        assignee_id: idOf(accounts, assignee_id),
        name,
        user_name: username,
      }),
    ],
  },
})

export const reviewersEntity = entity(reviewers, {
  label: 'MR Reviewers',
  domainTypes: ['CODEREVIEW'],
  convert: {
    to: [pullRequestReviewers],
    replaces: MERGE_REQUEST_RAW,
    rows: ({ merge_request_id, reviewer_id, name, username }, { idOf }) => [
      pullRequestReviewers.row({
        pull_request_id: idOf(mergeRequests, merge_request_id),
        reviewer_id: idOf(accounts, reviewer_id),
        name,
        user_name: username,
      }),
    ],
  },
})
