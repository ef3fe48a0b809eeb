import type { Comment, Issue, IssueEvent, Label, Milestone, PullRequest } from '../world/records.ts'
import type { Repository } from '../world/repository.ts'
import { person, personOrGhost, persons, type Shaping } from './shape-people.ts'
import { pageUrl, repositoryUrl } from './shape-repository.ts'

export const isPullRequest = (ticket: Issue): ticket is PullRequest => 'headRef' in ticket

export function label(on: Shaping, repository: Repository, each: Label) {
  return {
    id: each.id,
    node_id: each.nodeId,
    url: `${repositoryUrl(on, repository)}/labels/${encodeURIComponent(each.name)}`,
    name: each.name,
    color: each.color,
    default: false,
    description: each.description,
  }
}

/** The labels of a ticket, in the order of the repository's own list. */
export const labelsOf = (repository: Repository, ticket: Issue): Label[] =>
  [...repository.labels].filter((each) => ticket.labels.includes(each.name))

export function milestone(on: Shaping, repository: Repository, each: Milestone) {
  const url = `${repositoryUrl(on, repository)}/milestones/${each.number}`
  return {
    url,
    html_url: `${pageUrl(repository)}/milestone/${each.number}`,
    labels_url: `${url}/labels`,
    id: each.id,
    node_id: each.nodeId,
    number: each.number,
    title: each.title,
    description: each.description,
    creator: person(on, each.creator),
    open_issues: 0,
    closed_issues: 0,
    state: each.state,
    created_at: each.createdAt,
    updated_at: each.updatedAt,
    due_on: each.dueOn,
    closed_at: each.closedAt,
  }
}

export function milestoneOf(on: Shaping, repository: Repository, ticket: Issue) {
  const found = ticket.milestone === null ? undefined : repository.milestones.get(ticket.milestone)
  return found === undefined ? null : milestone(on, repository, found)
}

export const associationOf = (login: string | null): string => (login === null ? 'NONE' : 'MEMBER')

/** An issue, or a pull request shown as an issue. */
export function issue(on: Shaping, repository: Repository, ticket: Issue) {
  const root = repositoryUrl(on, repository)
  const url = `${root}/issues/${ticket.number}`
  const isPull = isPullRequest(ticket)
  const htmlUrl = `${pageUrl(repository)}/${isPull ? 'pull' : 'issues'}/${ticket.number}`
  return {
    url,
    repository_url: root,
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    html_url: htmlUrl,
    id: isPull ? ticket.issueId : ticket.id,
    node_id: ticket.nodeId,
    number: ticket.number,
    title: ticket.title,
    user: personOrGhost(on, ticket.author),
    labels: labelsOf(repository, ticket).map((each) => label(on, repository, each)),
    state: ticket.state,
    locked: false,
    assignee: person(on, ticket.assignees[0] ?? null),
    assignees: persons(on, ticket.assignees),
    milestone: milestoneOf(on, repository, ticket),
    comments: repository.comments.countOf(ticket.number),
    created_at: ticket.createdAt,
    updated_at: ticket.updatedAt,
    closed_at: ticket.closedAt,
    author_association: associationOf(ticket.author),
    active_lock_reason: null,
    ...(isPull && {
      draft: ticket.isDraft,
      pull_request: {
        url: `${root}/pulls/${ticket.number}`,
        html_url: htmlUrl,
        diff_url: `${htmlUrl}.diff`,
        patch_url: `${htmlUrl}.patch`,
        merged_at: ticket.mergedAt,
      },
    }),
    body: ticket.body,
    closed_by: person(on, ticket.closedBy),
    timeline_url: `${url}/timeline`,
    performed_via_github_app: null,
    state_reason: ticket.state === 'closed' ? ('completed' as const) : null,
  }
}

export function comment(on: Shaping, repository: Repository, each: Comment) {
  const root = repositoryUrl(on, repository)
  const kind = repository.pullRequests.has(each.number) ? 'pull' : 'issues'
  return {
    url: `${root}/issues/comments/${each.id}`,
    html_url: `${pageUrl(repository)}/${kind}/${each.number}#issuecomment-${each.id}`,
    issue_url: `${root}/issues/${each.number}`,
    id: each.id,
    node_id: each.nodeId,
    user: personOrGhost(on, each.author),
    created_at: each.createdAt,
    updated_at: each.updatedAt,
    author_association: associationOf(each.author),
    body: each.body,
    performed_via_github_app: null,
  }
}

export function issueEvent(on: Shaping, repository: Repository, each: IssueEvent) {
  const root = repositoryUrl(on, repository)
  const ticket = repository.ticket(each.number)!
  const named = each.label === null ? undefined : labelsNamed(repository, each.label)
  return {
    id: each.id,
    node_id: each.nodeId,
    url: `${root}/issues/events/${each.id}`,
    actor: person(on, each.actor),
    event: each.event,
    commit_id: each.commitSha,
    commit_url: each.commitSha === null ? null : `${root}/commits/${each.commitSha}`,
    created_at: each.createdAt,
    ...(named !== undefined && { label: { name: named.name, color: named.color } }),
    ...(each.event === 'assigned' && { assignee: person(on, each.assignee), assigner: person(on, each.actor) }),
    ...(each.event === 'milestoned' && { milestone: { title: 'v1.0' } }),
    ...(each.event === 'renamed' && { rename: { from: `Was ${ticket.title}`, to: ticket.title } }),
    performed_via_github_app: null,
    issue: issue(on, repository, ticket),
  }
}

const labelsNamed = (repository: Repository, name: string): Label | undefined =>
  [...repository.labels].find((each) => each.name === name)
