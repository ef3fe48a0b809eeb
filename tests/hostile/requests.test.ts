/** Hostile clients on every route: no answer of 5xx, no slow answer, and other clients never have to wait. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { LawfulRoute } from '../../src/api/access/route-law.ts'
import { LONGEST_SILENCE_MS } from '../../src/api/watchdog.ts'
import { SIZES } from '../../src/plugin-kit/spec/route-size.ts'
import { generatedRequests } from '../api/support/requests-from-description.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { type Attack, attacksOf } from './support/attacks.ts'
import { atLimits, largestDeliveries, largestFiles, SILENCING } from './support/limits.ts'
import { besidePings } from './support/pings.ts'
import { fullByHand, fullFiles, fullLists, fullTexts } from './support/well-formed.ts'

const isFull = process.env.FULL_SIZE === 'true'
const ATTACKS = Number(process.env.ATTACKS ?? (isFull ? Number.POSITIVE_INFINITY : 300))
const GENERATED = isFull ? 50_000 : 300
/** The limits for an idle machine. With other tests beside it, only requests that hang are found. */
const SLOWEST_MS = isFull ? 2000 : 15_000
const SLOWEST_PING_MS = isFull ? LONGEST_SILENCE_MS : 5000
/** Large requests are sent one by one if their time is measured: an import of 100,000 lines is work, and other requests wait for it. */
const LARGE_AT_ONCE = isFull ? 1 : 4
const AT_ONCE = 4
const AT_LIMIT = 5
const LIMITS = isFull ? Number.POSITIVE_INFINITY : 25
const LARGEST = isFull ? Number.POSITIVE_INFINITY : 6
const FULL = isFull ? Number.POSITIVE_INFINITY : 2
/** Valid input is processed completely, so less of it is sent when other tests run. */
const SHARE = isFull ? 1 : 0.01
/** Repeats some of the tests: ONLY='many lines'. */
const ONLY = new RegExp(process.env.ONLY ?? '')

/** Selects at most `most` attacks, spread over all, and the same in each run. */
function spread(attacks: readonly Attack[], most: number): readonly Attack[] {
  const all = attacks.filter(({ name }) => ONLY.test(name))
  const step = Math.max(1, all.length / most)
  return Array.from({ length: Math.min(all.length, most) }, (_, index) => all[Math.floor(index * step)]!)
}

const start = fileURLToPath(new URL('./support/server-process.ts', import.meta.url))

