/** Handles a request to the fake GitLab: identity, permissions, limits, and the records found. */
import type { Clock } from '../fake-github/clock.ts'
import { keysetPage, offsetPage } from './paging.ts'
import { type Found, ROUTES, type Route } from './routes.ts'
import { person } from './shapes.ts'
import type { World } from './world.ts'

export interface TokenOptions {
  readonly token: string
  /** https://docs.gitlab.com/security/tokens/access_token_scopes/ */
  readonly scopes?: readonly string[]
  /** Only a person's token may ask about itself. An OAuth token may not. */
  readonly isOauth?: boolean
}
export interface Answer {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}
export interface Received {
  readonly url: URL
  /** The path below `/api/v4`. */
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
}
export interface Service {
  readonly world: World
  readonly clock: Clock
  readonly tokens: Map<string, TokenOptions>
  /** The number of requests per minute. */
  readonly limit: number
  readonly windowSeconds: number
  readonly windows: Map<string, { used: number; reset: number }>
  readonly violations: { readonly request: string; readonly problem: string }[]
  /** Lists as they were last requested, until something changes. */
  readonly lists: Map<string, Found>
  listsOf: number
}

export const refusal = (status: number, message: string, headers = {}): Answer => ({
  status,
  body: { message },
  headers,
})
const READS = ['api', 'read_api']
const WIDE = ['api', 'read_api', 'read_user']

export const routeOf = (path: string): Route | undefined => ROUTES.find(({ pattern }) => pattern.test(path))
const SPECIAL = ['/user', '/personal_access_tokens/self']
export const templateOf = (path: string): string => (SPECIAL.includes(path) ? path : (routeOf(path)?.template ?? path))

export const tokenIn = ({ headers }: Received): string =>
  String(headers['private-token'] ?? String(headers.authorization ?? '').replace(/^Bearer /, ''))

export function serve(service: Service, received: Received): Answer {
  const token = service.tokens.get(tokenIn(received))
  if (!token) return refusal(401, '401 Unauthorized')
  const limited = spend(service, token)
  if (limited.isOver) return refusal(429, 'Retry later', { ...limited.headers, 'retry-after': String(limited.seconds) })
  const answer = answerTo(service, received, token)
  return { ...answer, headers: { ...limited.headers, ...answer.headers } }
}

/** https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/#response-headers */
function spend({ windows, limit, clock, windowSeconds }: Service, { token }: TokenOptions) {
  const now = Math.floor(clock.now() / 1000)
  const known = windows.get(token)
  const window = known && known.reset > now ? known : { used: 0, reset: now + windowSeconds }
  windows.set(token, window)
  const isOver = window.used >= limit
  if (!isOver) window.used++
  const headers = {
    'ratelimit-limit': String(limit),
    'ratelimit-remaining': String(limit - window.used),
    'ratelimit-observed': String(window.used),
    'ratelimit-reset': String(window.reset),
    'ratelimit-name': 'throttle_authenticated_api',
  }
  return { isOver, headers, seconds: window.reset - now }
}

function answerTo(service: Service, { url, path }: Received, token: TokenOptions): Answer {
  const { scopes = ['api'], isOauth = false } = token
  const violate = (status: number, problem: string): Answer => {
    service.violations.push({ request: `GET ${path}${url.search}`, problem })
    return refusal(status, problem)
  }
  if (path === '/personal_access_tokens/self') {
    return isOauth
      ? refusal(400, '400 Bad request')
      : { status: 200, body: { id: 1, name: 'fake', scopes, active: true } }
  }
  const needed = path === '/user' ? WIDE : READS
  if (!needed.some((scope) => scopes.includes(scope))) {
    return { status: 403, body: { error: 'insufficient_scope', scope: needed.join(' ') } }
  }
  const [me] = service.world.users
  if (path === '/user') return { status: 200, body: me && person(me) }
  const route = routeOf(path)
  if (!route) return violate(404, `GitLab documents no GET ${path}, or the fake cannot answer it`)
  const unknown = [...url.searchParams.keys()].filter((name) => !route.parameters.includes(name))
  if (unknown.length > 0) return violate(400, `GitLab documents no ${unknown.join(', ')} of ${route.template}`)
  return shaped(service, route, found(service, route, path, url), url)
}

/** Caches lists, so that a long one is sorted once for all of its pages. */
function found(service: Service, route: Route, path: string, url: URL): Found {
  const { world, clock, lists } = service
  if (service.listsOf !== world.version) lists.clear()
  service.listsOf = world.version
  const query = new URLSearchParams(url.searchParams)
  for (const name of ['page', 'per_page', 'cursor']) query.delete(name)
  const key = `${path}?${query}`
  const parts = route.pattern.exec(path)?.slice(1) ?? []
  const answer = lists.get(key) ?? route.find({ world, now: clock.now(), query, parts })
  if (lists.size > 20) lists.clear()
  lists.set(key, answer)
  return answer
}

function shaped(service: Service, route: Route, answer: Found, url: URL): Answer {
  if ('status' in answer) return refusal(answer.status, answer.message)
  if ('location' in answer) {
    return { status: 302, body: '', headers: { location: `/api/v4${answer.location}` } }
  }
  if ('one' in answer) return { status: 200, body: answer.one }
  const isKeyset = url.searchParams.get('pagination') === 'keyset'
  if (isKeyset && (!route.hasKeyset || url.searchParams.get('order_by') !== 'id')) {
    service.violations.push({ request: url.href, problem: 'no keyset pagination here' })
    return { status: 405, body: { error: 'Keyset pagination is not yet available for this type of request' } }
  }
  const { records, headers } = (isKeyset ? keysetPage : offsetPage)(answer.list, url)
  return { status: 200, body: records.map((record) => answer.shaped?.(record) ?? record), headers }
}
