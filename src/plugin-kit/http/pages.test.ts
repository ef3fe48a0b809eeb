import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FatalError } from '../../errors.ts'
import type { Page, PagesOptions } from './pages.ts'
import {
  cursor,
  linkHeader,
  linksIn,
  nextUrl,
  offset,
  type PageState,
  type Paging,
  pageNumber,
  singlePage,
} from './paging.ts'
import { type Answer, createTestClient, never, type Received, startServer, type TestClient } from './test-support.ts'

const COUNT = 23
const ALL = Array.from({ length: COUNT }, (_, index) => ({ id: index + 1 }))
const numberIn = ({ url }: Received, name: string) => Number(url.searchParams.get(name))

/** The same list, served in the different ways of vendors. */
function serve(request: Received): Answer {
  const { url } = request
  const size = numberIn(request, 'per_page')
  switch (url.pathname) {
    case '/links': {
      const page = numberIn(request, 'page') || 1
      const last = Math.ceil(COUNT / size)
      const link = (to: number, relation: string) => {
        const target = new URL(url)
        target.searchParams.set('page', String(to))
        return `<${target.href}>; rel="${relation}"`
      }
      const links = page < last ? [link(page + 1, 'next'), link(last, 'last')] : [link(1, 'first')]
      return { body: ALL.slice((page - 1) * size, page * size), headers: { link: links.join(', ') } }
    }
    case '/numbered': {
      const page = numberIn(request, 'page')
      return { body: { total: COUNT, values: ALL.slice((page - 1) * size, page * size) } }
    }
    case '/offset': {
      const start = numberIn(request, 'offset')
      return { body: ALL.slice(start, start + numberIn(request, 'limit')) }
    }
    case '/cursor': {
      const start = Number(url.searchParams.get('after') ?? 0)
      const end = start + size
      return { body: { items: ALL.slice(start, end), next: end < COUNT ? String(end) : null } }
    }
    default: {
      const start = numberIn(request, 'start')
      const next =
        start + size < COUNT ? `http://elsewhere.example/urls?per_page=${size}&start=${start + size}` : undefined
      return { body: { items: ALL.slice(start, start + size), next } }
    }
  }
}

const strategiesOf = (size: number): readonly (readonly [string, Paging])[] => [
  ['/links', linkHeader(size)],
  ['/numbered', pageNumber({ size, total: ({ body }) => body.total })],
  ['/numbered', pageNumber({ size })],
  ['/offset', offset({ size })],
  ['/cursor', cursor({ size, sizeParam: 'per_page', param: 'after', next: (body) => body.next })],
  ['/urls', nextUrl({ size, next: ({ body }) => body.next })],
]

async function read(client: TestClient, path: string, paging: Paging, options: PagesOptions = {}): Promise<Page[]> {
  const pages: Page[] = []
  for await (const page of client.pages({ path }, paging, never, options)) pages.push(page)
  return pages
}
const ids = (pages: readonly Page[]) => pages.flatMap(({ records }) => records.map(({ id }) => id))
const allIds = ALL.map(({ id }) => id)

describe.each(strategiesOf(4))('%s', (path, paging) => {
  test('reads everything, in order, once', async () => {
    const server = await startServer(serve)
    const pages = await read(createTestClient(server.endpoint), path, paging)
    expect(ids(pages)).toEqual(allIds)
    expect(server.received.length).toBe(6)
    expect(pages.at(-1)?.state).toBeUndefined()
  })

  test('continues from the state of any page, after it went through JSON', async () => {
    const server = await startServer(serve)
    const client = createTestClient(server.endpoint)
    const pages = await read(client, path, paging)
    for (const [index, { state }] of pages.entries()) {
      if (!state) continue
      const from = JSON.parse(JSON.stringify(state)) as PageState
      expect(ids(await read(client, path, paging, { from }))).toEqual(ids(pages.slice(index + 1)))
    }
  })

  test('shrinks a page that the server cannot give, and loses and doubles nothing', async () => {
    const server = await startServer((request) => {
      const size = numberIn(request, 'per_page') || numberIn(request, 'limit')
      const answer = serve(request)
      const isHeavy = typeof answer !== 'function' && JSON.stringify(answer.body).includes('"id":10}') && size > 1
      return isHeavy ? { status: 502 } : answer
    })
    const client = createTestClient(server.endpoint)
    const pages = await read(client, path, paging)
    expect(ids(pages)).toEqual(allIds)
    const resized = client.events.filter(({ kind }) => kind === 'page-resized')
    expect(resized).toMatchObject([
      { from: 4, to: 2 },
      { from: 2, to: 1 },
    ])
    expect(resized[0]?.message).toMatch(
      /^Connection "acme": GET [^ ]+ failed 2 times, last with: 502; asking for 2 records instead of 4$/,
    )
    expect(pages.map(({ at }) => at.size)).toContain(1)
    // Full pages come back once the heavy record has passed.
    expect(pages.at(-1)?.at.size).toBeGreaterThan(1)
  })
})

