/** The parts that fakes of JSON APIs share: one table of routes, one credential, a clock, and failures on demand. */
import { createServer } from 'node:http'
import { listening } from './listening.ts'

export interface Failure {
  /** The failure applies to addresses that contain this text. */
  readonly path: string
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** The failure applies to every request, not only to the next one. */
  readonly isLasting?: true
}

/** An undefined body means status 404. */
export type Answer = readonly [status: number, body: unknown]
export type FakeRoute = readonly [form: RegExp, answer: (query: URLSearchParams, name: string) => Answer]

export interface FakeApi {
  readonly url: string
  /** The requested addresses, with their queries. */
  readonly requests: string[]
  readonly failures: Failure[]
  /** The number of requests that are still allowed. Answers carry it in their headers. */
  remaining: number
  stop(): Promise<void>
}

export async function startFakeApi(options: {
  readonly authorization: string
  readonly now: () => Date
  readonly routes: readonly FakeRoute[]
  readonly notFound: unknown
  /** The response headers that tell how many requests are left. */
  readonly quota?: (remaining: number) => Readonly<Record<string, string>>
}): Promise<FakeApi> {
  const { authorization, now, routes, notFound, quota } = options
  const state = { requests: [] as string[], failures: [] as Failure[], remaining: Number.POSITIVE_INFINITY }
  function failureFor(address: string): Failure | undefined {
    const place = state.failures.findIndex(({ path }) => decodeURIComponent(address).includes(path))
    const failure = state.failures[place]
    if (failure && !failure.isLasting) state.failures.splice(place, 1)
    return failure
  }
  function answerTo(address: string): Answer {
    const { pathname, searchParams } = new URL(address, 'http://fake')
    for (const [form, answer] of routes) {
      const match = form.exec(pathname)
      const found = match && answer(searchParams, decodeURIComponent(match[1] ?? ''))
      if (found && found[1] !== undefined) return found
    }
    return [404, notFound]
  }
  const server = createServer((request, response) => {
    const address = request.url ?? '/'
    state.requests.push(address)
    const isKnown = request.headers.authorization === authorization
    const failure = isKnown ? failureFor(address) : { path: '', status: 401, body: { message: 'Unauthorized' } }
    const isOver = quota !== undefined && state.remaining <= 0
    if (quota && isOver) state.remaining = Number.POSITIVE_INFINITY
    else state.remaining--
    const [status, body] = failure
      ? [failure.status, failure.body ?? { message: 'as asked' }]
      : isOver
        ? [429, { error: { message: 'Rate Limit Exceeded' } }]
        : answerTo(address)
    const headers = {
      'content-type': 'application/json',
      date: now().toUTCString(),
      ...failure?.headers,
      ...quota?.(isOver ? 0 : Math.min(Math.max(state.remaining, 0), 960)),
    }
    response.writeHead(status, headers)
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  return Object.assign(state, await listening(server))
}
