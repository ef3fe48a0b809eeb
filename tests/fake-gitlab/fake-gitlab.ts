/**
 * A GitLab over HTTP on loopback, written from GitLab's public documents: no npm package contains a description of its
 * present REST interface. Every request that these documents do not describe is a violation.
 *
 *   const fake = await startFakeGitlab({ world: { projects: [{ path: 'acme/web', mergeRequests: 3, pipelines: 2 }] } })
 *   fake.update({ project: 'acme/web', act: 'push commit', with: [1] })
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, movableClock } from '../fake-github/clock.ts'
import { type Fault, type FaultDetails, type FaultKind, type FaultPlan, faults } from '../fake-github/faults.ts'
import { type RequestLog, requestLog } from '../fake-github/request-log.ts'
import { applyChange, type Change } from './changes.ts'
import {
  type Answer,
  type Received,
  refusal,
  type Service,
  serve,
  type TokenOptions,
  templateOf,
  tokenIn,
} from './service.ts'
import { createWorld, type World, type WorldOptions } from './world.ts'

export const DEFAULT_TOKEN = 'glpat-fake'

/** Plain data, so that it can be passed to a child process. */
export interface FakeGitlabOptions {
  readonly world?: WorldOptions
  readonly tokens?: readonly TokenOptions[]
  readonly latencyMilliseconds?: number
  /** The number of requests that a token may send per window. */
  readonly limit?: number
  readonly windowSeconds?: number
  readonly faults?: FaultPlan
}
export interface FakeGitlab {
  /** The base address of the API. */
  readonly url: string
  readonly world: World
  readonly clock: Clock
  readonly requests: RequestLog
  readonly violations: Service['violations']
  update(change: Change): void
  failNext(kind: FaultKind, details?: FaultDetails): void
  revoke(token: string): void
  stop(): Promise<void>
}

export async function startFakeGitlab(options: FakeGitlabOptions = {}): Promise<FakeGitlab> {
  const { tokens = [{ token: DEFAULT_TOKEN }], limit = 1_000_000, windowSeconds = 60 } = options
  const clock = movableClock()
  const world = createWorld(options.world)
  const service: Service = {
    world,
    clock,
    limit,
    windowSeconds,
    windows: new Map(),
    violations: [],
    lists: new Map(),
    listsOf: 0,
    tokens: new Map(tokens.map((each) => [each.token, each])),
  }
  const troubles = faults(options.faults, options.world?.seed ?? 1)
  const requests = requestLog()

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const begun = performance.now()
    const body = await text(incoming)
    const url = new URL(incoming.url as string, fake.url)
    if (url.pathname.startsWith('/_fake/')) return send(outgoing, control(fake, url.pathname.slice(7), body))
    const received: Received = { url, path: url.pathname.replace(/^\/api\/v4/, ''), headers: incoming.headers }
    const fault = troubles.strike(`${received.path}${url.search}`, false)
    if (fault?.kind === 'revoked-token') fake.revoke(tokenIn(received))
    const served = conditional(received, (fault && instead(fault)) ?? serve(service, received))
    const slow = fault?.kind === 'slow' ? (fault.delayMilliseconds ?? 1000) : 0
    const rest = begun + (options.latencyMilliseconds ?? 0) + slow - performance.now()
    if (rest > 0) await sleep(rest)
    requests.add({
      method: incoming.method as string,
      url: incoming.url as string,
      template: templateOf(received.path),
      token: tokenIn(received),
      status: served.status,
      points: served.status < 400 ? 1 : 0,
      fault: fault?.kind,
      operation: undefined,
    })
    if (fault?.kind === 'changed-totals') for (const change of fault.changes ?? []) fake.update(change as never)
    await send(outgoing, served, fault, new Date(clock.now()))
  }

  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch((error: Error) => {
      // The client closed the connection, as a killed client does.
      if (incoming.errored !== null) return
      service.violations.push({ request: String(incoming.url), problem: `the fake failed: ${error.stack}` })
      outgoing.destroy()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const fake: FakeGitlab = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v4`,
    world,
    clock,
    requests,
    violations: service.violations,
    update: (change) => applyChange(world, change, clock.now()),
    failNext: troubles.failNext,
    revoke: (token) => void service.tokens.delete(token),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return fake
}

/** Returns the answer that replaces the real one. */
function instead({ kind, retryAfterSeconds = 1, status }: Fault): Answer | undefined {
  const wait = { 'retry-after': String(retryAfterSeconds) }
  if (kind === 'too-many-requests' || kind === 'secondary-limit') return refusal(429, 'Retry later', wait)
  if (kind === 'bad-gateway') return { status: status ?? 502, body: '<html><body><h1>502</h1></body></html>' }
  return kind === 'gone' ? refusal(410, '410 Gone') : undefined
}

function conditional({ headers }: Received, answer: Answer): Answer {
  if (answer.status !== 200) return answer
  const content = Buffer.from(JSON.stringify(answer.body))
  const etag = `W/"${createHash('sha1').update(content).digest('hex')}"`
  const isKnown = headers['if-none-match'] === etag
  return { status: isKnown ? 304 : 200, body: isKnown ? '' : content, headers: { ...answer.headers, etag } }
}

/** Lets the process that started the fake control and inspect it. See spawn.ts. */
function control(fake: FakeGitlab, name: string, body: string): Answer {
  const [first, second] = body === '' ? [] : JSON.parse(body)
  if (name === 'update') {
    fake.clock.set(second)
    fake.update(first)
  }
  if (name === 'clear') fake.requests.clear()
  return { status: 200, body: { entries: fake.requests.entries, violations: fake.violations } }
}

async function send(
  outgoing: ServerResponse,
  { status, body, headers = {} }: Answer,
  fault?: Fault,
  date = new Date(),
) {
  const whole = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const content = fault?.kind === 'malformed-json' ? Buffer.concat([whole.subarray(0, -2), Buffer.from(',,')]) : whole
  const type = whole[0] === 0x3c /* < */ ? 'text/html' : 'application/json'
  outgoing.writeHead(status, {
    'content-type': type,
    date: date.toUTCString(),
    ...headers,
    ...(status !== 304 && { 'content-length': content.length }),
  })
  if (fault?.kind !== 'cut-off') return void outgoing.end(status === 304 ? undefined : content)
  outgoing.write(content.subarray(0, Math.floor(content.length / 2)), () => outgoing.destroy())
}
