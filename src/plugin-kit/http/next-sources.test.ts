/** Features of the client that future sources will need, each tested with a simulated server. */
import { expect, test } from 'vitest'
import { cursor, offset, pageNumber } from './paging.ts'
import { quotaFromHeaders } from './quota-reader.ts'
import { createTestClient, never, startServer } from './test-support.ts'

const all = Array.from({ length: 7 }, (_, index) => ({ id: index + 1 }))
async function read(pages: AsyncIterable<{ records: readonly any[] }>): Promise<number[]> {
  const found: number[] = []
  for await (const { records } of pages) found.push(...records.map(({ id }) => id))
  return found
}

test('parameters of a page stand in the body, beside what is asked for', async () => {
  const { endpoint, received } = await startServer(({ body }) => {
    const start = Number(body.after ?? body.start ?? 0)
    const next = start + 3 < all.length ? start + 3 : null
    return { body: { items: all.slice(start, start + 3), next } }
  })
  const client = createTestClient(endpoint)
  const request = { method: 'POST', path: '/search', body: { filter: 'open' } }
  const counted = offset({ size: 3, offsetParam: 'start', sizeParam: 'most', sentIn: 'body' })
  expect(await read(client.pages(request, counted, never))).toEqual([1, 2, 3, 4, 5, 6, 7])
  expect(received.map(({ body }) => body)).toEqual([0, 3, 6].map((start) => ({ filter: 'open', start, most: 3 })))
  expect(received.every(({ url }) => url.search === '')).toBe(true)
  const named = cursor({ size: 3, param: 'after', next: ({ next }) => next, sentIn: 'body' })
  expect(await read(client.pages(request, named, never))).toEqual([1, 2, 3, 4, 5, 6, 7])
  expect(received.at(-1)?.body).toEqual({ filter: 'open', after: '6' })
})

test.each([2, 100])('a total of %i that is an estimate does not end a list', async (total) => {
  const { endpoint } = await startServer(({ url }) => {
    const start = (Number(url.searchParams.get('page')) - 1) * 3
    return { body: { total, items: all.slice(start, start + 3) } }
  })
  const paging = pageNumber({ size: 3, total: ({ body }) => body.total, isTotalVague: true })
  expect(await read(createTestClient(endpoint).pages({ path: '/x' }, paging, never))).toEqual([1, 2, 3, 4, 5, 6, 7])
})

test.each(['Thu, 01 Jan 2026 00:10:00 GMT', '2026-01-01T00:10:00Z'])(
  'a quota is waited for until %s',
  async (reset) => {
    const { endpoint, received } = await startServer(({ index }) =>
      index === 0
        ? { status: 429, headers: { 'x-left': '0', 'x-reset': reset }, body: {} }
        : { headers: { 'x-left': '9', 'x-reset': reset }, body: [] },
    )
    const quota = quotaFromHeaders({ remaining: 'x-left', reset: 'x-reset', resetIs: 'date' })
    const client = createTestClient(endpoint, { limits: { quota }, credentials: ['one'] })
    await client.send({ path: '/x' }, never)
    expect(received).toHaveLength(2)
    expect(client.clock.now()).toBeGreaterThanOrEqual(Date.parse('2026-01-01T00:10:00Z'))
  },
)

test('a connection may have several hosts, and gives its credentials to no other', async () => {
  const [main, builds, stranger] = [
    await startServer(() => ({ body: [] })),
    await startServer(() => ({ body: [] })),
    await startServer(() => ({ body: [] })),
  ]
  const client = createTestClient(main.endpoint, { hosts: [builds.endpoint], credentials: ['secret-token'] })
  await client.send({ path: '/x' }, never)
  await client.send({ path: `${builds.endpoint}/y` }, never)
  expect(builds.received[0]?.headers.authorization).toBe('Bearer secret-token')
  await expect(client.send({ path: `${stranger.endpoint}/z` }, never)).rejects.toThrow(/outside of the connection/)
  expect(stranger.received).toEqual([])
})
