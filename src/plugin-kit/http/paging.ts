import type { RawRecord } from '../../database/table.ts'
import type { HttpRequest, HttpResponse, Query } from './http-message.ts'

/** The place where a page starts. It is plain JSON: a checkpoint stores it, and `pages` continues from it. */
export interface PageState {
  /** Number of records asked for at once. */
  readonly size: number
  /** Number of records before this page. */
  readonly offset?: number
  readonly cursor?: string
  readonly url?: string
  /** The previous page was short although it was not the last. Page numbers cannot be converted to another page size then. */
  readonly fixed?: true
  /** Set past the last numbered page: records that are not newer than this are still to come. */
  readonly until?: string
}

interface ReceivedPage {
  readonly response: HttpResponse
  readonly records: readonly RawRecord[]
}

/** A vendor's way of paging. */
export interface Paging {
  readonly size: number
  first(): PageState
  /** Makes the request for the page that starts at this place. */
  at(request: HttpRequest, state: PageState): HttpRequest
  /** The place where the next page starts; undefined after the last. */
  next(state: PageState, page: ReceivedPage): PageState | undefined
  /** The pages that follow, if the server said how many there are; they may be fetched in parallel. */
  ahead?(state: PageState, page: ReceivedPage): Iterable<PageState>
  /** The same place with another page size; undefined if no page of that size starts there. */
  resize?(state: PageState, size: number): PageState | undefined
  /** Number of records before the page that starts there, if its page number shows it. */
  before?(state: PageState): number
  /** The total number of records that the server gives. */
  total?(response: HttpResponse): number | undefined
  /** The total is only an estimate: if fewer records come, nothing is missing. */
  readonly isTotalVague?: boolean
  /** The records of a page; default: the body itself, or the only list in it. */
  records?(response: HttpResponse): readonly RawRecord[]
}

/** One request, one page. */
export const singlePage: Paging = {
  size: 1,
  first: () => ({ size: 1 }),
  at: (request) => request,
  next: () => undefined,
}

interface CountedPagingOptions {
  readonly size: number
  readonly sizeParam?: string
  /** Reads the total number of records from the body or a header. */
  readonly total?: (response: HttpResponse) => number | undefined
  /** The total is an estimate: it shows neither where the list ends nor that something is missing. */
  readonly isTotalVague?: boolean
  /** The place of the page parameters: the query, or the JSON body of the request. */
  readonly sentIn?: 'query' | 'body'
  /** Without a total: the list ends with the first page that has fewer records than asked for, or only with an empty one. */
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
  /** The place after a page with `count` records. */
  after(state: PageState, count: number): PageState
  /** True if a page of this size starts there. */
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
      // If the first page is short although more records exist, the server allows no larger pages.
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

interface UrlPagingOptions {
  readonly size: number
  readonly sizeParam?: string
  readonly pageParam?: string
  readonly next: (response: HttpResponse) => string | null | undefined
  readonly last?: (response: HttpResponse) => string | null | undefined
  readonly total?: (response: HttpResponse) => number | undefined
}

/** Paging for servers that give the address of the next page, and perhaps that of the last. */
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

/** A server behind a reverse proxy may give an address under another host name, so only its path and query are used. */
function own(address: string | null | undefined, response: HttpResponse): string | undefined {
  if (!address) return undefined
  const { pathname, search } = new URL(address, response.url)
  return new URL(pathname + search, response.url).href
}

/** Paging by RFC 8288 links: `next`, and `last` if the server knows it. */
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

interface CursorOptions {
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

interface ByTimeOptions {
  readonly size: number
  readonly sizeParam?: string
  readonly pageParam?: string
  /** Parameter that asks for records from a time on. */
  readonly param: string
  /** The time by which the records are sorted, oldest first, as the server writes it. */
  readonly timeOf: (record: RawRecord) => string
}

/**
 * Each page begins at the time at which the previous one ended. Records that change in the meantime move to the end and move no
 * others. Records from the same second as the end of a page come twice.
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
      // All records of the page are from the same second.
      return time === cursor ? { size, cursor, offset: offset + size } : { size, cursor: time }
    },
    resize: ({ offset = 0, ...state }, size) => (offset % size === 0 ? { ...state, offset, size } : undefined),
  }
}

/** How to ask for records that are not newer than the last record of a list, which comes newest first. */
export interface Older {
  readonly timeOf: (record: RawRecord) => string
  readonly request: (request: HttpRequest, until: string) => HttpRequest
  readonly paging: Paging
}

/**
 * Paging for a list whose numbered pages end too early: the rest is asked for by time. The list is read in order. Records that
 * change in the meantime move to the front, and whatever they push off the last page is not newer than the records on it.
 */
export function pastLastPage(pages: Paging, mostPages: number, older: Older): Paging {
  const { timeOf } = older
  /** True if the last of `count` pages from this place is the last that the server hands out. */
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
      // These records come oldest first, and all that the numbered pages left out have come.
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

/** Paging for a list of which the server hands out at most `most` records. */
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
