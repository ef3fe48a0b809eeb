import { describe, expect, test } from 'vitest'
import { UserError } from '../../errors.ts'
import { systemClock } from './clock.ts'
import { graphqlRequest, quotaFromGraphql } from './graphql.ts'
import { quotaFromHeaders } from './quota-reader.ts'
import { createSharedConnections } from './shared-connections.ts'
import { type Answer, createTestClient, never, type Received, seconds, startServer } from './test-support.ts'

const quota = quotaFromHeaders({
  remaining: 'x-ratelimit-remaining',
  reset: 'x-ratelimit-reset',
  limit: 'x-ratelimit-limit',
  class: 'x-ratelimit-resource',
})
const tokenOf = ({ headers }: Received) => headers.authorization?.replace('Bearer ', '') ?? ''

/** A server that grants every token a number of requests an hour, by a clock that the test controls. */
async function startLimited(limits: Record<string, number>, clock: { now(): number }) {
  const windows = new Map<string, { used: number; resetsAt: number }>()
  const server = await startServer((request): Answer => {
    const token = tokenOf(request)
    let window = windows.get(token)
    if (!window || window.resetsAt <= clock.now()) {
      window = { used: 0, resetsAt: clock.now() + 3_600_000 }
      windows.set(token, window)
    }
    const limit = limits[token] ?? 0
    const isSpent = window.used >= limit
    if (!isSpent) window.used++
    const headers = {
      'x-ratelimit-limit': String(limit),
      'x-ratelimit-remaining': String(limit - window.used),
      'x-ratelimit-reset': String(seconds(window.resetsAt)),
    }
    return isSpent ? { status: 403, headers, body: { message: 'API rate limit exceeded' } } : { headers, body: token }
  })
  return server
}

const used = (received: readonly Received[]) =>
  received.reduce<Record<string, number>>((counts, one) => {
    counts[tokenOf(one)] = (counts[tokenOf(one)] ?? 0) + 1
    return counts
  }, {})

describe('quota', () => {
  test('three tokens give three times the budget of one, none is asked beyond its own, and then the run waits', async () => {
    const clock = createTestClient('http://127.0.0.1:1').clock
    const server = await startLimited({ a: 10, b: 10, c: 10 }, clock)
    const client = createTestClient(server.endpoint, { clock, credentials: ['a', 'b', ' c ', 'a'], limits: { quota } })
    for (let count = 0; count < 30; count++) await client.send({ path: '/' }, never)
    expect(used(server.received)).toEqual({ a: 10, b: 10, c: 10 })
    expect(clock.sleeps).toEqual([])
    await client.send({ path: '/' }, never)
    expect(clock.sleeps).toEqual([3_601_000])
    expect(client.events).toMatchObject([{ kind: 'waiting', until: new Date('2026-01-01T01:00:01Z') }])
    expect(client.events[0]?.message).toBe(
      'Connection "acme": every credential has reached its limit for core requests; waiting until 2026-01-01T01:00:01.000Z',
    )
    expect(client.usage).toMatchObject({ requests: 31, waits: 1 })
  })

  test('is not overdrawn by requests side by side', async () => {
    const clock = createTestClient('http://127.0.0.1:1').clock
    const server = await startLimited({ a: 7, b: 3 }, clock)
    const client = createTestClient(server.endpoint, {
      clock,
      credentials: ['a', 'b'],
      limits: { quota, concurrency: 5 },
    })
    // The first answers show the remaining quota.
    await client.send({ path: '/' }, never)
    await client.send({ path: '/' }, never)
    await Promise.all(Array.from({ length: 8 }, () => client.send({ path: '/' }, never)))
    expect(used(server.received)).toEqual({ a: 7, b: 3 })
    expect(client.usage).toMatchObject({ requests: 10, waits: 0 })
  })

  test('the token with most left is taken', async () => {
    const clock = createTestClient('http://127.0.0.1:1').clock
    const server = await startLimited({ small: 3, large: 100 }, clock)
    const client = createTestClient(server.endpoint, { clock, credentials: ['small', 'large'], limits: { quota } })
    for (let count = 0; count < 20; count++) await client.send({ path: '/' }, never)
    expect(used(server.received)).toEqual({ small: 1, large: 19 })
  })

  test('is kept per class: a spent search does not stop core', async () => {
    const reset = String(seconds(Date.parse('2026-01-01T00:10:00Z')))
    const server = await startServer(({ url }) => ({
      body: {},
      headers: {
        'x-ratelimit-remaining': url.pathname === '/search' ? '0' : '50',
        'x-ratelimit-reset': reset,
        'x-ratelimit-resource': url.pathname.slice(1),
      },
    }))
    const client = createTestClient(server.endpoint, { credentials: ['a'], limits: { quota } })
    await client.send({ path: '/search', class: 'search' }, never)
    await client.send({ path: '/core' }, never)
    expect(client.clock.sleeps).toEqual([])
    await client.send({ path: '/search', class: 'search' }, never)
    expect(client.clock.sleeps).toEqual([601_000])
  })

  test('a limit of 0 means no limit', async () => {
    const server = await startServer(() => ({
      body: {},
      headers: { 'x-ratelimit-limit': '0', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' },
    }))
    const client = createTestClient(server.endpoint, { credentials: ['a'], limits: { quota } })
    for (let count = 0; count < 3; count++) await client.send({ path: '/' }, never)
    expect(client.usage).toMatchObject({ requests: 3, waits: 0 })
  })

  test('a reset that has passed by our clock only does not make a tight loop', async () => {
    const server = await startServer(({ index }) => ({
      status: index < 3 ? 403 : 200,
      body: { message: 'API rate limit exceeded' },
      headers: { 'x-ratelimit-remaining': index < 3 ? '0' : '9', 'x-ratelimit-reset': '1000' },
    }))
    const client = createTestClient(server.endpoint, { credentials: ['a'], limits: { quota } })
    await client.send({ path: '/' }, never)
    expect(client.clock.sleeps).toEqual([1000, 2000, 4000])
  })

  test('waiting for it ends at once when aborted, on the real clock', async () => {
    const abort = new AbortController()
    const server = await startServer(() => ({
      body: {},
      headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(seconds(Date.now()) + 3600) },
    }))
    const client = createTestClient(server.endpoint, {
      clock: systemClock,
      credentials: ['a'],
      limits: { quota },
      onEvent: ({ kind }) => kind === 'waiting' && abort.abort(new Error('cancelled')),
    })
    await client.send({ path: '/' }, abort.signal)
    await expect(client.send({ path: '/' }, abort.signal)).rejects.toThrow('cancelled')
  })
})

