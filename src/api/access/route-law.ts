/**
 * Rules that every route declares in its `config`: how large a request it takes, its cost, and which role it needs where. The
 * server does not start with a route that lacks them.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyRequest } from 'fastify'
import type { Role } from '../../config/config.ts'
import { FatalError } from '../../errors.ts'
import { type RouteCost, type RouteSize, SIZES, type SizeLimit } from '../../plugin-kit/spec/route-size.ts'
import type { Api } from '../api.ts'

/**
 * Projects in which the user must have the role. `everywhere`: in all projects. `somewhere`: in any project, because the route
 * shows nothing of a single project, or only the projects of the user. Otherwise: in the project to which this part of the
 * request leads.
 */
type Reach = 'everywhere' | 'somewhere' | ProjectOf
export type ProjectOf = 'path' | 'query' | 'body' | 'blueprint' | 'pipeline' | 'task'

interface RouteLaw {
  /**
   * The lowest sufficient role. `anyone`: no sign-in is needed. `probe`: the same, but such requests are never limited, and their
   * user is not looked up. `signed`: the request carries a signature, which the route checks itself.
   */
  readonly least: 'probe' | 'anyone' | 'signed' | Role
  readonly reach: Reach
  readonly size: RouteSize
  readonly cost: RouteCost
}

declare module 'fastify' {
  interface FastifyContextConfig extends Partial<RouteLaw> {}
}

/** For addresses that no route has. */
const UNKNOWN: RouteLaw = { least: 'admin', reach: 'everywhere', size: 'none', cost: 'light' }

export const lawOf = ({ routeOptions }: FastifyRequest): RouteLaw => ({ ...UNKNOWN, ...routeOptions.config })

export const sizeOf = (request: FastifyRequest): SizeLimit => SIZES[lawOf(request).size]

export const isOpenTo = (least: RouteLaw['least']): least is 'probe' | 'anyone' | 'signed' =>
  least === 'probe' || least === 'anyone' || least === 'signed'

export interface LawfulRoute extends RouteLaw {
  readonly method: string
  readonly url: string
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Set just before the request is handled. */
    spent?: Spent
  }
  interface FastifyInstance {
    /** All routes with the rules that they declare. */
    laws: readonly LawfulRoute[]
  }
}

interface Spent {
  readonly cost: RouteCost
  /** True once the route has used a thread, or has found that the work is small enough to do without one. */
  isSpared: boolean
}
const spending = new AsyncLocalStorage<Spent>()
/**
 * Refuses threads to routes that do not declare the cost `heavy`, so that the declarations show everything that can keep the
 * threads busy.
 */
export function requireHeavy(job: string): void {
  const spent = spending.getStore()
  if (!spent) return
  if (spent.cost !== 'heavy') throw new FatalError(`The route does ${job} in a thread: its cost is heavy.`)
  spent.isSpared = true
}

/** Returns how a route broke its own declaration. Tests fail because of it; users still get their answer. */
function breachOf({ cost, isSpared }: Spent, payload: unknown): string | undefined {
  const isStream = typeof (payload as { pipe?: unknown } | null)?.pipe === 'function'
  if (cost === 'heavy' && !isSpared) return 'says that its cost is heavy, and did nothing in a thread'
  if (cost === 'streamed' && !isStream) return 'says that it is streamed, and answered all at once'
  return undefined
}
/** Beginning of the log line that reports such a route. */
export const BREACH = 'a route breaks its law'

/** Parsing requests of these sizes would noticeably delay others. */
const LARGE: readonly RouteSize[] = ['file', 'delivery']
const PARTS = ['least', 'reach', 'size', 'cost'] as const

/** Call this before any route is added. */
export function requireLaws(api: Api): void {
  const laws: LawfulRoute[] = []
  api.decorate('laws', laws)
  api.addHook('onRoute', (route) => {
    const { method, url } = route
    const config = (route.config ?? {}) as Partial<RouteLaw>
    const missing = PARTS.filter((part) => config[part] === undefined)
    if (missing.length > 0) throw new FatalError(`The route ${method} ${url} does not declare ${missing.join(', ')}.`)
    const law = config as RouteLaw
    if (isOpenTo(law.least) && law.least !== 'signed' && !['none', 'small'].includes(law.size)) {
      throw new FatalError(`The route ${method} ${url} is open to anyone: its size must be none or small.`)
    }
    if (LARGE.includes(law.size) && law.cost !== 'heavy') {
      throw new FatalError(`The route ${method} ${url} takes a ${law.size}: its cost is heavy.`)
    }
    route.bodyLimit = SIZES[law.size].bytes
    for (const each of [method].flat()) laws.push({ ...law, method: each, url })
  })
  api.decorateRequest('spent')
  api.addHook('preHandler', (request, _reply, done) => {
    request.spent = { cost: lawOf(request).cost, isSpared: false }
    spending.run(request.spent, done)
  })
  api.addHook('onSend', async (request, reply, payload) => {
    const breach = request.spent && reply.statusCode < 300 && breachOf(request.spent, payload)
    if (breach) request.log.error(`${BREACH}: ${request.method} ${request.routeOptions.url} ${breach}`)
  })
}
