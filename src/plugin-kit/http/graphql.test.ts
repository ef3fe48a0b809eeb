import { describe, expect, test } from 'vitest'
import { UserError } from '../../errors.ts'
import { HttpFatalError, HttpRetryableError } from './failure.ts'
import { graphql, graphqlRequest, quotaFromGraphql } from './graphql.ts'
import { type Answer, createTestClient, never, startServer } from './test-support.ts'

const QUERY = 'query ($pageSize: Int!, $cursor: String) { issues(first: $pageSize, after: $cursor) { nodes { id } } }'
const failing = (error: object, data: unknown = null): Answer => ({ body: { data, errors: [error] } })
const failure = (promise: Promise<unknown>): Promise<any> =>
  promise.then(
    () => expect.fail('should have failed'),
    (error) => error,
  )

describe('errors in an answer of 200', () => {
  test.each([
    { message: 'Something went wrong while executing your query. This may be the result of a timeout' },
    { message: 'Timeout on validation of query' },
    { message: "We couldn't respond to your request in time." },
  ])('are tried again when they pass: $message', async (error) => {
    const server = await startServer(({ index }) => (index === 0 ? failing(error) : { body: { data: { ok: 1 } } }))
    const client = createTestClient(server.endpoint)
    expect((await client.send(graphqlRequest(QUERY), never)).body.data).toEqual({ ok: 1 })
    expect(client.usage.classes.graphql).toMatchObject({ requests: 2, retries: 1 })
    expect(server.received[0]).toMatchObject({ method: 'POST', body: { query: QUERY, variables: {} } })
  })

  test('are waited for when the limit is reached', async () => {
    const reset = '2026-01-01T00:20:00Z'
    const server = await startServer(({ index }) => {
      if (index === 0) return failing({ type: 'RATE_LIMITED', message: 'API rate limit exceeded' })
      if (index === 1)
        return failing({ type: 'RATE_LIMITED' }, { rateLimit: { remaining: 0, resetAt: reset, cost: 1 } })
      return { body: { data: {} } }
    })
    const client = createTestClient(server.endpoint)
    await client.send(graphqlRequest(QUERY), never)
    expect(client.clock.sleeps[0]).toBe(60_000)
    expect(client.clock.now()).toBe(Date.parse(reset))
    expect(client.usage).toMatchObject({ retries: 0, waits: 2 })
  })

  test('are forgiven for missing nodes where asked, and only then', async () => {
    const server = await startServer(() =>
      failing({ type: 'NOT_FOUND', message: 'Could not resolve to a User' }, { a: null, b: { id: 1 } }),
    )
    const client = createTestClient(server.endpoint)
    const response = await client.send(graphqlRequest(QUERY, {}, { tolerateMissing: true }), never)
    expect(response.body.data).toEqual({ a: null, b: { id: 1 } })
    const error = await failure(client.send(graphqlRequest(QUERY), never))
    expect(error).toBeInstanceOf(HttpFatalError)
    expect(error.message).toMatch(/POST .*\/graphql: Could not resolve to a User/)
  })

  test('are forgiven for what single sign-on hides, where missing nodes are', async () => {
    const server = await startServer(() =>
      failing(
        { type: 'FORBIDDEN', message: 'Protected', extensions: { saml_failure: true } },
        { a: { nodes: [null] } },
      ),
    )
    const client = createTestClient(server.endpoint)
    const response = await client.send(graphqlRequest(QUERY, {}, { tolerateMissing: true }), never)
    expect(response.body.data).toEqual({ a: { nodes: [null] } })
    expect(await failure(client.send(graphqlRequest(QUERY), never))).toBeInstanceOf(UserError)
  })

  test.each([
    { type: 'NOT_FOUND', path: ['repository', 'issues', 'nodes', 1], message: 'Could not resolve to a node' },
    { type: 'FORBIDDEN', path: ['a', 'nodes', 1, 'head'], message: 'SAML', extensions: { saml_failure: true } },
    { type: 'FORBIDDEN', path: ['a', 'nodes', 1], message: 'Resource not accessible by integration' },
    { path: ['a', 'nodes', 1, 'commits'], message: 'Something went wrong while executing your query' },
  ])('cost the node that they are about, not the list, and are told: $type $path', async (error) => {
    const data = {
      repository: { issues: { nodes: [{ id: 1 }, null], pageInfo: { hasNextPage: false }, totalCount: 2 } },
    }
    const server = await startServer(() => failing(error, data))
    const client = createTestClient(server.endpoint)
    const paging = graphql({ size: 2, connection: ({ repository }) => repository.issues })
    const [page] = await Array.fromAsync(client.pages(graphqlRequest(QUERY), paging, never))
    expect(page?.records).toEqual([{ id: 1 }])
    expect(page?.problems).toEqual([`${error.path.join('.')}: ${error.message}`])
    expect(client.usage).toMatchObject({ requests: 1, retries: 0 })
  })

  test('end the list where they are about the whole of it', async () => {
    const path = ['repository', 'pullRequests']
    const server = await startServer(() =>
      failing({ type: 'FORBIDDEN', path, message: 'Resource not accessible' }, { repository: { pullRequests: null } }),
    )
    const client = createTestClient(server.endpoint)
    expect(await failure(client.send(graphqlRequest(QUERY), never))).toBeInstanceOf(UserError)
  })

  test.each([
    { type: 'NOT_FOUND', path: ['user0'], message: "Could not resolve to a User with the login of 'timeout'." },
    { type: 'NOT_FOUND', path: ['user0'], message: "Could not resolve to a User with the login of 'rate-limit'." },
    { message: 'Field \'x\' of "secondary rate limit, something went wrong in time" does not exist' },
  ])('are not tried again for the words that people wrote: $message', async (error) => {
    const server = await startServer(() => failing(error))
    const client = createTestClient(server.endpoint)
    expect(await failure(client.send(graphqlRequest(QUERY), never))).toBeInstanceOf(HttpFatalError)
    expect(client.usage).toMatchObject({ requests: 1, retries: 0, waits: 0 })
  })

  test('do not tell of what was named and is gone', () => {
    const body = {
      data: { user0: null },
      errors: [
        { type: 'NOT_FOUND', path: ['user0'], message: 'gone' },
        { type: 'FORBIDDEN', path: ['user1'], message: 'hidden' },
      ],
    }
    const { problems } = graphqlRequest(QUERY, {}, { tolerateMissing: true })
    expect(problems?.({ body } as never)).toEqual(['user1: hidden'])
  })

  test.each([
    { message: 'You have exceeded a secondary rate limit. Please wait a few minutes' },
    { errors: [{ message: 'You have exceeded a secondary rate limit.' }] },
    { errors: [{ type: 'RATE_LIMITED', message: 'You have exceeded a secondary rate limit.' }], data: null },
  ])('wait as told where they are a secondary limit: $body', async (body) => {
    const server = await startServer(({ index }) =>
      index === 0 ? { headers: { 'retry-after': '7' }, body } : { body: { data: {} } },
    )
    const client = createTestClient(server.endpoint)
    await client.send(graphqlRequest(QUERY), never)
    expect(client.clock.sleeps).toEqual([7000])
    expect(client.usage).toMatchObject({ retries: 0, waits: 1 })
  })

  test('are the user’s where a right is missing', async () => {
    const server = await startServer(() =>
      failing({ type: 'INSUFFICIENT_SCOPES', message: 'Your token needs read:org' }),
    )
    const error = await failure(createTestClient(server.endpoint).send(graphqlRequest(QUERY), never))
    expect(error).toBeInstanceOf(UserError)
    expect(error.message).toMatch(/^Connection "acme": .*Your token needs read:org. Check the permissions/)
  })

  test('otherwise end the request with every message, once each', async () => {
    const errors = [{ message: 'Field x does not exist' }, { message: 'Field x does not exist' }, { message: 'and y' }]
    const server = await startServer(() => ({ body: { errors } }))
    const error = await failure(createTestClient(server.endpoint).send(graphqlRequest(QUERY), never))
    expect(error.message).toMatch(/: Field x does not exist; and y$/)
    expect(server.received.length).toBe(1)
  })

  test('an answer without data or errors is tried again', async () => {
    const server = await startServer(() => ({ body: {} }))
    const error = await failure(createTestClient(server.endpoint, { retries: 1 }).send(graphqlRequest(QUERY), never))
    expect(error).toBeInstanceOf(HttpRetryableError)
  })
})

