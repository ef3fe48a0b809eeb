import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { UserError } from '../../errors.ts'
import { systemClock } from './clock.ts'
import { HttpFatalError, HttpRetryableError } from './failure.ts'
import { createTestClient, never, startServer } from './test-support.ts'

const failure = (promise: Promise<unknown>): Promise<any> =>
  promise.then(
    () => expect.fail('should have failed'),
    (error) => error,
  )

describe('a request', () => {
  test('is built from endpoint, path, query, headers and body', async () => {
    const server = await startServer(() => ({ body: { ok: true } }))
    const client = createTestClient(`${server.endpoint}/api/v3/`, {
      credentials: ['t1'],
      headers: { 'X-Version': '1' },
    })
    const response = await client.send(
      {
        method: 'POST',
        path: '/things?a=1',
        query: { b: [2, 3], c: undefined },
        headers: { 'x-version': '2' },
        body: { q: 1 },
      },
      never,
    )
    const [seen] = server.received
    expect(seen?.url.pathname + seen!.url.search).toBe('/api/v3/things?a=1&b=2&b=3')
    expect(seen).toMatchObject({ method: 'POST', body: { q: 1 } })
    expect(seen?.headers).toMatchObject({
      authorization: 'Bearer t1',
      'x-version': '2',
      'content-type': 'application/json',
    })
    expect(response).toMatchObject({ status: 200, body: { ok: true }, credential: 'token 1 of 1' })
    expect(response.bytes.length).toBe(11)
  })

  test('to another origin is refused, since it would carry the credentials there', async () => {
    const server = await startServer(() => ({ body: {} }))
    const client = createTestClient(server.endpoint)
    await client.send({ path: `${server.endpoint}/absolute` }, never)
    await expect(client.send({ path: 'http://127.0.0.1:1/x' }, never)).rejects.toThrow(
      /outside of the connection's endpoint/,
    )
    expect(server.received.map(({ url }) => url.pathname)).toEqual(['/absolute'])
  })

  test('answered 304 is an answer and not counted', async () => {
    const server = await startServer(({ headers }) =>
      headers['if-none-match'] === '"e"' ? { status: 304 } : { body: [1] },
    )
    const client = createTestClient(server.endpoint)
    expect((await client.send({ path: '/a', class: 'search' }, never)).status).toBe(200)
    expect((await client.send({ path: '/a', ifNoneMatch: '"e"' }, never)).status).toBe(304)
    expect(client.usage).toMatchObject({ requests: 2, counted: 1, cost: 1, retries: 0, bytes: 3 })
    expect(client.usage.classes).toMatchObject({
      search: { requests: 1, counted: 1 },
      core: { requests: 1, counted: 0 },
    })
  })

  test('answered with an accepted status is returned, with any other client error fails at once', async () => {
    const server = await startServer(() => ({ status: 404, body: { message: 'Not Found' } }))
    const client = createTestClient(server.endpoint)
    expect((await client.send({ path: '/a', accept: [404] }, never)).status).toBe(404)
    const error = await failure(client.send({ path: '/b' }, never))
    expect(error).toBeInstanceOf(HttpFatalError)
    expect(error).toMatchObject({ status: 404, message: `Connection "acme": GET ${server.endpoint}/b: 404 Not Found` })
    expect(server.received.length).toBe(2)
  })
})

