import type { Clock } from './clock.ts'
import { checkParameters, type Match, matchOperation, type Violation } from './contract.ts'
import { graphqlTimeout } from './fault-answers.ts'
import { formatted, type GraphqlBody, isViolation, prepareGraphql } from './graphql/answer.ts'
import { ANONYMOUS_LIMITS, type Meter, type Quota, quotaHeaders, type Resource } from './limits.ts'
import { answerRest, UNSERVED } from './rest/answer.ts'
import { type Answer, refusal } from './rest/exchange.ts'
import type { FakeGithubSettings } from './settings.ts'
import type { Bearer, Tokens } from './tokens.ts'
import { timestamp } from './world/ground.ts'
import type { World } from './world/world.ts'

/** A request as received over HTTP. */
export interface Received {
  readonly method: string
  /** The path without the `/api/v3` of GitHub Enterprise, and with repositories by name. */
  readonly path: string
  /** The base address of the API, for links. */
  readonly api: string
  readonly query: URLSearchParams
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}
/** The service's answer to a request, before conditional requests and faults are applied. */
export interface Served {
  readonly answer: Answer
  readonly template: string
  readonly resource: Resource
  readonly points: number
  readonly bearer: Bearer | undefined
  readonly operation?: string
}
export interface Service {
  readonly settings: FakeGithubSettings
  readonly world: World
  readonly clock: Clock
  readonly tokens: Tokens
  readonly meter: Meter
  readonly violations: Violation[]
}

export const accountOf = (bearer: Bearer | undefined): string => bearer?.login ?? 'anonymous'
export const quotaOf = ({ meter }: Service, bearer: Bearer | undefined, resource: Resource): Quota =>
  meter.quota(accountOf(bearer), resource, bearer?.limits ?? ANONYMOUS_LIMITS)

const API_VERSIONS = ['2022-11-28', '2026-03-10']
const FREE = ['/rate_limit', '/app/installations/{installation_id}/access_tokens']

/** Answers as GitHub would. Requests that GitHub would refuse are also recorded as violations. */
export function serve(service: Service, received: Received): Served {
  const { method, path, query } = received
  const isGraphql = path === '/graphql'
  const match = isGraphql ? undefined : matchOperation(method, path)
  const template = match?.operation.template ?? path
  const resource: Resource = isGraphql ? 'graphql' : path.startsWith('/search/') ? 'search' : 'core'
  const authorization = header(received, 'authorization')
  const isAppRequest = template.startsWith('/app/')
  const bearer = authorization === undefined || isAppRequest ? undefined : service.tokens.bearer(authorization)
  const served = (answer: Answer, points = 0, operation?: string): Served => ({
    answer,
    template,
    resource,
    points,
    bearer,
    ...(operation !== undefined && { operation }),
  })
  const violate = (status: number, problem: string): Served => {
    service.violations.push({ request: `${method} ${path}${query.size === 0 ? '' : `?${query}`}`, problem })
    return served(refusal(status, problem))
  }

  const problems = [
    ...headerProblems(received),
    ...(isGraphql
      ? method === 'POST' && query.size === 0
        ? []
        : [`${method} is no way to send a GraphQL query`]
      : match === undefined
        ? [`GitHub's REST description has no ${method} ${path}`]
        : checkParameters(match, query)),
  ]
  if (problems.length > 0) return violate(400, problems.join('; '))
  if (authorization !== undefined && bearer === undefined && !isAppRequest)
    return served(refusal(401, 'Bad credentials'))
  if (isGraphql && bearer === undefined) return served(refusal(401, 'This endpoint requires you to be authenticated.'))
  const quota = quotaOf(service, bearer, resource)
  if (quota.remaining === 0 && !FREE.includes(template)) return served(spent(service, bearer, isGraphql))
  if (isGraphql) return serveGraphql(service, received, bearer!, quota, served, violate)
  if (isAppRequest && method === 'POST') return served(issueToken(service, received, match!))

  const answer = answerRest({
    ...match!,
    query,
    api: received.api,
    canonicalPath: canonicalPath(service.world, match!, path),
    world: service.world,
    bearer,
    wantsHtml: /vnd\.github\.(full|html)/.test(header(received, 'accept') ?? ''),
    clock: service.clock,
    pagingCap: service.settings.pagingCap,
    quota: (each) => quotaOf(service, bearer, each),
  })
  if (answer.status === UNSERVED) return violate(UNSERVED, (answer.body as { message: string }).message)
  return served(answer, FREE.includes(template) ? 0 : 1)
}