describe('shrinking', () => {
  test('gives up on a single record that cannot be read', async () => {
    const server = await startServer(() => ({ status: 504 }))
    const client = createTestClient(server.endpoint, { retries: 1 })
    await expect(read(client, '/offset', offset({ size: 2 }))).rejects.toThrow(/failed 2 times, last with: 504/)
    expect(server.received.map((request) => numberIn(request, 'limit'))).toEqual([2, 2, 1, 1])
  })

  test('is not the answer to a server that is down', async () => {
    const server = await startServer(() => ({ status: 503 }))
    const client = createTestClient(server.endpoint)
    await expect(read(client, '/offset', offset({ size: 2 }))).rejects.toThrow(/failed 4 times, last with: 503/)
    expect(client.events.some(({ kind }) => kind === 'page-resized')).toBe(false)
  })

  test('helps against a page over the size limit', async () => {
    const server = await startServer(serve)
    const client = createTestClient(server.endpoint, { maxResponseBytes: 40 })
    expect(ids(await read(client, '/offset', offset({ size: 8 })))).toEqual(allIds)
  })

  test('resumes in the middle of a shrunk page', async () => {
    const server = await startServer(serve)
    const client = createTestClient(server.endpoint)
    const paging = pageNumber({ size: 4, total: ({ body }) => body.total })
    expect(ids(await read(client, '/numbered', paging, { from: { size: 1, offset: 9 } }))).toEqual(allIds.slice(9))
  })
})

test('whatever is too heavy, and wherever a run is interrupted and resumed, nothing is lost or doubled', async () => {
  // A page always fails if it contains a heavy record and is larger than that record allows.
  let allowed = new Map<number, number>()
  const server = await startServer((request) => {
    const size = numberIn(request, 'per_page') || numberIn(request, 'limit')
    const answer = serve(request)
    const text = typeof answer === 'function' ? '' : JSON.stringify(answer.body)
    const isHeavy = [...allowed].some(([id, most]) => text.includes(`"id":${id}}`) && size > most)
    return isHeavy ? { status: 502 } : answer
  })
  const heavy = fc.array(fc.tuple(fc.integer({ min: 1, max: COUNT }), fc.integer({ min: 1, max: 6 })), { maxLength: 4 })
  const size = fc.constantFrom(1, 4, 6, 7, 12, 30)
  const cuts = fc.array(fc.integer({ min: 1, max: 3 }), { maxLength: 3 })
  await fc.assert(
    fc.asyncProperty(heavy, size, fc.nat(5), cuts, async (records, size, strategy, pagesBeforeCut) => {
      allowed = new Map(records)
      const [path, paging] = strategiesOf(size)[strategy]!
      const client = createTestClient(server.endpoint)
      const found: number[] = []
      let from: PageState | undefined
      for (const cut of [...pagesBeforeCut, Number.POSITIVE_INFINITY]) {
        let left = cut
        for await (const page of client.pages({ path }, paging, never, { from })) {
          found.push(...ids([page]))
          from = page.state
          if (--left === 0) break
        }
        if (!from) break
      }
      expect(found).toEqual(allIds)
      await client.close()
    }),
    { numRuns: 60 },
  )
})

describe('a list that changes', () => {
  test('is followed when it grows while it is read', async () => {
    let count = 8
    const server = await startServer((request) => {
      const page = numberIn(request, 'page')
      if (page === 2) count = 11
      return { body: { total: count, values: ALL.slice(0, count).slice((page - 1) * 4, page * 4) } }
    })
    const paging = pageNumber({ size: 4, total: ({ body }) => body.total })
    expect(ids(await read(createTestClient(server.endpoint), '/', paging))).toEqual(allIds.slice(0, 11))
  })

  test('ends quietly when it shrinks while it is read', async () => {
    let count = 12
    const server = await startServer((request) => {
      const page = numberIn(request, 'page')
      if (page === 1) setImmediate(() => (count = 6))
      return { body: { total: count, values: ALL.slice(0, count).slice((page - 1) * 4, page * 4) } }
    })
    const paging = pageNumber({ size: 4, total: ({ body }) => body.total })
    expect(ids(await read(createTestClient(server.endpoint), '/', paging))).toEqual(allIds.slice(0, 6))
  })
})