describeOneWithTables('hostile requests', (test) => {
  let stranger: Server
  let local: string
  let server: ChildProcess
  let address: string
  let document: any
  let laws: readonly LawfulRoute[]

  beforeAll(async () => {
    stranger = createServer((_request, response) => {
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}')
    })
    await new Promise<void>((done) => stranger.listen(0, '127.0.0.1', done))
    local = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}/`
    server = fork(start, [test.url, local], { execArgv: [] })
    const [started] = (await once(server, 'message')) as [{ address: string; laws: readonly LawfulRoute[] }]
    address = started.address
    laws = started.laws
    document = await (await fetch(`${address}/swagger/doc.json`)).json()
    for (const plugin of ['github', 'jira', 'webhook']) {
      const body = JSON.stringify({
        name: plugin,
        endpoint: local,
        token: 'a-token-for-nobody',
        username: 'u',
        password: 'p',
      })
      await fetch(`${address}/plugins/${plugin}/connections`, { method: 'POST', body })
    }
    await fetch(`${address}/projects`, { method: 'POST', body: '{"name":"1"}' })
  })
  afterAll(async () => {
    const ended = once(server, 'exit')
    if (server.connected) {
      server.disconnect()
      await ended
    }
    stranger.closeAllConnections()
    stranger.close()
  })

  async function answerTo({
    method,
    url,
    body,
    type = 'application/json',
    ...more
  }: Omit<Attack, 'name' | 'mayAnswer'>) {
    const headers = { 'content-type': type, ...more.headers }
    const sent = body !== undefined && method !== 'GET' && { body: body(), headers }
    const began = performance.now()
    const response = await fetch(address + url, {
      method,
      redirect: 'manual',
      ...sent,
    })
    // These answers last as long as something happens.
    const isStream = /\/(events|log)(\?|$)/.test(url) && response.status === 200
    const text = isStream ? '' : await response.text()
    if (isStream) await response.body?.cancel()
    return { status: response.status, text, ms: performance.now() - began }
  }

  /** Returns the server's longest turn since the last question, in milliseconds of processor time. */
  async function longestTurn(): Promise<number> {
    const told = once(server, 'message')
    server.send('longest turn')
    const [ms] = (await told) as [number]
    return ms
  }

  async function attack(attacks: readonly Attack[], atOnce: number, slowest = SLOWEST_MS): Promise<void> {
    const troubles: string[] = []
    let next = 0
    const lasted: { name: string; began: number; ended: number }[] = []
    const client = async () => {
      for (let each = attacks[next++]; each; each = attacks[next++]) {
        const began = Date.now()
        const { status, text, ms } = await answerTo(each).catch((error) => ({
          status: 0,
          text: String(error.cause ?? error),
          ms: 0,
        }))
        lasted.push({ name: each.name, began, ended: Date.now() })
        // When a body is refused before it was read, the connection ends too.
        const isBroken = status === 0 && !/EPIPE|ECONNRESET|other side closed/.test(text)
        if (
          isBroken ||
          (status >= 500 && !each.mayAnswer.includes(status)) ||
          ms > slowest ||
          text.length > 5_000_000
        ) {
          troubles.push(`${each.name}: ${status} in ${Math.round(ms)} ms: ${text.slice(0, 200)}`)
        }
      }
    }
    const clients = async () => void (await Promise.all(Array.from({ length: atOnce }, client)))
    await longestTurn()
    const ping = await besidePings(address, clients)
    const beside = lasted.filter(({ began, ended }) => began <= ping.began + ping.ms && ended >= ping.began)
    const turn = await longestTurn()
    if (turn >= LONGEST_SILENCE_MS) troubles.push(`the server computed for ${turn} ms without answering anybody`)
    if (ping.ms >= SLOWEST_PING_MS) {
      troubles.push(`a ping took ${ping.ms} ms, beside ${beside.map(({ name }) => name).join(', ')}`)
    }
    expect(troubles.join('\n')).toBe('')
  }

  it(`too long, too wide, too deep or of the wrong kind: ${ATTACKS} of them`, async () => {
    const every = attacksOf(document)
    expect(every.length).toBeGreaterThan(2000)
    await attack(spread(every, ATTACKS), LARGE_AT_ONCE)
  }, 3_600_000)

  it('those that have silenced it for up to a quarter of an hour', async () => {
    await attack(
      SILENCING.flatMap((each) => Array<Attack>(AT_LIMIT).fill(each)),
      AT_LIMIT,
    )
  }, 3_600_000)

  it(`as much as a route takes, in the worst shapes, ${AT_LIMIT} at once`, async () => {
    const all = atLimits(laws, document)
    expect(all.length).toBeGreaterThan(300)
    await attack(
      spread(all, LIMITS).flatMap((each) => Array<Attack>(AT_LIMIT).fill(each)),
      AT_LIMIT,
    )
  }, 3_600_000)

  it(`files and deliveries of the largest size, ${AT_LIMIT} at once`, async () => {
    // Earlier connections may be deleted by now.
    const body = JSON.stringify({ name: 'deliveries', endpoint: local, token: 'a-token-for-nobody' })
    const connection = await fetch(`${address}/plugins/github/connections`, { method: 'POST', body })
    const { id } = (await connection.json()) as { id: number }
    const made = await fetch(`${address}/v1/plugins/github/connections/${id}/deliveries/secret`, { method: 'POST' })
    const { secret } = (await made.json()) as { secret: string }
    const files = largestFiles(laws)
    expect(files.length).toBeGreaterThan(20)
    await attack(
      spread([...largestDeliveries(id, secret), ...files], LARGEST).flatMap((each) =>
        Array<Attack>(AT_LIMIT).fill(each),
      ),
      AT_LIMIT,
      // These requests wait for each other as long as necessary. Other requests do not wait.
      Number.POSITIVE_INFINITY,
    )
  }, 3_600_000)

  it(`as much as a route takes, and nothing wrong with it, ${AT_LIMIT} at once`, async () => {
    const files = fullFiles(laws, (SIZES.file.bytes - 65_536) * SHARE)
    const texts = fullTexts(document, SHARE)
    const lists = fullLists(laws, document, SHARE)
    // Every route that takes a file, and every one that takes YAML.
    expect(files).toHaveLength(2 * laws.filter(({ size }) => size === 'file').length)
    expect(new Set(texts.map(({ url }) => url)).size).toBeGreaterThanOrEqual(4)
    expect(lists.length).toBeGreaterThan(10)
    const some = [
      ...spread(files, FULL),
      ...spread(texts, FULL),
      ...spread(lists, FULL),
      ...spread(fullByHand(SHARE), FULL),
    ]
    await attack(
      some.flatMap((each) => Array<Attack>(AT_LIMIT).fill(each)),
      AT_LIMIT,
      Number.POSITIVE_INFINITY,
    )
  }, 3_600_000)

  it(`${GENERATED} requests as generated from the description`, async () => {
    const seed = Number(process.env.SEED ?? 1)
    const requests = fc.sample(generatedRequests(document, local), { numRuns: GENERATED, seed })
    await attack(
      requests.map(({ method, template, url, body, headers }) => ({
        name: `${method} ${url.slice(0, 200)} ${body?.slice(0, 300)}`,
        method,
        url,
        ...(body !== undefined && { body: () => body, type: headers['content-type'] ?? 'application/json' }),
        mayAnswer: Object.keys(document.paths[template]?.[method.toLowerCase()]?.responses ?? {})
          .map(Number)
          .filter((status) => status >= 501),
      })),
      AT_ONCE,
    )
  }, 3_600_000)
})
