import type { RawRecord } from '../../database/table.ts'
import type { HttpRequest, HttpResponse, Query } from './http-message.ts'

/** Where a page starts. Plain JSON: a checkpoint stores it, and `pages` continues from it. */
export interface PageState {
  /** Records asked for at once. */
  readonly size: number
  /** Records before this page. */
  readonly offset?: number
  readonly cursor?: string
  readonly url?: string
  /** The page before was short although not the last: what a page number means is then unknown, except to the server. */
  readonly fixed?: true
  /** Past the last numbered page: what is not newer than this is still to come. */
  readonly until?: string
}

export interface ReceivedPage {
  readonly response: HttpResponse
  readonly records: readonly RawRecord[]
}

/** A vendor's way of paging, as a value. */
export interface Paging {
  readonly size: number
  first(): PageState
  /** The request for the page that starts there. */
  at(request: HttpRequest, state: PageState): HttpRequest
  /** Where the next page starts; undefined after the last. */
  next(state: PageState, page: ReceivedPage): PageState | undefined
  /** The pages known to follow, when the server said how many there are; they may be fetched side by side. */
  ahead?(state: PageState, page: ReceivedPage): Iterable<PageState>
  /** The same place with another page size; undefined where no page of that size starts. */
  resize?(state: PageState, size: number): PageState | undefined
  /** Records before the page that starts there, where its number tells. */
  before?(state: PageState): number
  /** What the server says exists in all. */
  total?(response: HttpResponse): number | undefined
  /** What it says is an estimate, and nothing is missing where less comes. */
  readonly isTotalVague?: boolean
  /** The records of a page; the body itself, or the only list in it, unless told. */
  records?(response: HttpResponse): readonly RawRecord[]
}

/** One request, one page. */
export const singlePage: Paging = {
  size: 1,
  first: () => ({ size: 1 }),
  at: (request) => request,
  next: () => undefined,
}

export interface CountedPagingOptions {
  readonly size: number
  readonly sizeParam?: string
  /** Records in all, from the body or a header. */
  readonly total?: (response: HttpResponse) => number | undefined
  /** The total is an estimate: it tells what to expect, and neither where the list ends nor that something is missing. */
  readonly isTotalVague?: boolean
  /** Where the parameters of a page stand; in the body of a request that is sent as JSON. */
  readonly sentIn?: 'query' | 'body'
  /** Without a total: whether a page with fewer records than asked for is the last, or only one with none. */
  readonly endsOn?: 'short' | 'empty'
}

export function pageNumber(options: CountedPagingOptions & { pageParam?: string; firstPage?: number }): Paging {
  const { pageParam = 'page', sizeParam = 'per_page', firstPage = 1 } = options
  return counted(options, {
    query: ({ offset = 0, size }) => ({ [pageParam]: offset / size + firstPage, [sizeParam]: size }),
    after: ({ offset = 0, size }, count) => ({ size, offset: offset + size, ...(count < size && { fixed: true }) }),
    fits: ({ offset = 0, fixed }, size) => !fixed && offset % size === 0,
  })
}

export function offset(options: CountedPagingOptions & { offsetParam?: string }): Paging {
  const { offsetParam = 'offset', sizeParam = 'limit' } = options
  return counted(options, {
    query: ({ offset = 0, size }) => ({ [offsetParam]: offset, [sizeParam]: size }),
    after: ({ offset = 0, size }, count) => ({ size, offset: offset + count }),
    fits: () => true,
  })
}

interface Counting {
  query(state: PageState): Record<string, number>
  /** The place after a page with so many records. */
  after(state: PageState, count: number): PageState
  /** Whether a page of this size starts there. */
  fits(state: PageState, size: number): boolean
}

function withParameters(request: HttpRequest, parameters: Record<string, unknown>, sentIn: 'query' | 'body' = 'query') {
  return sentIn === 'query'
    ? { ...request, query: { ...request.query, ...(parameters as Query) } }
    : { ...request, body: { ...(request.body as object | undefined), ...parameters } }
}

