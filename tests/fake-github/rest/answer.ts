import type { Repository } from '../world/repository.ts'
import { type Answer, notFound, ok, type RestRequest, type Route, refusal } from './exchange.ts'
import { accountRoutes, canSee } from './routes-accounts.ts'
import { changeRoutes } from './routes-changes.ts'
import { deliveryRoutes } from './routes-deliveries.ts'
import { ticketRoutes } from './routes-tickets.ts'
import { fullRepository } from './shape-repository.ts'

const REPOSITORY = '/repos/{owner}/{repo}'
const repositoryRoutes = {
  'GET ': {
    answer: (request) => ok(fullRepository(request, request.repository), request.repository.updatedAt),
  } as Route<RestRequest & { repository: Repository }>,
  ...ticketRoutes,
  ...changeRoutes,
  ...deliveryRoutes,
}

/** The permission that fine-grained and installation tokens need, by the first path segment below the repository. */
const PERMISSIONS: Readonly<Record<string, string>> = {
  issues: 'issues',
  milestones: 'issues',
  labels: 'issues',
  assignees: 'metadata',
  pulls: 'pull_requests',
  actions: 'actions',
  deployments: 'deployments',
  releases: 'contents',
  commits: 'contents',
  branches: 'contents',
  tags: 'contents',
}
/** Paths that answer 410 when a repository has issues switched off. */
const ISSUES_ONLY = ['issues', 'milestones', 'labels']

export const UNSERVED = 501

/** Answers a request from the world. Status 501 means that GitHub knows the operation or parameter, but the fake does not. */
export function answerRest(request: RestRequest): Answer {
  const { method, template } = request.operation
  const isInRepository = template === REPOSITORY || template.startsWith(`${REPOSITORY}/`)
  const key = isInRepository ? `${method} ${template.slice(REPOSITORY.length)}` : `${method} ${template}`
  const route: Route<any> | undefined = isInRepository
    ? repositoryRoutes[key as keyof typeof repositoryRoutes]
    : accountRoutes[key]
  if (route === undefined) return refusal(UNSERVED, `The fake GitHub does not serve ${method} ${template}`)
  const ignored = [...request.query.keys()].find(
    (name) => name !== 'page' && name !== 'per_page' && !route.honours?.includes(name),
  )
  if (ignored !== undefined)
    return refusal(UNSERVED, `The fake GitHub does not honour query parameter "${ignored}" of ${method} ${template}`)
  return isInRepository ? inRepository(request, route) : route.answer(request)
}

function inRepository(request: RestRequest, route: Route<RestRequest & { repository: Repository }>): Answer {
  const { world, parameters, operation } = request
  const name = `${parameters.owner}/${parameters.repo}`
  const repository = world.find(name)
  if (repository === undefined) {
    const moved = world.findRenamed(name)
    return moved === undefined || !canSee(request, moved) ? notFound() : redirect(request, moved)
  }
  if (!canSee(request, repository)) return notFound()
  const area = operation.template.slice(REPOSITORY.length).split('/')[1] ?? ''
  const permission = PERMISSIONS[area] ?? 'metadata'
  const granted = request.bearer?.permissions
  if (granted !== undefined && granted[permission] === undefined)
    return refusal(403, notAccessible(request.bearer!.kind), { 'x-accepted-github-permissions': `${permission}=read` })
  if (ISSUES_ONLY.includes(area) && !repository.hasIssues) return refusal(410, 'Issues are disabled for this repo')
  return route.answer({ ...request, repository })
}

export const notAccessible = (kind: string): string =>
  `Resource not accessible by ${kind === 'installation' ? 'integration' : 'personal access token'}`

function redirect(request: RestRequest, repository: Repository): Answer {
  const rest = request.canonicalPath.split('/').slice(4).join('/')
  const query = request.query.size === 0 ? '' : `?${request.query}`
  const url = `${request.api}/repositories/${repository.id}${rest === '' ? '' : `/${rest}`}${query}`
  const body = { message: 'Moved Permanently', url, documentation_url: 'https://docs.github.com/rest' }
  return { status: 301, body, headers: { location: url } }
}