describe('the vendor’s clock', () => {
  /** A server that grants nothing before `resetsAt` by its own clock, which is `ahead` of ours. */
  async function startElsewhere(ahead: number, told: (theirNow: number, resetsAt: number) => Answer) {
    const { clock } = createTestClient('http://127.0.0.1:1')
    const theirNow = () => clock.now() + ahead
    const resetsAt = theirNow() + 300_000
    const server = await startServer((): Answer => {
      const date = { date: new Date(theirNow()).toUTCString() }
      if (theirNow() >= resetsAt) return { headers: date, body: { data: 'fine' } }
      const answer = told(theirNow(), resetsAt) as Exclude<Answer, (...all: any) => void>
      return { status: 403, ...answer, headers: { ...date, ...answer.headers } }
    })
    return { clock, server }
  }
  const waited = (sleeps: readonly number[]) => sleeps.reduce((sum, each) => sum + each, 0)

  test.each([-600_000, 600_000])(
    '%d ms from ours: a spent quota is waited for once, as long as it takes',
    async (ahead) => {
      const { clock, server } = await startElsewhere(ahead, (_, resetsAt) => ({
        headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(seconds(resetsAt)) },
        body: { message: 'API rate limit exceeded' },
      }))
      const client = createTestClient(server.endpoint, { clock, credentials: ['a'], limits: { quota } })
      expect((await client.send({ path: '/' }, never)).body.data).toBe('fine')
      expect(server.received.length).toBe(2)
      expect(waited(clock.sleeps)).toBeGreaterThanOrEqual(300_000)
      expect(waited(clock.sleeps)).toBeLessThan(303_000)
    },
  )

  test.each([-600_000, 600_000])('%d ms from ours: so is a date in Retry-After', async (ahead) => {
    const { clock, server } = await startElsewhere(ahead, (_, resetsAt) => ({
      headers: { 'retry-after': new Date(resetsAt).toUTCString() },
      body: { message: 'You have exceeded a secondary rate limit' },
    }))
    const client = createTestClient(server.endpoint, { clock, credentials: ['a'] })
    expect((await client.send({ path: '/' }, never)).body.data).toBe('fine')
    expect(server.received.length).toBe(2)
    expect(waited(clock.sleeps)).toBeLessThan(303_000)
  })

  test.each([-600_000, 600_000])('%d ms from ours: so is the reset of a GraphQL quota', async (ahead) => {
    const { clock, server } = await startElsewhere(ahead, (_, resetsAt) => ({
      status: 200,
      body: {
        errors: [{ type: 'RATE_LIMITED', message: 'API rate limit exceeded' }],
        data: { rateLimit: { limit: 5000, cost: 1, remaining: 0, resetAt: new Date(resetsAt).toISOString() } },
      },
    }))
    const limits = { quota: quotaFromGraphql }
    const client = createTestClient(server.endpoint, { clock, credentials: ['a'], limits })
    expect((await client.send(graphqlRequest('query { x }'), never)).body.data).toBe('fine')
    expect(server.received.length).toBe(2)
    expect(waited(clock.sleeps)).toBeLessThan(303_000)
  })
})