describe('ends and beginnings', () => {
  test('a server that allows smaller pages only is followed at its own pace', async () => {
    const server = await startServer((request) => {
      const size = Math.min(5, numberIn(request, 'per_page'))
      const page = numberIn(request, 'page')
      return { body: { total: COUNT, values: ALL.slice((page - 1) * size, page * size) } }
    })
    const paging = pageNumber({ size: 100, total: ({ body }) => body.total })
    expect(ids(await read(createTestClient(server.endpoint), '/', paging))).toEqual(allIds)
  })

  test.each<readonly [string, Paging]>([
    ['offset', offset({ size: 10, endsOn: 'empty' })],
    ['page number', pageNumber({ size: 10, endsOn: 'empty' })],
    ['link', linkHeader(10)],
  ])('a server that cuts pages short without a word, and fails once: %s loses nothing', async (_name, paging) => {
    const failures = new Set<string>()
    const server = await startServer((request) => {
      const page = numberIn(request, 'page') || 1
      const start = request.url.searchParams.has('offset') ? numberIn(request, 'offset') : (page - 1) * 4
      if (start >= 8 && failures.size < 2) {
        failures.add(`${failures.size}`)
        return { status: 502 }
      }
      const next = new URL(request.url)
      next.searchParams.set('page', String(page + 1))
      const headers: Record<string, string> = start + 4 < COUNT ? { link: `<${next.href}>; rel="next"` } : {}
      return { body: ALL.slice(start, start + 4), headers }
    })
    const pages = await read(createTestClient(server.endpoint), '/', paging)
    expect(ids(pages)).toEqual(allIds)
  })

  test('endsOn empty reads past short pages', async () => {
    const server = await startServer((request) => ({
      body: [[{ id: 1 }], [{ id: 2 }], []][numberIn(request, 'page') - 1],
    }))
    const paging = pageNumber({ size: 2, endsOn: 'empty' })
    expect(ids(await read(createTestClient(server.endpoint), '/', paging))).toEqual([1, 2])
  })

  test('totals and own records are reported', async () => {
    const server = await startServer(() => ({ body: { total: 1, a: [1], b: [{ id: 7 }] } }))
    const paging = pageNumber({ size: 4, total: ({ body }) => body.total })
    const [page] = await read(createTestClient(server.endpoint), '/', paging, { records: (body) => body.b })
    expect(page).toMatchObject({ total: 1, records: [{ id: 7 }] })
  })

  test('an unchanged list costs one uncounted request', async () => {
    const server = await startServer((request) =>
      request.headers['if-none-match'] === '"e1"' ? { status: 304 } : { ...serve(request), headers: { etag: '"e2"' } },
    )
    const client = createTestClient(server.endpoint)
    const pages: Page[] = []
    for await (const page of client.pages({ path: '/links', ifNoneMatch: '"e1"' }, linkHeader(4), never))
      pages.push(page)
    expect(pages).toMatchObject([{ records: [], state: undefined, response: { status: 304 } }])
    expect(client.usage).toMatchObject({ requests: 1, counted: 0 })
  })

  test('only the first page is asked for conditionally', async () => {
    const server = await startServer(serve)
    const client = createTestClient(server.endpoint)
    for await (const _ of client.pages({ path: '/offset', ifNoneMatch: '"x"' }, offset({ size: 12 }), never));
    expect(server.received.map(({ headers }) => headers['if-none-match'])).toEqual(['"x"', undefined])
  })

  test('a single page is one request', async () => {
    const server = await startServer(() => ({ body: [{ id: 1 }] }))
    expect(ids(await read(createTestClient(server.endpoint), '/', singlePage))).toEqual([1])
    expect(server.received.length).toBe(1)
  })
})

describe('circles', () => {
  test.each<readonly [string, Paging, (request: Received) => Answer]>([
    [
      'a cursor that stays',
      cursor({ size: 2, param: 'after', next: (body) => body.next }),
      () => ({ body: { items: [{ id: 1 }], next: 'x' } }),
    ],
    [
      'cursors that alternate',
      cursor({ size: 2, param: 'after', next: (body) => body.next }),
      ({ url }) => ({ body: { items: [], next: url.searchParams.get('after') === 'x' ? 'y' : 'x' } }),
    ],
    [
      'a link to itself',
      linkHeader(2),
      ({ url }) => ({ body: [{ id: 1 }], headers: { link: `<${url.href}>; rel="next"` } }),
    ],
    ['a page parameter that is ignored', pageNumber({ size: 2 }), () => ({ body: [{ id: 1 }, { id: 2 }] })],
  ])('%s', async (_name, paging, answer) => {
    const server = await startServer((request) => (request.index > 10 ? { status: 418 } : answer(request)))
    const error = await read(createTestClient(server.endpoint), '/', paging).catch((reason) => reason)
    expect(error).toBeInstanceOf(FatalError)
    expect(error.message).toMatch(/sent the same page twice/)
    expect(server.received.length).toBeLessThan(5)
  })
})

test('link headers are read as RFC 8288 has them', () => {
  const header = '<https://a.example/?q=a,b;c>; title="x, y"; rel="next prev", </relative>; rel=LAST'
  expect(linksIn(header)).toEqual({
    next: 'https://a.example/?q=a,b;c',
    prev: 'https://a.example/?q=a,b;c',
    last: '/relative',
  })
  expect(linksIn(undefined)).toEqual({})
})
