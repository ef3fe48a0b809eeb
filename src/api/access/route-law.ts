/**
 * What every route says of itself in its `config`: how much it takes, what it costs, and whose it is. A route that does not
 * say it is refused when the server starts.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import type { FastifyRequest } from 'fastify'
import type { Role } from '../../config.ts'
import { FatalError } from '../../errors.ts'
import { type RouteCost, type RouteSize, SIZES, type SizeLimit } from '../../plugin-kit/spec/route-size.ts'
import type { Api } from '../api.ts'

/**
 * Where the role must be held: `everywhere`, that is without a project; `somewhere`, in any project (what the route shows
 * is no project's own, or it shows only those of the asker); or in the one project that this part of the request leads to.
 */
export type Reach = 'everywhere' | 'somewhere' | ProjectOf
export type ProjectOf = 'path' | 'query' | 'body' | 'blueprint' | 'pipeline' | 'task'

export interface RouteLaw {
  /**
   * The role that whoever asks needs at least. `anyone`: without signing in. `probe`: besides, it is never limited and never
   * looks at who asks. `signed`: what is sent carries a signature, which the route checks itself.
   */
  readonly least: 'probe' | 'anyone' | 'signed' | Role
  readonly reach: Reach
  readonly size: RouteSize
  readonly cost: RouteCost
}

declare module 'fastify' {
  interface FastifyContextConfig extends Partial<RouteLaw> {}
}

/** Of an address that no route has. */
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
    /** Set as soon as it is about to be handled. */
    spent?: Spent
  }
  interface FastifyInstance {
    /** Every route with what it says of itself. */
    laws: readonly LawfulRoute[]
  }
}

interface Spent {
  readonly cost: RouteCost
  /** The thread that answers was spared the work, or asked whether it is small. */
  isSpared: boolean
}
const spending = new AsyncLocalStorage<Spent>()
/** Work in threads is for routes that say so: whoever reads the declarations knows all that can keep the threads busy. */
export function requireHeavy(job: string): void {
  const spent = spending.getStore()
  if (!spent) return
  if (spent.cost !== 'heavy') throw new FatalError(`The route does ${job} in a thread: its cost is heavy.`)
  spent.isSpared = true
}

/** What a route did otherwise than it says of itself. Tests fail with it; users get their answer. */
function breachOf({ cost, isSpared }: Spent, payload: unknown): string | undefined {
  const isStream = typeof (payload as { pipe?: unknown } | null)?.pipe === 'function'
  if (cost === 'heavy' && !isSpared) return 'says that its cost is heavy, and did nothing in a thread'
  if (cost === 'streamed' && !isStream) return 'says that it is streamed, and answered all at once'
  return undefined
}
/** How such a line of the log begins. */
export const BREACH = 'a route breaks its law'

/** To take one apart would be felt by others. */
const LARGE: readonly RouteSize[] = ['file', 'delivery']
const PARTS = ['least', 'reach', 'size', 'cost'] as const

/** Before any route is added. */
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