function counted(options: CountedPagingOptions, counting: Counting): Paging {
  const { size, endsOn = 'short', sentIn, isTotalVague = false } = options
  const total = isTotalVague ? undefined : options.total
  return {
    size,
    first: () => ({ size, offset: 0 }),
    at: (request, state) => withParameters(request, counting.query(state), sentIn),
    next(state, { response, records }) {
      const { size, offset = 0 } = state
      const count = records.length
      if (count === 0) return undefined
      const all = total?.(response)
      if (all === undefined ? count < size && endsOn === 'short' : offset + count >= all) return undefined
      // A first page that is short although more exists: the server allows no larger pages than this.
      if (all !== undefined && offset === 0 && count < size) return { size: count, offset: count }
      return counting.after(state, count)
    },
    ...(total && {
      *ahead({ size, offset = 0 }: PageState, { response }: ReceivedPage) {
        const all = total(response) ?? 0
        for (let at = offset + size; at < all; at += size) yield { size, offset: at }
      },
    }),
    resize: (state, size) => (counting.fits(state, size) ? { ...state, size } : undefined),
    before: ({ offset = 0 }) => offset,
    ...(options.total && { total: options.total }),
    ...(isTotalVague && { isTotalVague }),
  }
}

export interface UrlPagingOptions {
  readonly size: number
  readonly sizeParam?: string
  readonly pageParam?: string
  readonly next: (response: HttpResponse) => string | null | undefined
  readonly last?: (response: HttpResponse) => string | null | undefined
  readonly total?: (response: HttpResponse) => number | undefined
}

/** The server gives the address of the next page, and perhaps that of the last. */
export function nextUrl(options: UrlPagingOptions): Paging {
  const { size, sizeParam = 'per_page', pageParam = 'page', next, last, total } = options
  const withParams = (address: string, params: Record<string, number>) => {
    const url = new URL(address)
    for (const [name, value] of Object.entries(params)) url.searchParams.set(name, String(value))
    return url.href
  }
  const pageOf = (address: string | undefined) => {
    const page = Number(address && new URL(address).searchParams.get(pageParam))
    return Number.isInteger(page) && page > 0 ? page : undefined
  }
  const before = ({ size, url }: PageState) => ((pageOf(url) ?? 1) - 1) * size
  return {
    size,
    before,
    first: () => ({ size }),
    at(request, { size, url }) {
      if (!url) return { ...request, query: { ...request.query, [sizeParam]: size } }
      const { query: _, ...rest } = request
      return { ...rest, path: url }
    },
    next({ size }, { response, records }) {
      const url = own(next(response), response)
      if (!url) return undefined
      const asked = Number(new URL(url).searchParams.get(sizeParam)) || size
      return { size: asked, url, ...(records.length < size && { fixed: true }) }
    },
    *ahead(state, page) {
      const following = this.next(state, page)
      const to = pageOf(own(last?.(page.response), page.response))
      const from = pageOf(following?.url)
      if (!following?.url || following.fixed || !from || !to) return
      for (let number = from; number <= to; number++) {
        yield { size: following.size, url: withParams(following.url, { [pageParam]: number }) }
      }
    },
    resize(state, size) {
      if (!state.url) return { size }
      if (!pageOf(state.url)) return { size, url: withParams(state.url, { [sizeParam]: size }) }
      const start = before(state)
      if (state.fixed || start % size !== 0) return undefined
      return { size, url: withParams(state.url, { [sizeParam]: size, [pageParam]: start / size + 1 }) }
    },
    ...(total && { total }),
  }
}

/** A server behind a reverse proxy may give an address under another host name: only path and query are believed. */
function own(address: string | null | undefined, response: HttpResponse): string | undefined {
  if (!address) return undefined
  const { pathname, search } = new URL(address, response.url)
  return new URL(pathname + search, response.url).href
}

/** RFC 8288 links: `next`, and `last` where the server knows it. */
export function linkHeader(size: number, options: Omit<UrlPagingOptions, 'size' | 'next' | 'last'> = {}): Paging {
  const link = (relation: string) => (response: HttpResponse) => linksIn(response.headers.link)[relation]
  return nextUrl({ ...options, size, next: link('next'), last: link('last') })
}