describe('secondary limits', () => {
  test('with Retry-After pause the token, and another continues', async () => {
    const server = await startServer((request) =>
      tokenOf(request) === 'a'
        ? {
            status: 403,
            headers: { 'retry-after': '90' },
            body: { message: 'You have exceeded a secondary rate limit' },
          }
        : { body: {} },
    )
    const client = createTestClient(server.endpoint, { credentials: ['a', 'b'] })
    for (let count = 0; count < 4; count++) await client.send({ path: '/' }, never)
    expect(used(server.received)).toEqual({ a: 1, b: 4 })
    expect(client.clock.sleeps).toEqual([])
  })

  test('without a time are waited for a minute, then twice as long', async () => {
    const server = await startServer(({ index }) =>
      index < 2 ? { status: 403, body: { message: 'You have exceeded a secondary rate limit.' } } : { body: {} },
    )
    const client = createTestClient(server.endpoint, { credentials: ['a'] })
    await client.send({ path: '/' }, never)
    expect(client.clock.sleeps).toEqual([60_000, 120_000])
    expect(client.events.map(({ kind }) => kind)).toEqual(['waiting', 'waiting'])
  })
})

test('a secondary limit on many tokens at once is waited for like one', async () => {
  const tokens = Array.from({ length: 15 }, (_, index) => `token-${index}`)
  const server = await startServer(({ index }) =>
    index < 15 ? { status: 429, headers: { 'retry-after': '30' } } : { body: {} },
  )
  const client = createTestClient(server.endpoint, { credentials: tokens })
  await client.send({ path: '/' }, never)
  expect(client.clock.sleeps).toEqual([30_000])
})

test('a reset may be given in seconds from now', () => {
  const read = quotaFromHeaders({ remaining: 'ratelimit-remaining', reset: 'ratelimit-reset', resetIs: 'seconds' })
  const headers = { 'ratelimit-remaining': '4', 'ratelimit-reset': '30' }
  const response = { status: 200, headers, body: {}, bytes: new Uint8Array(), url: '', credential: '' }
  expect(read(response, 1000)).toEqual({ remaining: 4, resetsAt: new Date(31_000) })
  expect(read({ ...response, headers: {} }, 1000)).toBeUndefined()
})