/** Returns the path in GitHub's description, or the path itself if the description lacks it. */
export const templateOf = ({ method, path }: Received): string =>
  path === '/graphql' ? path : (matchOperation(method, path)?.operation.template ?? path)

export const header = ({ headers }: Pick<Received, 'headers'>, name: string): string | undefined => {
  const value = headers[name]
  return Array.isArray(value) ? value.join(', ') : value
}

function headerProblems(received: Received): string[] {
  const problems: string[] = []
  if (!header(received, 'user-agent')) problems.push('a User-Agent header is missing; GitHub refuses such requests')
  const version = header(received, 'x-github-api-version')
  if (version !== undefined && !API_VERSIONS.includes(version)) problems.push(`there is no API version ${version}`)
  const accept = header(received, 'accept') ?? '*/*'
  if (!/application\/(json|vnd\.github)|\*\/\*/.test(accept)) problems.push(`GitHub does not send ${accept}`)
  return problems
}

/** GitHub writes links with the repository's id. */
function canonicalPath(world: World, { operation, parameters }: Match, path: string): string {
  if (!operation.template.startsWith('/repos/{owner}/{repo}')) return path
  const repository = world.find(`${parameters.owner}/${parameters.repo}`)
  return repository === undefined ? path : path.replace(/^\/repos\/[^/]+\/[^/]+/, `/repositories/${repository.id}`)
}

function spent(service: Service, bearer: Bearer | undefined, isGraphql: boolean): Answer {
  const user = service.world.people.find(bearer?.login ?? '')
  const message = `API rate limit exceeded for ${user === undefined ? accountOf(bearer) : `user ID ${user.id}`}.`
  // GraphQL reports the limit in the body of an answer with status 200.
  return isGraphql
    ? { status: 200, body: { errors: [{ type: 'RATE_LIMITED', message }] } }
    : refusal(service.settings.limitStatus, message)
}

function issueToken({ tokens }: Service, received: Received, { parameters }: Match): Answer {
  const issued = tokens.issue(header(received, 'authorization'), Number(parameters.installation_id))
  if ('message' in issued) return refusal(issued.status, issued.message)
  return {
    status: 201,
    body: {
      token: issued.token,
      expires_at: timestamp(issued.expiresAt),
      permissions: issued.permissions ?? { metadata: 'read', contents: 'read' },
      repository_selection: 'all',
    },
  }
}

function serveGraphql(
  service: Service,
  { body }: Received,
  bearer: Bearer,
  quota: Quota,
  served: (answer: Answer, points?: number, operation?: string) => Served,
  violate: (status: number, problem: string) => Served,
): Served {
  const parsed = parseBody(body)
  if (typeof parsed === 'string') return violate(400, parsed)
  const prepared = prepareGraphql(parsed)
  if ('refused' in prepared) {
    violate(200, prepared.refused.map((error) => (error as { message: string }).message).join('; '))
    return served({ status: 200, body: { errors: prepared.refused } })
  }
  const { cost, operation, run } = prepared
  if (cost.nodes > service.settings.graphqlTimeoutNodes) return served(graphqlTimeout(), cost.points, operation)
  const used = quota.used + cost.points
  const { data, errors } = run({
    world: service.world,
    bearer,
    quota: { ...quota, used, remaining: Math.max(0, quota.limit - used) },
  })
  const strange = errors?.filter(isViolation) ?? []
  if (strange.length > 0) violate(200, strange.map((error) => error.message).join('; '))
  const answer = { status: 200, body: errors === undefined ? { data } : { data, errors: errors.map(formatted) } }
  return served(answer, cost.points, operation)
}

function parseBody(text: string): GraphqlBody | string {
  try {
    const body = JSON.parse(text)
    return typeof body?.query === 'string' ? body : 'A query attribute must be specified and must be a string.'
  } catch {
    return 'Problems parsing JSON'
  }
}

/** Headers that tell a client how much of its limit is left. */
export function accountHeaders(service: Service, { bearer, resource, points }: Served): Record<string, string> {
  const limits = bearer?.limits ?? ANONYMOUS_LIMITS
  const quota = service.meter.charge(accountOf(bearer), resource, limits, points)
  return {
    ...quotaHeaders(quota),
    ...(bearer?.kind === 'classic' && { 'x-oauth-scopes': bearer.scopes.join(', '), 'x-accepted-oauth-scopes': '' }),
  }
}