export function linksIn(header: string | undefined): Readonly<Record<string, string>> {
  const links = [...(header ?? '').matchAll(/<([^<>]*)>((?:\s*;\s*[^,;="\s<>]+\s*=\s*(?:"[^"]*"|[^,;"<>\s]*))*)/g)]
  return Object.fromEntries(
    links.flatMap(([, address = '', parameters = '']) => {
      const relations = /;\s*rel="?([^";]*)"?/i.exec(parameters)?.[1] ?? ''
      return relations.split(/\s+/).map((relation) => [relation.toLowerCase(), address] as const)
    }),
  )
}

export interface CursorOptions {
  readonly size: number
  readonly sizeParam?: string
  readonly param: string
  /** The cursor of the next page; empty, null or undefined after the last. */
  readonly next: (body: RawRecord, response: HttpResponse) => string | number | null | undefined
  readonly total?: (response: HttpResponse) => number | undefined
  readonly sentIn?: 'query' | 'body'
}

export function cursor({ size, sizeParam, param, next, total, sentIn }: CursorOptions): Paging {
  return {
    size,
    first: () => ({ size }),
    at: (request, { size, cursor }) =>
      withParameters(request, { ...(sizeParam && { [sizeParam]: size }), ...(cursor && { [param]: cursor }) }, sentIn),
    next({ size }, { response }) {
      const value = next(response.body, response)
      return value === null || value === undefined || value === '' ? undefined : { size, cursor: String(value) }
    },
    ...(sizeParam && { resize: (state: PageState, size: number) => ({ ...state, size }) }),
    ...(total && { total }),
  }
}

export interface ByTimeOptions {
  readonly size: number
  readonly sizeParam?: string
  readonly pageParam?: string
  /** Asks for records from a time on. */
  readonly param: string
  /** The time that they come by, oldest first, as the server writes it. */
  readonly timeOf: (record: RawRecord) => string
}

/**
 * Each page begins at the time where the one before ended. What is changed meanwhile goes to the end and moves nothing
 * else; what shares its second with the end of a page comes twice.
 */
export function byTime({ size, sizeParam = 'per_page', pageParam = 'page', param, timeOf }: ByTimeOptions): Paging {
  return {
    size,
    first: () => ({ size }),
    at: (request, { size, offset = 0, cursor }) => ({
      ...request,
      query: {
        ...request.query,
        [sizeParam]: size,
        ...(offset > 0 && { [pageParam]: offset / size + 1 }),
        ...(cursor && { [param]: cursor }),
      },
    }),
    next({ size, offset = 0, cursor }, { response, records }) {
      const last = records.at(-1)
      if (!last || !linksIn(response.headers.link).next) return undefined
      const time = timeOf(last)
      // A page of records of one and the same second.
      return time === cursor ? { size, cursor, offset: offset + size } : { size, cursor: time }
    },
    resize: ({ offset = 0, ...state }, size) => (offset % size === 0 ? { ...state, offset, size } : undefined),
  }
}

/** How to ask for what is not newer than the last record of a list that comes newest first. */
export interface Older {
  readonly timeOf: (record: RawRecord) => string
  readonly request: (request: HttpRequest, until: string) => HttpRequest
  readonly paging: Paging
}

/**
 * A list whose numbered pages end too early, cut by time where they do. It is read in order: what is changed meanwhile
 * goes to the front, and whatever that pushes off the last page is not newer than what stands there.
 */
export function pastLastPage(pages: Paging, mostPages: number, older: Older): Paging {
  const { timeOf } = older
  /** Whether the last of so many pages from there on is the last that the server hands out. */
  const reachesEnd = (paging: Paging, state: PageState, count: number) =>
    paging.before !== undefined && paging.before(state) + count * state.size >= mostPages * pages.size
  const pagingOf = ({ until }: PageState) => (until === undefined ? pages : older.paging)
  const withUntil = (state: PageState | undefined, { until }: PageState): PageState | undefined =>
    state && until !== undefined ? { ...state, until } : state
  return {
    ...pages,
    at: (request, state) =>
      state.until === undefined
        ? pages.at(request, state)
        : older.paging.at(older.request(request, state.until), state),
    next(state, page) {
      const paging = pagingOf(state)
      const last = page.records.at(-1)
      // Oldest first, and all that the numbered pages left out has come.
      if (last && state.until !== undefined && timeOf(last) > state.until) return undefined
      const following = paging.next(state, page)
      if (following) return withUntil(following, state)
      return last && reachesEnd(paging, state, 1) ? { ...older.paging.first(), until: timeOf(last) } : undefined
    },
    *ahead(state, page) {
      const places = [...(pages.ahead?.(state, page) ?? [])]
      if (!reachesEnd(pages, state, 1 + places.length)) yield* places
    },
    resize: (state, size) => withUntil(pagingOf(state).resize?.(state, size), state),
  }
}

/** A list that the server hands out no further than this. */
export function upTo(paging: Paging, most: number): Paging {
  const { ahead: _, ...rest } = paging
  return {
    ...rest,
    next(state, page) {
      const start = state.offset ?? paging.before?.(state)
      return start !== undefined && start + state.size >= most ? undefined : paging.next(state, page)
    },
  }
}