describe('401', () => {
  test('takes a revoked token out of the pool and the others continue', async () => {
    const server = await startServer((request) => {
      const isRevoked = tokenOf(request) === 'ghp_b' && request.index > 3
      return isRevoked ? { status: 401, body: { message: 'Bad credentials ghp_b' } } : { body: {} }
    })
    const client = createTestClient(server.endpoint, { credentials: ['ghp_a', 'ghp_b', 'ghp_c'] })
    for (let count = 0; count < 12; count++) await client.send({ path: '/' }, never)
    expect(server.received.length).toBe(13)
    expect(client.events).toEqual([
      {
        kind: 'credential-lost',
        credential: 'token 2 of 3',
        message: 'Connection "acme": token 2 of 3 is no longer used: 401 Bad credentials ***',
      },
    ])
  })

  test('from every token is an error that names the connection and what to check', async () => {
    const server = await startServer(() => ({ status: 401, body: { message: 'Bad credentials' } }))
    const client = createTestClient(server.endpoint, { credentials: ['a1', 'b2'] })
    const error = await client.send({ path: '/user' }, never).catch((reason) => reason)
    expect(error).toBeInstanceOf(UserError)
    expect(error.message).toBe(
      `Connection "acme": the server accepts none of the credentials (token 1 of 2: 401 Bad credentials; token 2 of 2: 401 Bad credentials) for GET ${server.endpoint}/user. Check that they are complete, not expired and not revoked, and save new ones`,
    )
    await expect(client.send({ path: '/' }, never)).rejects.toThrow(UserError)
    expect(server.received.length).toBe(2)
  })

  test('is no judgement for ever: the next client of the connection asks again, and so does this one after a rest', async () => {
    const refused = new Set(['a'])
    const server = await startServer((request) =>
      refused.has(tokenOf(request)) ? { status: 401, body: { message: 'Bad credentials' } } : { body: {} },
    )
    const connections = createSharedConnections()
    const { clock } = createTestClient(server.endpoint)
    const open = () =>
      createTestClient(server.endpoint, { clock, credentials: ['a'], share: { connections, key: 'some:1' } })
    const first = open()
    await expect(first.send({ path: '/' }, never)).rejects.toThrow(UserError)
    await expect(first.send({ path: '/' }, never)).rejects.toThrow(UserError)
    expect(server.received.length).toBe(1)
    // The token is still refused. Another client tries it once more, because otherwise it would have to give up.
    await expect(open().send({ path: '/' }, never)).rejects.toThrow(/token 1 of 1: 401 Bad credentials/)
    expect(server.received.length).toBe(2)
    refused.clear()
    expect((await open().send({ path: '/' }, never)).status).toBe(200)
    expect((await first.send({ path: '/' }, never)).status).toBe(200)
    expect(server.received.length).toBe(4)
  })

  test('while another token works, a refused one rests a minute, then twice as long', async () => {
    const server = await startServer((request) => (tokenOf(request) === 'bad' ? { status: 401 } : { body: {} }))
    const client = createTestClient(server.endpoint, { credentials: ['bad', 'good'] })
    const refusedAt: number[] = []
    const start = client.clock.now()
    for (let minute = 0; minute < 16; minute++) {
      const before = used(server.received).bad ?? 0
      await client.send({ path: '/' }, never)
      await client.send({ path: '/' }, never)
      if ((used(server.received).bad ?? 0) > before) refusedAt.push((client.clock.now() - start) / 60_000)
      await client.clock.sleep(60_000, never)
    }
    expect(refusedAt).toEqual([0, 1, 3, 7, 15])
  })

  test('without any credential names the connection too', async () => {
    const server = await startServer(() => ({ status: 401 }))
    await expect(createTestClient(server.endpoint).send({ path: '/' }, never)).rejects.toThrow(/"acme".*accepts none/)
  })
})

describe('403', () => {
  test('is tried with the other tokens, which keep their places', async () => {
    const server = await startServer((request) =>
      tokenOf(request) === 'a' && request.url.pathname === '/private' ? { status: 403 } : { body: tokenOf(request) },
    )
    const client = createTestClient(server.endpoint, { credentials: ['a', 'b'] })
    expect((await client.send({ path: '/private' }, never)).body).toBe('b')
    expect((await client.send({ path: '/open' }, never)).body).toBe('a')
  })

  test('from all names the connection and the permission that is missing', async () => {
    const server = await startServer(() => ({
      status: 403,
      headers: { 'X-Accepted-GitHub-Permissions': 'actions=read' },
      body: { message: 'Resource not accessible by personal access token' },
    }))
    const client = createTestClient(server.endpoint, { credentials: ['a', 'b'] })
    const error = await client.send({ path: '/runs' }, never).catch((reason) => reason)
    expect(error).toBeInstanceOf(UserError)
    expect(error.message).toBe(
      `Connection "acme": GET ${server.endpoint}/runs is forbidden: 403 Resource not accessible by personal access token; it needs actions=read. Check the permissions of the connection's credentials, and that they reach this organisation or project`,
    )
    expect(server.received.length).toBe(2)
    expect((await client.send({ path: '/runs', accept: [403] }, never)).status).toBe(403)
    expect(server.received.length).toBe(4)
  })
})