describe('paging', () => {
  const NODES = Array.from({ length: 30 }, (_, index) => ({ id: index + 1 }))
  function serve({ pageSize, cursor }: { pageSize: number; cursor: string | null }): Answer {
    const start = Number(cursor ?? 0)
    const end = start + pageSize
    const pageInfo = { hasNextPage: end < NODES.length, endCursor: String(end) }
    const issues = { totalCount: NODES.length, nodes: [...NODES.slice(start, end), null], pageInfo }
    const rateLimit = { cost: 3, limit: 5000, remaining: 4000, resetAt: '2026-01-01T01:00:00Z' }
    return { body: { data: { repository: { issues }, rateLimit } } }
  }
  const paging = graphql({ size: 10, connection: (data) => data.repository?.issues })

  test('reads every node, with the total and the points used', async () => {
    const server = await startServer(({ body }) => serve(body.variables))
    const client = createTestClient(server.endpoint, { limits: { quota: quotaFromGraphql } })
    const ids: number[] = []
    for await (const { records, total } of client.pages(graphqlRequest(QUERY, { owner: 'a' }), paging, never)) {
      ids.push(...records.map(({ id }) => id))
      expect(total).toBe(30)
    }
    expect(ids).toEqual(NODES.map(({ id }) => id))
    expect(server.received.map(({ body }) => body.variables)).toEqual([
      { owner: 'a', pageSize: 10, cursor: null },
      { owner: 'a', pageSize: 10, cursor: '10' },
      { owner: 'a', pageSize: 10, cursor: '20' },
    ])
    expect(client.usage).toMatchObject({ requests: 3, cost: 9 })
  })

  test.each([
    [
      'too many nodes',
      (): Answer => failing({ type: 'MAX_NODE_LIMIT_EXCEEDED', message: 'requests up to 600,000 nodes' }),
    ],
    ['a timeout', (): Answer => failing({ message: 'Something went wrong' })],
    ['504', (): Answer => ({ status: 504, text: '<html>', headers: { 'content-type': 'text/html' } })],
    ['a cut-off body', (): Answer => (response) => response.writeHead(200).write('{"data"', () => response.destroy())],
  ])('shrinks on %s and reads everything', async (_name, refuse) => {
    const server = await startServer(({ body: { variables } }) =>
      variables.pageSize > 5 && Number(variables.cursor) < 20 ? refuse() : serve(variables),
    )
    const client = createTestClient(server.endpoint)
    const ids: number[] = []
    for await (const { records } of client.pages(graphqlRequest(QUERY), paging, never))
      ids.push(...records.map(({ id }) => id))
    expect(ids).toEqual(NODES.map(({ id }) => id))
    expect(client.events).toContainEqual(expect.objectContaining({ kind: 'page-resized', from: 10, to: 5 }))
  })

  test('of something that does not exist is one empty page', async () => {
    const server = await startServer(() => failing({ type: 'NOT_FOUND' }, { repository: null }))
    const client = createTestClient(server.endpoint)
    const request = graphqlRequest(QUERY, {}, { tolerateMissing: true })
    const pages = []
    for await (const page of client.pages(request, paging, never)) pages.push(page)
    expect(pages).toMatchObject([{ records: [], state: undefined }])
  })
})
