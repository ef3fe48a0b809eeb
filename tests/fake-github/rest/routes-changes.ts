import type { PullRequest } from '../world/records.ts'
import {
  type Answer,
  notFound,
  ok,
  page,
  pageOf,
  type RepositoryRequest,
  type Routes,
  refusal,
  timeOf,
} from './exchange.ts'
import { commentSelection, directionOf } from './routes-tickets.ts'
import { commit, fullCommit, fullPullRequest, pullRequest, review, reviewComment } from './shape-changes.ts'
import { persons } from './shape-people.ts'
import { pageUrl, repositoryUrl } from './shape-repository.ts'

/** GitHub lists at most this many commits of a pull request. */
const PULL_COMMITS_CAP = 250

/** Operations under `/repos/{owner}/{repo}` about code and its review. */
export const changeRoutes: Routes<RepositoryRequest> = {
  'GET /pulls': { honours: ['state', 'sort', 'direction', 'base'], answer: pulls },
  'GET /pulls/{pull_number}': {
    answer: (request) =>
      withPull(request, (pull) => ok(fullPullRequest(request, request.repository, pull), pull.updatedAt)),
  },
  'GET /pulls/{pull_number}/commits': {
    answer: (request) =>
      withPull(request, ({ number }) =>
        page(
          request,
          request.repository.pullCommits.childrenOf(number),
          (list) => list.map((each) => commit(request, request.repository, each)),
          { cap: PULL_COMMITS_CAP },
        ),
      ),
  },
  'GET /pulls/{pull_number}/reviews': {
    answer: (request) =>
      withPull(request, ({ number }) =>
        page(request, request.repository.reviews.childrenOf(number), (list) =>
          list.map((each) => review(request, request.repository, each)),
        ),
      ),
  },
  'GET /pulls/{pull_number}/requested_reviewers': {
    answer: (request) =>
      withPull(request, (pull) => ok({ users: persons(request, pull.requestedReviewers), teams: [] })),
  },
  'GET /pulls/{pull_number}/comments': {
    answer: (request) =>
      withPull(request, ({ number }) => {
        const { reviews, reviewComments } = request.repository
        const list = reviews.childrenOf(number).flatMap((each) => reviewComments.childrenOf(each.index))
        return page(request, list, (slice) => slice.map((each) => reviewComment(request, request.repository, each)))
      }),
  },
  'GET /pulls/comments': {
    honours: ['sort', 'direction', 'since'],
    answer: (request) => {
      const { reviewComments } = request.repository
      return pageOf(request, reviewComments.get, reviewComments.select(commentSelection(request)), (each) =>
        reviewComment(request, request.repository, each),
      )
    },
  },
  'GET /commits': { honours: ['since', 'until', 'sha'], answer: commits },
  'GET /commits/{ref}': {
    answer: (request) => {
      const { repository, parameters } = request
      if (repository.settings.commits === 0) return emptyRepository()
      const found = repository.commit(parameters.ref!)
      return found === undefined
        ? refusal(422, `No commit found for SHA: ${parameters.ref}`)
        : ok(fullCommit(request, repository, found), found.updatedAt)
    },
  },
  'GET /branches': { answer: branches },
  'GET /compare/{basehead}': { answer: compare },
}

const emptyRepository = (): Answer => refusal(409, 'Git Repository is empty.')

function withPull(request: RepositoryRequest, answer: (pull: PullRequest) => Answer): Answer {
  const pull = request.repository.pullRequests.get(Number(request.parameters.pull_number))
  return pull === undefined ? notFound() : answer(pull)
}

function pulls(request: RepositoryRequest): Answer {
  const { repository, query } = request
  const state = query.get('state') ?? 'open'
  const sort = query.get('sort') ?? 'created'
  const base = query.get('base')
  const direction = directionOf(request, sort === 'created' ? 'desc' : 'asc')
  if (sort !== 'created' && sort !== 'updated') return refusal(501, `The fake GitHub does not sort by ${sort}`)
  const places = repository.pullRequests.select({
    name: JSON.stringify([state, sort, direction, base]),
    key: (each) => (sort === 'updated' ? each.updatedAt : each.createdAt),
    direction,
    where: (each) => (state === 'all' || each.state === state) && (base === null || each.baseRef === base),
  })
  return pageOf(request, repository.pullRequests.get, places, (each) => pullRequest(request, repository, each))
}

function commits(request: RepositoryRequest): Answer {
  const { repository, query } = request
  if (repository.settings.commits === 0) return emptyRepository()
  const branch = query.get('sha')
  if (branch !== null && branch !== 'main' && branch !== 'release') return notFound()
  const since = timeOf(request, 'since') ?? ''
  const until = timeOf(request, 'until') ?? '9'
  const places = repository.commits.select({
    name: `${since} ${until}`,
    key: (each) => each.authoredAt,
    direction: 'desc',
    where: (each) => each.authoredAt >= since && each.authoredAt <= until,
  })
  return pageOf(request, repository.commits.get, places, (each) => commit(request, repository, each))
}

/** Compares the two ends of a pull request. */
function compare(request: RepositoryRequest): Answer {
  const { repository, parameters } = request
  const [base = '', head = ''] = parameters.basehead!.split('...')
  const pull = [...repository.pullRequests].find((each) => each.baseSha === base && each.headSha === head)
  if (pull === undefined) return notFound()
  const commits = repository.pullCommits.childrenOf(pull.number)
  const url = `${repositoryUrl(request, repository)}/compare/${base}...${head}`
  const web = `${pageUrl(repository)}/compare/${base}...${head}`
  const from = fullCommit(request, repository, repository.commit(base)!)
  return page(request, commits, (list) => ({
    url,
    html_url: web,
    permalink_url: web,
    diff_url: `${web}.diff`,
    patch_url: `${web}.patch`,
    base_commit: from,
    merge_base_commit: from,
    status: 'ahead',
    ahead_by: commits.length,
    behind_by: 0,
    total_commits: commits.length,
    commits: list.map((each) => commit(request, repository, each)),
    files: [],
  }))
}

function branches(request: RepositoryRequest): Answer {
  const { repository } = request
  const tip = [...repository.commits].at(-1)
  const names = tip === undefined ? [] : ['main', 'release']
  return page(request, names, (list) =>
    list.map((name) => ({
      name,
      commit: { sha: tip!.sha, url: `${repositoryUrl(request, repository)}/commits/${tip!.sha}` },
      protected: name === 'main',
    })),
  )
}
