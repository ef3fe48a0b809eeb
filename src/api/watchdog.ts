/** Notices when the thread that answers requests was busy for so long that everybody waited, and logs the likely requests. */
import type { FastifyRequest } from 'fastify'
import { whileAnswering } from '../basics/answering.ts'
import type { Api } from './api.ts'

const LOOK_MS = 100
/** The longest time that anyone may have to wait. */
export const LONGEST_SILENCE_MS = 500
/** Requests that the log names: the last ones are the likely reason. */
const MOST_TOLD = 5

interface Begun {
  readonly route: string
  readonly request: string
  readonly since: number
  ended?: number
}

const nameOf = ({ method, routeOptions, is404 }: FastifyRequest) =>
  `${method} ${is404 ? 'unknown' : (routeOptions.url ?? 'unknown')}`

/** Call this before any route is added. */
export function installWatchdog(api: Api): void {
  const open = new Map<FastifyRequest, Begun>()
  let lately: Begun[] = []
  let looked = performance.now()
  api.addHook('onRequest', (request, _reply, done) => {
    open.set(request, { route: nameOf(request), request: request.id, since: performance.now() })
    done()
  })
  const end = (request: FastifyRequest) => {
    const begun = open.get(request)
    open.delete(request)
    if (begun) lately.push({ ...begun, ended: performance.now() })
  }
  api.addHook('onResponse', async (request) => end(request))
  api.addHook('onRequestAbort', async (request) => end(request))
  // Patterns written by users must not be matched in a handler: see user-patterns.ts.
  api.addHook('preHandler', (_request, _reply, done) => whileAnswering(done))

  const timer = setInterval(() => {
    const now = performance.now()
    const late = now - looked - LOOK_MS
    if (late > LONGEST_SILENCE_MS) {
      const during = [...lately, ...open.values()].filter(({ ended = now }) => ended >= looked)
      const told = during.slice(-MOST_TOLD).map(({ route, request }) => ({ route, request }))
      api.log.warn(
        { ms: Math.round(late), requests: told },
        `nobody was answered for ${Math.round(late)} ms: one of these requests, or work of the server itself, kept it busy`,
      )
    }
    lately = []
    looked = now
  }, LOOK_MS)
  timer.unref()
  api.addHook('onClose', async () => clearInterval(timer))
}