describe('refreshing credentials', () => {
  const minutes = (count: number) => count * 60_000

  function createApp(clock: { now(): number }, lifetime: number) {
    let refreshes = 0
    const credential = {
      name: 'GitHub App 7',
      refresh: async () => ({ value: `v${++refreshes}`, expiresAt: new Date(clock.now() + lifetime) }),
    }
    return { credential, refreshes: () => refreshes }
  }

  test('are fetched once for many requests and again five minutes before they expire', async () => {
    const server = await startServer((request) => ({ body: tokenOf(request) }))
    const { clock } = createTestClient(server.endpoint)
    const app = createApp(clock, minutes(60))
    const client = createTestClient(server.endpoint, { clock, credentials: [app.credential] })
    const answers = await Promise.all(Array.from({ length: 5 }, () => client.send({ path: '/' }, never)))
    expect(answers.map(({ body }) => body)).toEqual(['v1', 'v1', 'v1', 'v1', 'v1'])
    await clock.sleep(minutes(54), never)
    expect((await client.send({ path: '/' }, never)).body).toBe('v1')
    await clock.sleep(minutes(1), never)
    expect((await client.send({ path: '/' }, never)).body).toBe('v2')
    expect(app.refreshes()).toBe(2)
  })

  test('are refreshed once after a 401, for all requests under way', async () => {
    const server = await startServer((request) =>
      tokenOf(request) === 'v1' ? { status: 401 } : { body: tokenOf(request) },
    )
    const { clock } = createTestClient(server.endpoint)
    const app = createApp(clock, minutes(60))
    const client = createTestClient(server.endpoint, { clock, credentials: [app.credential] })
    const answers = await Promise.all(Array.from({ length: 4 }, () => client.send({ path: '/' }, never)))
    expect(answers.map(({ body }) => body)).toEqual(['v2', 'v2', 'v2', 'v2'])
    expect(app.refreshes()).toBe(2)
  })

  test('that are refused fresh as well leave the pool', async () => {
    const server = await startServer(() => ({ status: 401 }))
    const { clock } = createTestClient(server.endpoint)
    const app = createApp(clock, minutes(60))
    const client = createTestClient(server.endpoint, { clock, credentials: [app.credential] })
    await expect(client.send({ path: '/' }, never)).rejects.toThrow(
      /accepts none of the credentials \(GitHub App 7: 401\)/,
    )
    expect(app.refreshes()).toBe(2)
  })

  test('that could not be refreshed are tried again by the next client', async () => {
    const server = await startServer((request) => ({ body: tokenOf(request) }))
    const connections = createSharedConnections()
    let isDown = true
    const app = {
      name: 'app',
      refresh: async () => {
        if (isDown) throw new UserError('the key is not known')
        return { value: 'fresh', expiresAt: new Date(8640000000000000) }
      },
    }
    const open = () => createTestClient(server.endpoint, { credentials: [app], share: { connections, key: 'some:1' } })
    const first = open()
    const all = await Promise.allSettled(Array.from({ length: 4 }, () => first.send({ path: '/' }, never)))
    expect(all.map(({ status }) => status)).toEqual(new Array(4).fill('rejected'))
    expect(first.events.length).toBe(1)
    isDown = false
    expect((await open().send({ path: '/' }, never)).body).toBe('fresh')
  })

  test('that cannot be refreshed are tried again like a request; a UserError ends them', async () => {
    const server = await startServer(() => ({ body: {} }))
    let tries = 0
    const flaky = {
      name: 'flaky',
      refresh: async () => {
        if (++tries < 3) throw new Error('no route')
        return { value: 'x', expiresAt: new Date(8640000000000000) }
      },
    }
    const client = createTestClient(server.endpoint, { credentials: [flaky] })
    await client.send({ path: '/' }, never)
    expect(client.usage).toMatchObject({ requests: 1, retries: 2 })
    const gone = { name: 'gone', refresh: () => Promise.reject(new UserError('the App was uninstalled')) }
    await expect(createTestClient(server.endpoint, { credentials: [gone] }).send({ path: '/' }, never)).rejects.toThrow(
      /none of the credentials \(gone: the App was uninstalled\)/,
    )
  })
})

test('a preferred credential is used while it can be', async () => {
  const server = await startServer((request) => ({ body: tokenOf(request) }))
  const client = createTestClient(server.endpoint, { credentials: ['a', 'b', 'c'] })
  const { credential } = await client.send({ path: '/' }, never)
  for (let count = 0; count < 3; count++) {
    expect((await client.send({ path: '/', preferCredential: credential }, never)).credential).toBe(credential)
  }
})
