/** The parts that both fakes of Bitbucket share: a server on loopback with credentials, a limit, faults on demand and a clock. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { type Clock, movableClock } from '../fake-github/clock.ts'
import { listening } from '../support/listening.ts'

export interface Answer {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}
export interface Asked {
  readonly url: URL
  /** The path below the base of the API, decoded. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
}
/** How to answer the next requests whose address contains `part`. Without a status the connection is cut off. */
export interface Failure {
  readonly part: string
  readonly status?: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** The number of requests that fail. One by default. */
  times?: number
}
export interface FakeShell {
  readonly url: string
  readonly clock: Clock
  /** The requested paths with their queries. */
  readonly requests: string[]
  readonly failures: Failure[]
  /** Called with each address before it is answered. */
  readonly watchers: ((address: string) => void)[]
  /** Requests that the vendor does not document. */
  readonly violations: string[]
  stop(): Promise<void>
}
export interface Route {
  readonly form: RegExp
  readonly parameters: readonly string[]
  readonly answer: (asked: Asked, ...parts: string[]) => Answer
}

export const ok = (body: unknown): Answer => ({ status: 200, body })

export async function startShell(
  root: string,
  routes: readonly Route[],
  {
    login,
    unknown,
    limit = Number.POSITIVE_INFINITY,
  }: {
    readonly login: string
    readonly unknown: (status: number, message: string) => unknown
    /** The number of requests before the server answers 429, once. */
    readonly limit?: number
  },
): Promise<FakeShell> {
  const clock = movableClock()
  const [requests, failures, violations]: [string[], Failure[], string[]] = [[], [], []]
  const watchers: FakeShell['watchers'] = []
  let rest = limit
  const refuse = (status: number, message: string, headers = {}): Answer => ({
    status,
    body: unknown(status, message),
    headers,
  })

  function answerTo(asked: Asked): Answer {
    if (asked.headers.authorization !== login) return refuse(401, 'Bad credentials')
    if (rest-- === 0) return refuse(429, 'Rate limit for this resource has been exceeded', { 'retry-after': '1' })
    for (const { form, parameters, answer } of routes) {
      const match = form.exec(asked.path)
      if (!match) continue
      const strange = [...asked.url.searchParams.keys()].filter((name) => !parameters.includes(name))
      if (strange.length > 0) violations.push(`${asked.path}: ${strange.join(', ')}`)
      return answer(asked, ...match.slice(1))
    }
    violations.push(asked.path)
    return refuse(404, 'Resource not found')
  }

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://fake')
    requests.push(`${url.pathname}${url.search}`)
    for (const tell of watchers) tell(`${url.pathname}${url.search}`)
    const place = failures.findIndex(({ part }) => decodeURIComponent(url.href).includes(part))
    const failure = failures[place]
    if (failure) {
      failure.times = (failure.times ?? 1) - 1
      if (failure.times === 0) failures.splice(place, 1)
    }
    if (failure && failure.status === undefined) return void response.destroy()
    const path = decodeURIComponent(url.pathname).slice(root.length)
    const answer = failure
      ? { status: failure.status as number, body: failure.body ?? unknown(failure.status as number, 'as asked') }
      : answerTo({ url, path, headers: request.headers })
    const isText = typeof answer.body === 'string'
    response.writeHead(answer.status, {
      'content-type': isText ? 'text/html' : 'application/json',
      date: new Date(clock.now()).toUTCString(),
      ...(answer as Answer).headers,
      ...failure?.headers,
    })
    response.end(isText ? answer.body : JSON.stringify(answer.body))
  })
  const running = await listening(server)
  return { ...running, clock, requests, failures, violations, watchers }
}
