import { parseDatabaseId } from '../world/ids.ts'
import type { WorkflowRun } from '../world/records.ts'
import { type Answer, notFound, ok, page, pageOf, type RepositoryRequest, type Routes } from './exchange.ts'
import { deployment, deploymentStatus, job, latestRelease, release, run, tag } from './shape-deliveries.ts'

const RUN_FILTERS = ['created', 'status', 'branch', 'event', 'actor', 'head_sha']
/** GitHub serves at most this many results of a filtered list of runs, though it counts them all. */
const FILTERED_RUNS_CAP = 1000

/** Operations under `/repos/{owner}/{repo}` about workflows, deployments and releases. */
export const deliveryRoutes: Routes<RepositoryRequest> = {
  'GET /actions/runs': { honours: [...RUN_FILTERS, 'exclude_pull_requests'], answer: runs },
  'GET /actions/runs/{run_id}': {
    answer: (request) => withRun(request, (found) => ok(run(request, request.repository, found), found.updatedAt)),
  },
  'GET /actions/runs/{run_id}/jobs': {
    honours: ['filter'],
    answer: (request) =>
      withRun(request, ({ index }) =>
        page(request, request.repository.jobs.childrenOf(index), (list, total) => ({
          total_count: total,
          jobs: list.map((each) => job(request, request.repository, each)),
        })),
      ),
  },
  'GET /deployments': {
    honours: ['environment', 'sha', 'ref', 'task'],
    answer: (request) => {
      const { repository, query } = request
      const wanted = (['environment', 'sha', 'ref', 'task'] as const).filter((name) => query.has(name))
      const places = repository.deployments.select({
        name: JSON.stringify(wanted.map((name) => query.get(name))),
        key: (each) => each.createdAt,
        direction: 'desc',
        where: (each) => wanted.every((name) => each[name] === query.get(name)),
      })
      return pageOf(request, repository.deployments.get, places, (each) => deployment(request, repository, each))
    },
  },
  'GET /deployments/{deployment_id}/statuses': {
    answer: (request) => {
      const { repository } = request
      const index = ownIndex(request, 'deployment', 'deployment_id')
      if (index === undefined || !repository.deployments.has(index)) return notFound()
      const newestFirst = repository.statuses.childrenOf(index).reverse()
      return page(request, newestFirst, (list) => list.map((each) => deploymentStatus(request, repository, each)))
    },
  },
  'GET /releases': {
    answer: (request) => {
      const { releases } = request.repository
      const places = releases.select({ name: 'newest', key: (each) => each.createdAt, direction: 'desc' })
      return pageOf(request, releases.get, places, (each) => release(request, request.repository, each))
    },
  },
  'GET /releases/latest': {
    answer: (request) => {
      const found = latestRelease(request.repository.releases)
      return found === undefined ? notFound() : ok(release(request, request.repository, found), found.updatedAt)
    },
  },
  'GET /tags': {
    answer: (request) => {
      const tagged = [...request.repository.releases].filter((each) => !each.isDraft).reverse()
      return page(request, tagged, (list) => list.map((each) => tag(request, request.repository, each)))
    },
  },
}

/** Returns the index of the record whose database id is in the path, if it belongs to this repository. */
function ownIndex(request: RepositoryRequest, kind: 'run' | 'deployment', parameter: string): number | undefined {
  const place = parseDatabaseId(kind, Number(request.parameters[parameter]))
  return place?.repository === request.repository.ordinal ? place.index : undefined
}

function withRun(request: RepositoryRequest, answer: (found: WorkflowRun) => Answer): Answer {
  const index = ownIndex(request, 'run', 'run_id')
  const found = index === undefined ? undefined : request.repository.runs.get(index)
  return found === undefined ? notFound() : answer(found)
}

function runs(request: RepositoryRequest): Answer {
  const { repository, query } = request
  const created = createdFilter(query.get('created'))
  const [status, branch, event, actor, sha] = ['status', 'branch', 'event', 'actor', 'head_sha'].map((name) =>
    query.get(name),
  )
  const places = repository.runs.select({
    name: RUN_FILTERS.map((name) => query.get(name)).join(' '),
    key: (each) => each.createdAt,
    direction: 'desc',
    where: (each) =>
      created(each.createdAt) &&
      (status == null || each.status === status || each.conclusion === status) &&
      (branch == null || each.headBranch === branch) &&
      (event == null || each.event === event) &&
      (actor == null || each.actor === actor) &&
      (sha == null || each.headSha === sha),
  })
  const isFiltered = RUN_FILTERS.some((name) => query.has(name))
  return page(
    request,
    places,
    (slice, total) => ({
      total_count: total,
      workflow_runs: slice.map((place) => run(request, repository, repository.runs.get(place.index)!)),
    }),
    isFiltered ? { cap: FILTERED_RUNS_CAP } : {},
  )
}

/** Reads `from..to`, `>=from`, `<to`, a day, … as a test of times. A date without a time means the whole day. */
function createdFilter(text: string | null): (time: string) => boolean {
  if (text === null) return () => true
  const start = (value: string) => Date.parse(value)
  const end = (value: string) => Date.parse(value) + (value.includes('T') ? 0 : 86_399_000)
  const between = (from: number, to: number) => (time: string) => Date.parse(time) >= from && Date.parse(time) <= to
  const range = text.split('..')
  if (range.length === 2) {
    const [from, to] = range as [string, string]
    return between(from === '*' ? -Infinity : start(from), to === '*' ? Infinity : end(to))
  }
  const [, operator, value] = /^([<>]=?)?(.*)$/.exec(text) as unknown as [string, string | undefined, string]
  if (operator === '>') return between(end(value) + 1, Infinity)
  if (operator === '>=') return between(start(value), Infinity)
  if (operator === '<') return between(-Infinity, start(value) - 1)
  if (operator === '<=') return between(-Infinity, end(value))
  return between(start(value), end(value))
}
