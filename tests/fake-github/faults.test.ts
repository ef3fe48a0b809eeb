import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { DEFAULT_TOKEN, type FakeGithub, type FakeGithubOptions, startFakeGithub } from './fake-github.ts'
import { FAULT_KINDS } from './faults.ts'
import { get, query } from './testing.ts'

let fake: FakeGithub
const start = async (options: FakeGithubOptions = {}): Promise<void> => {
  fake = await startFakeGithub(options)
}
afterEach(() => fake.stop())

test('scripted faults strike once, where they are meant to', async () => {
  await start()
  fake.failNext('too-many-requests', { path: '/pulls', retryAfterSeconds: 3 })
  expect((await get(fake, '/repos/acme/web/issues')).status).toBe(200)
  const limited = await get(fake, '/repos/acme/web/pulls')
  expect([limited.status, limited.headers.get('retry-after')]).toEqual([429, '3'])
  expect((await get(fake, '/repos/acme/web/pulls')).status).toBe(200)
  fake.failNext('bad-gateway', { times: 2 })
  expect([
    (await get(fake, '/user')).status,
    (await get(fake, '/user')).status,
    (await get(fake, '/user')).status,
  ]).toEqual([502, 502, 200])
  fake.failNext('secondary-limit')
  const secondary = await get(fake, '/user')
  expect([secondary.status, secondary.headers.get('retry-after')]).toEqual([403, '1'])
  expect(secondary.body.message).toContain('secondary rate limit')
  fake.failNext('gone')
  expect((await get(fake, '/user')).status).toBe(410)
  const { faults, counted } = fake.requests.counts()
  expect([faults, counted]).toEqual([5, 3])
})

test('bodies that end early or are no JSON', async () => {
  await start()
  fake.failNext('cut-off')
  await expect(get(fake, '/repos/acme/web')).rejects.toThrow()
  fake.failNext('malformed-json')
  await expect(get(fake, '/repos/acme/web')).rejects.toThrow(SyntaxError)
  expect((await get(fake, '/repos/acme/web')).status).toBe(200)
})

test('a slow answer comes late', async () => {
  await start()
  fake.failNext('slow', { delayMilliseconds: 150 })
  const begun = performance.now()
  await get(fake, '/user')
  expect(performance.now() - begun).toBeGreaterThanOrEqual(145)
})

test('a token revoked half-way', async () => {
  await start({ tokens: [DEFAULT_TOKEN, 'ghp_second'] })
  fake.failNext('revoked-token')
  expect((await get(fake, '/user')).status).toBe(401)
  expect((await get(fake, '/user')).status).toBe(401)
  expect((await get(fake, '/user', { authorization: 'token ghp_second' })).status).toBe(200)
})

test('GraphQL timeouts and node limits', async () => {
  await start({ graphqlTimeoutNodes: 50 })
  const text = 'query ($n: Int!) { repository(owner: "acme", name: "web") { issues(first: $n) { nodes { id } } } }'
  const late = await query(fake, text, { n: 60 })
  expect([late.status, late.body.errors[0].message]).toEqual([
    502,
    expect.stringContaining('Something went wrong while executing your query'),
  ])
  expect((await query(fake, text, { n: 50 })).status).toBe(200)
  fake.failNext('graphql-timeout', { status: 200 })
  expect((await query(fake, text, { n: 5 })).body).toMatchObject({ data: null })
  fake.failNext('too-many-nodes')
  expect((await query(fake, text, { n: 5 })).body.errors[0].type).toBe('MAX_NODE_LIMIT_EXCEEDED')
  expect(fake.violations).toEqual([])
})

test('totals change between pages', async () => {
  await start()
  const path = '/repos/acme/web/pulls?state=all&per_page=10'
  fake.failNext('changed-totals', { path: '/pulls' })
  const first = await get(fake, path)
  const second = await get(fake, `${path}&page=2`)
  expect(second.body[0].id).toBe(first.body.at(-1).id)
  const victim = second.body.at(-1).number
  fake.failNext('changed-totals', { changes: [{ repository: 'acme/web', remove: 'pullRequests', index: victim }] })
  await get(fake, `${path}&page=2`)
  expect((await get(fake, `/repos/acme/web/pulls/${victim}`)).status).toBe(404)
})

test('one fault in so many requests, chosen by the seed', async () => {
  const statuses = async (): Promise<number[]> => {
    await start({
      faults: { every: 4, kinds: ['bad-gateway', 'too-many-requests', 'secondary-limit', 'gone', 'graphql-timeout'] },
    })
    const found: number[] = []
    for (let k = 0; k < 40; k++) found.push((await get(fake, '/user')).status)
    return found
  }
  const once = await statuses()
  await fake.stop()
  expect(once.filter((status) => status !== 200)).toHaveLength(10)
  expect(new Set(once).size).toBeGreaterThan(2)
  expect(await statuses()).toEqual(once)
  expect(FAULT_KINDS).toHaveLength(13)
})

test('GraphQL loses a node or a part of one, and says where', async () => {
  await start()
  const text =
    'query some($n: Int!) { repository(owner: "acme", name: "web") { issues(first: $n) { nodes { number author { login } } } } }'
  fake.failNext('lost-node', { type: 'NOT_FOUND', operation: 'some' })
  fake.failNext('lost-part', { field: 'author', saml: true, operation: 'some' })
  const node = (await query(fake, text, { n: 3 })).body
  expect(node.data.repository.issues.nodes.map((each: unknown) => each === null)).toEqual([false, true, false])
  expect(node.errors).toMatchObject([{ type: 'NOT_FOUND', path: ['repository', 'issues', 'nodes', 1] }])
  const part = (await query(fake, text, { n: 3 })).body
  expect(part.data.repository.issues.nodes[1]).toMatchObject({ number: 2, author: null })
  expect(part.errors).toMatchObject([
    { path: ['repository', 'issues', 'nodes', 1, 'author'], extensions: { saml_failure: true } },
  ])
})

test('clients that hang up, before or after their request is complete, leave no trace', async () => {
  await start({ latencyMilliseconds: 50 })
  const head = 'POST /graphql HTTP/1.1\r\nhost: x\r\nuser-agent: x\r\ncontent-length: 20\r\n\r\n'
  for (const sent of [`${head}{"query"`, `${head}{"query":"{ viewer"}}`]) {
    const socket = connect(Number(new URL(fake.url).port), '127.0.0.1')
    await once(socket, 'connect')
    await new Promise((resolve) => socket.write(sent, resolve))
    socket.resetAndDestroy()
  }
  await expect.poll(() => get(fake, '/user').then(({ status }) => status)).toBe(200)
  expect(fake.violations).toEqual([])
  expect(fake.requests.counts().requests).toBe(1)
})
