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
  interface FastifyInstance {
    /** Every route with what it says of itself. */
    laws: readonly LawfulRoute[]
  }
}

const costs = new AsyncLocalStorage<RouteCost>()
/** Work in threads is for routes that say so: whoever reads the declarations knows all that can keep the threads busy. */
export function requireHeavy(job: string): void {
  if (costs.getStore() === 'light') throw new FatalError(`The route does ${job} in a thread: its cost is heavy.`)
}

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
    route.bodyLimit = SIZES[law.size].bytes
    for (const each of [method].flat()) laws.push({ ...law, method: each, url })
  })
  api.addHook('preHandler', (request, _reply, done) => costs.run(lawOf(request).cost, done))
}
