/** The deliveries that GitLab sends about issues and merge requests: https://docs.gitlab.com/user/project/integrations/webhook_events/ */
import { createHmac, randomUUID } from 'node:crypto'
import type { FakeGitlab } from './fake-gitlab.ts'
import type { Issue, MergeRequest, Project, User } from './records.ts'
import { project as projectShape, webUrl } from './shapes.ts'

export interface Delivery {
  readonly event: string
  readonly payload: any
}

const HOST = 'https://gitlab.example.com'
/** Deliveries contain less about people than lists do. */
const person = ({ id, name, username }: User) => ({ id, name, username, avatar_url: `${HOST}/avatar/${id}.png` })
const labels = (titles: readonly string[]) => titles.map((title, index) => ({ id: index + 1, title, color: '#fff' }))

const projectNamed = ({ world }: FakeGitlab, path: string): Project =>
  world.projects.find((each) => each.path === path) as Project

type State = 'open' | 'close' | 'reopen' | 'merge' | 'update'

export function issueDelivery(of: Project, each: Issue, action: State): Delivery {
  const payload = {
    object_kind: 'issue',
    event_type: 'issue',
    user: person(each.author),
    project: projectShape(of),
    object_attributes: {
      id: each.id,
      iid: each.iid,
      project_id: of.id,
      title: each.title,
      description: each.description,
      state: each.state,
      created_at: each.createdAt,
      updated_at: each.updatedAt,
      closed_at: each.closedAt,
      author_id: each.author.id,
      type: capitalized(each.type),
      severity: 'unknown',
      action,
      labels: labels(each.labels),
      url: `${webUrl(of)}/-/issues/${each.iid}`,
    },
    labels: labels(each.labels),
    assignees: each.assignees.map(person),
  }
  return { event: 'issue', payload: JSON.parse(JSON.stringify(payload)) }
}

export function mergeRequestDelivery(of: Project, each: MergeRequest, action: State): Delivery {
  const payload = {
    object_kind: 'merge_request',
    event_type: 'merge_request',
    project: projectShape(of),
    user: person(each.state === 'merged' ? (each.mergedBy ?? each.author) : each.author),
    object_attributes: {
      id: each.id,
      iid: each.iid,
      title: each.title,
      description: each.description,
      state: each.state,
      created_at: each.createdAt,
      updated_at: each.updatedAt,
      author_id: each.author.id,
      action,
      source_branch: each.sourceBranch,
      target_branch: 'main',
      draft: each.draft,
      work_in_progress: each.draft,
      source_project_id: each.sourceProject,
      target_project_id: of.id,
      last_commit: { id: each.sha },
      merge_commit_sha: each.mergeSha,
      url: `${webUrl(of)}/-/merge_requests/${each.iid}`,
    },
    labels: labels(each.labels),
    assignees: each.assignees.map(person),
    reviewers: each.reviewers.map(person),
  }
  return { event: 'merge_request', payload: JSON.parse(JSON.stringify(payload)) }
}

const capitalized = (word: string) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase()

/** The state of each issue and merge request at its last change. */
export type ChangeTimes = ReadonlyMap<number, string>
const standing = ({ updatedAt, title, state, labels: own, ...rest }: Issue | MergeRequest): string =>
  JSON.stringify([updatedAt, title, state, own, rest.assignees.map(({ id }) => id)])

export function changeTimes(fake: FakeGitlab, path: string): ChangeTimes {
  const { issues, mergeRequests } = projectNamed(fake, path)
  return new Map([...issues, ...mergeRequests].map((each) => [each.id, standing(each)]))
}

/** Returns the deliveries about changes since `before`. */
export function deliveriesSince(fake: FakeGitlab, path: string, before: ChangeTimes): Delivery[] {
  const of = projectNamed(fake, path)
  const isNew = (each: Issue | MergeRequest) => before.get(each.id) !== standing(each)
  const actionOf = (each: Issue | MergeRequest): State => {
    const former = before.get(each.id)
    if (former === undefined) return 'open'
    const [, , state] = JSON.parse(former)
    if (state === each.state) return 'update'
    return each.state === 'merged' ? 'merge' : each.state === 'closed' ? 'close' : 'reopen'
  }
  return [
    ...of.issues.filter(isNew).map((each) => issueDelivery(of, each, actionOf(each))),
    ...of.mergeRequests.filter(isNew).map((each) => mergeRequestDelivery(of, each, actionOf(each))),
  ]
}

/** Signs a delivery as GitLab does, as it is sent over HTTP. */
export function signed({ payload }: Delivery, secret: string, id: string = randomUUID()) {
  const body = JSON.stringify(payload)
  const time = '1700000000'
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64')
  const standard = { 'webhook-id': id, 'webhook-timestamp': time, 'webhook-signature': `v1,${signature}` }
  return { body, headers: { 'content-type': 'application/json', 'idempotency-key': id, ...standard } }
}
