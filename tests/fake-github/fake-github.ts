/**
 * A GitHub over HTTP on loopback: REST and GraphQL over one generated world that can change while it runs.
 *
 *   const fake = await startFakeGithub({ world: { users: 3, repositories: [{ name: 'acme/web', issues: 2, … }] } })
 *   fake.clock.set('2025-05-05T05:05:05Z')   // the time of the changes that follow, and of the Date header
 *   const issue = fake.update({ repository: 'acme/web', add: 'issues', with: { title: 'Broken', labels: ['bug'] } })
 *
 * `update` takes plain data (world/changes.ts), in process or by POST to /_fake/update (spawn.ts), and sets times of change as
 * GitHub does. Records are named by `index`: the number of an issue or pull request, or `parent * 1000 + ordinal` of a child.
 *
 *   create     { add: 'issues' | 'pullRequests' | 'runs' | 'deployments' | 'releases' | 'milestones' | …, with? }
 *   children   { add: 'comments' | 'events' | 'pullCommits' | 'reviews', parent: number } { add: 'reviewComments', parent: index of the
 *              review } { add: 'jobs', parent: index of the run } { add: 'statuses', parent: index of the deployment, with: { state } }
 *   edit       { edit: kind, index, with }: title, body, labels (new ones are made), assignees: [], milestone, author: null, …
 *   remove     { remove: kind, index }: with its children. No other record shows the removal, not even the parent
 *   tickets    { close: number } { reopen: number } { merge: number } { forcePush: number }
 *   runs       { rerun: index }: the same run with other jobs; { edit: 'runs', index, with: { status: 'completed', conclusion } }
 *   repository { rename: 'owner/name' } { archive: boolean } { hasIssues: boolean } { delete: true }
 */
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, movableClock } from './clock.ts'
import type { Violation } from './contract.ts'
import { answerControl } from './control.ts'
import { answerInstead, changesBehind, secondaryLimit, withLoss } from './fault-answers.ts'
import { type Fault, type FaultDetails, type FaultKind, faults } from './faults.ts'
import { meter } from './limits.ts'
import { type RequestLog, requestLog } from './request-log.ts'
import { type Answer, refusal } from './rest/exchange.ts'
import { accountHeaders, header, type Received, type Served, type Service, serve, templateOf } from './service.ts'
import { type FakeGithubOptions, fakeGithubSettings } from './settings.ts'
import { tokens } from './tokens.ts'
import { applyChange, type Change } from './world/changes.ts'
import type { Item } from './world/records.ts'
import { createWorld, type World } from './world/world.ts'

export interface FakeGithub {
  /** Without a slash at the end. GraphQL is at `/graphql` and `/api/graphql`; REST is also under `/api/v3`. */
  readonly url: string
  readonly world: World
  readonly clock: Clock
  readonly requests: RequestLog
  /** Requests that the real GitHub would refuse or that the fake cannot serve. Tests expect none. */
  readonly violations: readonly Violation[]
  /** The largest number of requests under way at the same time. */
  readonly peakConcurrency: number
  update(change: Change): Item | undefined
  failNext(kind: FaultKind, details?: FaultDetails): void
  /** The number of requested faults that have not been used yet. */
  readonly waitingFaults: number
  revoke(token: string): void
  stop(): Promise<void>
}

export async function startFakeGithub(options: FakeGithubOptions = {}): Promise<FakeGithub> {
  const settings = fakeGithubSettings(options)
  const clock = movableClock()
  const world = createWorld(options.world)
  const service: Service = {
    settings,
    world,
    clock,
    tokens: tokens(settings.tokens, settings.app, clock),
    meter: meter(clock, settings.windowSeconds),
    violations: [],
  }
  const troubles = faults(settings.faults, world.settings.seed)
  const requests = requestLog()
  let underWay = 0
  let peak = 0

  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const begun = performance.now()
    const received = receive(fake, incoming, await text(incoming))
    if (received.path.startsWith('/_fake/')) return send(outgoing, answerControl(fake, received), {})
    const fault = troubles.strike(`${received.path}?${received.query}`, received.path === '/graphql', received.body)
    const delay = settings.latencyMilliseconds + (fault?.kind === 'slow' ? (fault.delayMilliseconds ?? 1000) : 0)
    const served = conditional(service, received, serveWithFault(fault, received))
    // The latency is the whole time that a client waits. It includes the time to make the answer.
    const rest = begun + delay - performance.now()
    if (rest > 0) await sleep(rest)
    if (outgoing.destroyed) return
    const headers = accountHeaders(service, served)
    requests.add({
      method: received.method,
      url: incoming.url!,
      template: served.template,
      token: served.bearer?.token,
      status: served.answer.status,
      points: served.points,
      fault: fault?.kind,
      operation: served.operation,
    })
    if (fault?.kind === 'changed-totals') for (const change of changesBehind(fault, received.path)) fake.update(change)
    await send(outgoing, served.answer, { ...headers, date: new Date(clock.now()).toUTCString() }, fault)
  }
  const serveWithFault = (fault: Fault | undefined, received: Received): Served => {
    if (fault?.kind === 'revoked-token') {
      const holder = service.tokens.bearer(header(received, 'authorization') ?? '')
      if (holder !== undefined) fake.revoke(holder.token)
    }
    const instead =
      underWay > settings.maximumConcurrency
        ? secondaryLimit(403, 1)
        : fault === undefined
          ? undefined
          : answerInstead(fault)
    if (instead === undefined) {
      const served = serve(service, received)
      return fault === undefined ? served : { ...served, answer: withLoss(fault, served.answer) }
    }
    const bearer = service.tokens.bearer(header(received, 'authorization') ?? '')
    const resource = received.path === '/graphql' ? 'graphql' : 'core'
    return { answer: instead, template: templateOf(received), resource, points: 0, bearer }
  }

  const server = createServer((incoming, outgoing) => {
    underWay++
    peak = Math.max(peak, underWay)
    handle(incoming, outgoing)
      .catch((error: Error) => {
        // The client closed the connection, as a killed client does.
        if (incoming.errored !== null) return
        const request = `${incoming.method} ${incoming.url}`
        service.violations.push({ request, problem: `the fake failed: ${error.stack}` })
        if (!outgoing.headersSent) return send(outgoing, refusal(500, error.message), {})
        outgoing.destroy()
      })
      .finally(() => {
        underWay--
      })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))

  const fake: FakeGithub = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    world,
    clock,
    requests,
    violations: service.violations,
    get peakConcurrency() {
      return peak
    },
    update: (change) => applyChange(world, change, clock.now()),
    failNext: troubles.failNext,
    get waitingFaults() {
      return troubles.waiting
    },
    revoke: service.tokens.revoke,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return fake
}

