import { comparePlaces, type Place, type Selection } from '../world/collection.ts'
import type { Issue, Item } from '../world/records.ts'
import { type Answer, notFound, ok, page, pageOf, type RepositoryRequest, type Routes, timeOf } from './exchange.ts'
import { personOrGhost } from './shape-people.ts'
import { comment, issue, issueEvent, label, milestone } from './shape-tickets.ts'

const ISSUE_FILTERS = ['state', 'sort', 'direction', 'since', 'labels', 'creator', 'assignee']

/** Operations under `/repos/{owner}/{repo}` about issues. */
export const ticketRoutes: Routes<RepositoryRequest> = {
  'GET /issues': { honours: ISSUE_FILTERS, answer: issues },
  'GET /issues/{issue_number}': {
    answer: (request) => {
      const found = request.repository.ticket(Number(request.parameters.issue_number))
      return found === undefined ? notFound() : ok(issue(request, request.repository, found), found.updatedAt)
    },
  },
  'GET /issues/{issue_number}/comments': {
    honours: ['since'],
    answer: (request) => {
      const since = timeOf(request, 'since')
      const { comments } = request.repository
      const found = comments.childrenOf(Number(request.parameters.issue_number))
      const list = found.filter((each) => since === undefined || each.updatedAt >= since)
      return page(request, list, (slice) => slice.map((each) => comment(request, request.repository, each)))
    },
  },
  'GET /issues/comments': {
    honours: ['sort', 'direction', 'since'],
    answer: (request) => {
      const { comments } = request.repository
      return pageOf(request, comments.get, comments.select(commentSelection(request)), (each) =>
        comment(request, request.repository, each),
      )
    },
  },
  'GET /issues/events': {
    answer: (request) => {
      const { events } = request.repository
      const places = events.select({ name: 'newest', key: (each) => each.createdAt, direction: 'desc' })
      return pageOf(request, events.get, places, (each) => issueEvent(request, request.repository, each))
    },
  },
  'GET /labels': {
    answer: (request) =>
      page(request, [...request.repository.labels], (list) =>
        list.map((each) => label(request, request.repository, each)),
      ),
  },
  'GET /assignees': {
    answer: (request) =>
      page(request, request.world.people.logins, (list) => list.map((login) => personOrGhost(request, login))),
  },
  'GET /milestones': {
    honours: ['state', 'sort', 'direction'],
    answer: (request) => {
      const { milestones } = request.repository
      const state = request.query.get('state') ?? 'open'
      const direction = directionOf(request, 'asc')
      const places = milestones.select({
        name: `${state} ${direction}`,
        key: (each) => each.dueOn ?? '',
        direction,
        where: (each) => state === 'all' || each.state === state,
      })
      return pageOf(request, milestones.get, places, (each) => milestone(request, request.repository, each))
    },
  },
}

export const directionOf = ({ query }: Pick<RepositoryRequest, 'query'>, normal: 'asc' | 'desc'): 'asc' | 'desc' =>
  (query.get('direction') as 'asc' | 'desc' | null) ?? normal

/** Lists comments by time of creation, oldest first, unless `sort` is given. `direction` alone is ignored. */
export function commentSelection<T extends Item>(request: RepositoryRequest): Selection<T> {
  const sort = request.query.get('sort')
  const since = timeOf(request, 'since')
  const direction = sort === null ? 'asc' : directionOf(request, 'desc')
  return {
    name: `${sort} ${direction} ${since}`,
    key: (each) => (sort === 'updated' ? each.updatedAt : each.createdAt),
    direction,
    where: since === undefined ? undefined : (each) => each.updatedAt >= since,
  }
}

/** GitHub's list of issues includes pull requests. */
function issues(request: RepositoryRequest): Answer {
  const { repository, query } = request
  const since = timeOf(request, 'since')
  const state = query.get('state') ?? 'open'
  const sort = query.get('sort') ?? 'created'
  const direction = directionOf(request, 'desc')
  const labels = query.get('labels')?.split(',') ?? []
  const creator = query.get('creator')
  const assignee = query.get('assignee')
  const count = (each: Issue) => String(repository.comments.countOf(each.number)).padStart(6, '0')
  const selection: Selection<Issue> = {
    name: JSON.stringify([since, state, sort, direction, labels, creator, assignee]),
    key: (each) => (sort === 'created' ? each.createdAt : sort === 'updated' ? each.updatedAt : count(each)),
    direction,
    where: (each) =>
      (state === 'all' || each.state === state) &&
      (since === undefined || each.updatedAt >= since) &&
      labels.every((name) => each.labels.includes(name)) &&
      (creator === null || each.author === creator) &&
      (assignee === null || each.assignees.includes(assignee)),
  }
  const places: Place[] = [...repository.issues.select(selection), ...repository.pullRequests.select(selection)]
  places.sort(direction === 'asc' ? comparePlaces : (a, b) => comparePlaces(b, a))
  return pageOf(request, repository.ticket, places, (each) => issue(request, repository, each))
}