describe('retries', () => {
  test.each([408, 425, 429, 500, 502, 503])('%i is tried again, exponentially with full jitter', async (status) => {
    const server = await startServer(({ index }) => (index < 3 ? { status } : { body: 'done' }))
    const client = createTestClient(server.endpoint, {})
    expect((await client.send({ path: '/' }, never)).body).toBe('done')
    expect(client.usage).toMatchObject({ requests: 4, retries: 3 })
    expect(client.events.map(({ kind }) => kind)).toEqual(['retrying', 'retrying', 'retrying'])
  })

  test('pauses double and are scaled by chance', async () => {
    const server = await startServer(() => ({ status: 503 }))
    const clock = { ...createTestClient(server.endpoint).clock, random: () => 0.5 }
    const client = createTestClient(server.endpoint, { clock, retries: 4 })
    const error = await failure(client.send({ path: '/x?access_token=hush' }, never))
    expect(clock.sleeps).toEqual([250, 500, 1000, 2000])
    expect(error).toBeInstanceOf(HttpRetryableError)
    expect(error.message).toBe(
      `Connection "acme": GET ${server.endpoint}/x?access_token=*** failed 5 times, last with: 503`,
    )
  })

  test.each([400, 404, 409, 410, 422])('%i is not tried again', async (status) => {
    const server = await startServer(() => ({ status }))
    await failure(createTestClient(server.endpoint).send({ path: '/' }, never))
    expect(server.received.length).toBe(1)
  })

  test('Retry-After is honoured, in seconds and as a date', async () => {
    const server = await startServer(({ index }) => {
      if (index === 0) return { status: 503, headers: { 'retry-after': '7' } }
      if (index === 1)
        return { status: 503, headers: { 'retry-after': new Date(client.clock.now() + 30_000).toUTCString() } }
      return { body: {} }
    })
    const client = createTestClient(server.endpoint)
    await client.send({ path: '/' }, never)
    expect(client.clock.sleeps).toEqual([7000, 30_000])
  })

  test('429 with Retry-After waits, however often, but not for ever', async () => {
    const server = await startServer(() => ({ status: 429, headers: { 'retry-after': '60' } }))
    const client = createTestClient(server.endpoint)
    const error = await failure(client.send({ path: '/' }, never))
    expect(error).toBeInstanceOf(HttpRetryableError)
    expect(error.message).toMatch(/was put off 10 times, last with: 429/)
    expect(client.usage).toMatchObject({ requests: 10, waits: 9, retries: 0 })
  })

  test('a refused connection is tried again and named', async () => {
    const client = createTestClient('http://127.0.0.1:1', { retries: 1 })
    const error = await failure(client.send({ path: '/' }, never))
    expect(error).toBeInstanceOf(HttpRetryableError)
    expect(error.message).toMatch(/failed 2 times.*ECONNREFUSED/)
    expect(error.heavy).toBe(false)
  })
})

describe('bodies', () => {
  test('cut off, with and without a length, are fetched again', async () => {
    const server = await startServer(({ index }) => {
      if (index > 1) return { body: ['whole'] }
      return (response) => {
        response.writeHead(200, { 'content-type': 'application/json', ...(index === 0 && { 'content-length': '100' }) })
        response.write('["par', () => response.destroy())
      }
    })
    const client = createTestClient(server.endpoint)
    expect((await client.send({ path: '/' }, never)).body).toEqual(['whole'])
    expect(client.usage).toMatchObject({ requests: 3, retries: 2 })
  })

  test('malformed JSON is fetched again, and never quoted', async () => {
    const server = await startServer(({ index }) => (index === 0 ? { text: '{"secret": "s3cr3t", ' } : { body: 1 }))
    const client = createTestClient(server.endpoint)
    expect((await client.send({ path: '/' }, never)).body).toBe(1)
    expect(client.events[0]?.message).toMatch(/200 with malformed JSON at position \d+; attempt 2 of 4/)
  })

  test('a web page means that the endpoint is no API', async () => {
    const server = await startServer(() => ({
      text: '<html>',
      headers: { 'content-type': 'text/html; charset=utf-8' },
    }))
    const error = await failure(createTestClient(server.endpoint).send({ path: '/' }, never))
    expect(error).toBeInstanceOf(UserError)
    expect(error.message).toMatch(/^Connection "acme": .* web page instead of JSON. Check the endpoint/)
  })

  test('as bytes are not parsed', async () => {
    const server = await startServer(() => ({ text: 'plain' }))
    const response = await createTestClient(server.endpoint).send({ path: '/', as: 'bytes' }, never)
    expect(Buffer.from(response.bytes).toString()).toBe('plain')
    expect(response.body).toBeUndefined()
  })

  test('that stall are given up and fetched again', async () => {
    const server = await startServer(({ index }) => {
      if (index === 0) return () => undefined
      if (index === 1) return (response) => void response.writeHead(200).write('[')
      return { body: [] }
    })
    const client = createTestClient(server.endpoint, { timeouts: { stallMs: 100 } })
    expect((await client.send({ path: '/' }, never)).body).toEqual([])
    expect(client.events.map(({ message }) => /no data for 0.1 s/.test(message))).toEqual([true, true])
  })

  test('that trickle for ever end with the timeout', async () => {
    const server = await startServer(() => (response) => {
      const timer = setInterval(() => response.write(' '), 20)
      response.on('close', () => clearInterval(timer))
    })
    const client = createTestClient(server.endpoint, { timeouts: { totalMs: 200 }, retries: 0 })
    const error = await failure(client.send({ path: '/' }, never))
    expect(error).toMatchObject({
      heavy: true,
      message: expect.stringMatching(/failed once, last with: no complete answer within 0.2 s/),
    })
  })

  test('over the limit are refused, also when compressed', async () => {
    const large = JSON.stringify('x'.repeat(5000))
    const server = await startServer(({ url }) =>
      url.pathname === '/plain'
        ? { text: large }
        : (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(large)),
    )
    const client = createTestClient(server.endpoint, { maxResponseBytes: 4000 })
    for (const path of ['/plain', '/packed']) {
      const error = await failure(client.send({ path }, never))
      expect(error).toBeInstanceOf(HttpFatalError)
      expect(error).toMatchObject({ heavy: true, message: expect.stringMatching(/larger than 4000 bytes/) })
    }
    expect(server.received.length).toBe(2)
    const roomy = createTestClient(server.endpoint)
    expect((await roomy.send({ path: '/packed' }, never)).body.length).toBe(5000)
  })

  test('with more values than somebody who waits needs are not parsed', async () => {
    const server = await startServer(() => ({ text: `["a,b,c",${'{},'.repeat(100)}[]]` }))
    const error = await failure(createTestClient(server.endpoint, { mostValues: 100 }).send({ path: '/' }, never))
    expect(error).toMatchObject({ heavy: true, message: expect.stringMatching(/more than 100 names and list items/) })
    const roomy = createTestClient(server.endpoint, { mostValues: 300 })
    expect((await roomy.send({ path: '/' }, never)).body.length).toBe(102)
  })
})