const ENTERPRISE_PREFIX = /^\/api\/v3(?=\/|$)/

function receive({ url, world }: FakeGithub, incoming: IncomingMessage, body: string): Received {
  const target = new URL(incoming.url!, url)
  const prefix = ENTERPRISE_PREFIX.exec(target.pathname)?.[0] ?? ''
  const plain = target.pathname.slice(prefix.length) || '/'
  const byId = /^\/repositories\/(\d+)(.*)$/.exec(plain)
  const repository = byId === null ? undefined : world.findById(Number(byId[1]))
  return {
    method: incoming.method!,
    // Not in the description, but used by GitHub's redirects and Link headers.
    path:
      plain === '/api/graphql'
        ? '/graphql'
        : byId === null
          ? plain
          : `/repos/${repository === undefined ? 'unknown/unknown' : `${repository.owner}/${repository.name}`}${byId[2]}`,
    api: url + prefix,
    query: target.searchParams,
    headers: incoming.headers,
    body,
  }
}

/** Turns an answer that the client already has into 304, which does not count against the limit. */
function conditional({ settings }: Service, received: Received, served: Served): Served {
  const { answer, bearer } = served
  if (answer.status !== 200 || received.method !== 'GET') return served
  const content = Buffer.from(JSON.stringify(answer.body))
  const owner = settings.etagPerToken ? (bearer?.token ?? '') : ''
  const etag = `W/"${createHash('sha1').update(owner).update(content).digest('hex')}"`
  const modified = answer.lastModified === undefined ? undefined : new Date(answer.lastModified)
  const headers = {
    ...answer.headers,
    etag,
    'cache-control': 'private, max-age=60, s-maxage=60',
    vary: 'Accept, Authorization, Cookie, X-GitHub-OTP',
    ...(modified !== undefined && { 'last-modified': modified.toUTCString() }),
  }
  const known = header(received, 'if-none-match')
  const since = header(received, 'if-modified-since')
  const isKnown =
    known === undefined
      ? since !== undefined && modified !== undefined && Date.parse(since) >= modified.getTime()
      : known.split(',').some((each) => each.trim().replace(/^W\//, '') === etag.slice(2))
  if (isKnown) return { ...served, points: 0, answer: { status: 304, body: '', headers } }
  return { ...served, answer: { status: 200, body: content, headers } }
}

async function send(
  outgoing: ServerResponse,
  { status, body, headers: own }: Answer,
  headers: Record<string, string>,
  fault?: Fault,
): Promise<void> {
  const whole = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
  const content = fault?.kind === 'malformed-json' ? Buffer.concat([whole.subarray(0, -2), Buffer.from(',,')]) : whole
  const type = whole[0] === 0x3c /* < */ ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8'
  outgoing.writeHead(status, {
    server: 'github.com',
    'content-type': type,
    'x-github-media-type': 'github.v3; format=json',
    ...headers,
    ...own,
    ...(status !== 304 && { 'content-length': content.length }),
  })
  if (fault?.kind !== 'cut-off') return void outgoing.end(status === 304 ? undefined : content)
  outgoing.write(content.subarray(0, Math.floor(content.length / 2)), () => outgoing.destroy())
}

export type { FakeGithubOptions } from './settings.ts'
export { DEFAULT_TOKEN } from './tokens.ts'
export { createWorld } from './world/world.ts'
