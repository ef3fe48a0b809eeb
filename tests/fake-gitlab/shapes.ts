/** Records in the form of GitLab's REST API: https://docs.gitlab.com/api/rest/ */
import type {
  Commit,
  Deployment,
  Group,
  Issue,
  Job,
  MergeRequest,
  Note,
  Pipeline,
  Project,
  Release,
  User,
} from './records.ts'

const HOST = 'https://gitlab.example.com'
export const webUrl = ({ path }: { path: string }) => `${HOST}/${path}`

export const person = ({ id, username, name }: User) => ({
  ...{ id, username, name, state: 'active', locked: false },
  ...{ avatar_url: `${HOST}/avatar/${id}.png`, web_url: `${HOST}/${username}` },
})
export const member = (user: User) => ({
  ...person(user),
  ...{ access_level: 30, created_at: '2023-01-01T00:00:00.000Z', expires_at: null, membership_state: 'active' },
})
export const group = ({ id, path }: Group) => ({
  ...{ id, name: path.split('/').at(-1), path: path.split('/').at(-1), full_path: path, full_name: path },
  ...{ visibility: 'private', web_url: `${HOST}/groups/${path}`, parent_id: null },
})
export const project = (each: Project) => ({
  ...{ id: each.id, name: each.path.split('/').at(-1), path_with_namespace: each.path, description: 'A project' },
  ...{
    default_branch: 'main',
    visibility: 'private',
    web_url: webUrl(each),
    http_url_to_repo: each.cloneUrl ?? `${webUrl(each)}.git`,
  },
  ...{ archived: each.archived, creator_id: 1, star_count: 0, open_issues_count: 0, topics: [] },
  ...{ created_at: each.createdAt, last_activity_at: each.createdAt },
  ...(each.forkOf && { forked_from_project: { id: each.forkOf.id, web_url: webUrl(each.forkOf) } }),
})
export const issue = (each: Issue, of: Project) => ({
  ...{ id: each.id, iid: each.iid, project_id: of.id, title: each.title, description: each.description },
  ...{ state: each.state, created_at: each.createdAt, updated_at: each.updatedAt, closed_at: each.closedAt },
  ...{ labels: each.labels, author: person(each.author), assignees: each.assignees.map(person) },
  assignee: each.assignees[0] ? person(each.assignees[0]) : null,
  ...{ type: each.type, issue_type: each.type.toLowerCase(), severity: 'UNKNOWN', milestone: null },
  ...{ web_url: `${webUrl(of)}/-/issues/${each.iid}`, time_stats: { time_estimate: 0, total_time_spent: 0 } },
})
export const mergeRequest = (each: MergeRequest, of: Project) => ({
  ...{ id: each.id, iid: each.iid, project_id: of.id, title: each.title, description: each.description },
  ...{ state: each.state, created_at: each.createdAt, updated_at: each.updatedAt },
  ...{ merged_at: each.mergedAt, closed_at: each.closedAt, labels: each.labels, draft: each.draft },
  ...{ merged_by: each.mergedBy && person(each.mergedBy), merge_user: each.mergedBy && person(each.mergedBy) },
  ...{ author: person(each.author), assignees: each.assignees.map(person), reviewers: each.reviewers.map(person) },
  ...{ source_project_id: each.sourceProject, target_project_id: of.id, source_branch: each.sourceBranch },
  ...{ target_branch: 'main', sha: each.sha, merge_commit_sha: each.mergeSha, squash_commit_sha: each.squashSha },
  ...{ user_notes_count: each.notes.length, work_in_progress: each.draft },
  web_url: `${webUrl(of)}/-/merge_requests/${each.iid}`,
})
export const note = (each: Note, of: MergeRequest) => ({
  ...{ id: each.id, type: each.type, body: each.body, author: person(each.author), system: each.system },
  ...{ created_at: each.createdAt, updated_at: each.updatedAt, noteable_id: of.id, noteable_iid: of.iid },
  ...{ noteable_type: 'MergeRequest', resolvable: each.type !== null, confidential: false, internal: false },
})
export const commit = ({ sha, author, title, at }: Commit, of: Project) => ({
  ...{ id: sha, short_id: sha.slice(0, 8), created_at: at, parent_ids: [], title, message: `${title}\n` },
  ...{ author_name: author.name, author_email: `${author.username}@example.com`, authored_date: at },
  ...{ committer_name: author.name, committer_email: `${author.username}@example.com`, committed_date: at },
  web_url: `${webUrl(of)}/-/commit/${sha}`,
})
export const pipeline = (each: Pipeline, of: Project) => ({
  ...{ id: each.id, iid: each.iid, project_id: of.id, sha: each.sha, ref: each.ref, status: each.status },
  ...{ source: each.source, created_at: each.createdAt, updated_at: each.updatedAt },
  web_url: `${webUrl(of)}/-/pipelines/${each.id}`,
})
const secondsFrom = (start: string | null, end: string | null) =>
  start && end ? (Date.parse(end) - Date.parse(start)) / 1000 : null
export const pipelineDetails = (each: Pipeline, of: Project) => ({
  ...pipeline(each, of),
  ...{ started_at: each.startedAt, finished_at: each.finishedAt, coverage: null, queued_duration: 1 },
  duration: Math.round(secondsFrom(each.startedAt, each.finishedAt) ?? 0),
  user: person(each.user),
})
export const job = (each: Job, { pipeline: run, project: of }: { pipeline: Pipeline; project: Project }) => ({
  ...{ id: each.id, status: each.status, stage: each.stage, name: each.name, ref: run.ref, tag: false },
  ...{ allow_failure: false, created_at: each.createdAt, started_at: each.startedAt, finished_at: each.finishedAt },
  ...{ duration: secondsFrom(each.startedAt, each.finishedAt), queued_duration: 0.5, pipeline: pipeline(run, of) },
  ...{ user: person(run.user), web_url: `${webUrl(of)}/-/jobs/${each.id}` },
})
export const deployment = (each: Deployment, of: Project) => ({
  ...{ id: each.id, iid: each.iid, ref: each.ref, sha: each.sha, status: each.status },
  ...{ created_at: each.createdAt, updated_at: each.updatedAt, user: person(each.user) },
  environment: { id: 1, name: each.environment, external_url: null },
  deployable: each.job && {
    ...job(each.job.job, { pipeline: each.job.pipeline, project: of }),
    commit: { ...commit({ sha: each.sha, author: each.user, title: 'Deployed', at: each.createdAt }, of) },
  },
})
export const release = (each: Release, of: Project, now: number) => ({
  ...{ tag_name: each.tag, name: each.name, description: `What is new in ${each.tag}`, author: person(each.author) },
  ...{ created_at: each.createdAt, released_at: each.releasedAt, upcoming_release: Date.parse(each.releasedAt) > now },
  commit: commit({ sha: each.sha, author: each.author, title: each.name, at: each.createdAt }, of),
  _links: { self: `${webUrl(of)}/-/releases/${each.tag}` },
})
export const tag = ({ tag: name, sha }: Release) => ({
  ...{ name, message: '', target: sha, protected: false, release: { tag_name: name, description: name } },
})