describe('redirects', () => {
  test.each([301, 302, 307, 308])('%i is followed within the origin and the final URL reported', async (status) => {
    const server = await startServer(({ url }) =>
      url.pathname === '/old' ? { status, headers: { location: '/new?x=1' } } : { body: 'here' },
    )
    const response = await createTestClient(server.endpoint).send({ path: '/old' }, never)
    expect(response).toMatchObject({ body: 'here', url: `${server.endpoint}/new?x=1` })
  })

  test('elsewhere ask for the endpoint to be changed, and are not followed', async () => {
    const other = await startServer(() => ({ body: {} }))
    const server = await startServer(() => ({ status: 301, headers: { location: `${other.endpoint}/a` } }))
    const error = await failure(createTestClient(server.endpoint, { credentials: ['t'] }).send({ path: '/' }, never))
    expect(error).toBeInstanceOf(UserError)
    expect(error.message).toContain(`redirects to another server, ${other.endpoint}/a`)
    expect(other.received).toEqual([])
  })

  test('in a circle end', async () => {
    const server = await startServer(() => ({ status: 302, headers: { location: '/' } }))
    await expect(createTestClient(server.endpoint).send({ path: '/' }, never)).rejects.toThrow(
      /redirects more than 5 times/,
    )
  })
})

describe('aborting', () => {
  test('ends a request under way with the reason given', async () => {
    const abort = new AbortController()
    const server = await startServer(() => {
      abort.abort(new Error('cancelled by the user'))
      return () => undefined
    })
    await expect(createTestClient(server.endpoint).send({ path: '/' }, abort.signal)).rejects.toThrow(
      'cancelled by the user',
    )
  })

  test('ends a pause, on the real clock', async () => {
    const abort = new AbortController()
    const server = await startServer(() => ({ status: 503, headers: { 'retry-after': '3600' } }))
    const client = createTestClient(server.endpoint, {
      clock: systemClock,
      onEvent: () => abort.abort(new Error('enough')),
    })
    await expect(client.send({ path: '/' }, abort.signal)).rejects.toThrow('enough')
  })
})

test('an endpoint that is no URL is refused', () => {
  expect(() => createTestClient('github.example')).toThrow(/"acme": the endpoint must be a URL/)
})
