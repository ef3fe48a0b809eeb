import { createHash } from 'node:crypto'
import type { RawRecord } from '../../database/table.ts'
import { messageOf } from '../../errors.ts'
import { HttpMisleadingError, isHeavy } from './failure.ts'
import type { HttpEvent } from './http-event.ts'
import { type HttpRequest, type HttpResponse, safeUrl } from './http-message.ts'
import { listIn, unexpectedForm } from './list-in.ts'
import type { PageState, Paging } from './paging.ts'

export interface Page {
  /** If the status is 304, this is the only page, without records. */
  readonly response: HttpResponse
  readonly records: readonly RawRecord[]
  /** Problems by which the server says that parts of this page are missing. */
  readonly problems: readonly string[]
  /** The total number of records, if the server gives it. */
  readonly total: number | undefined
  /** The place where this page started. */
  readonly at: PageState
  /** The place where the next page starts. Store it as a checkpoint together with these records. Undefined after the last page. */
  readonly state: PageState | undefined
}

export interface PagesOptions {
  /** Continue from a checkpoint. */
  readonly from?: PageState | undefined
  /** The records of a page; overrides the paging's own. */
  readonly records?: (body: RawRecord) => readonly RawRecord[]
}

/** Number of attempts at a page that can still be made smaller. */
const HEAVY_ATTEMPTS = 2
/** Pages in a row that must succeed before the page size grows again; doubled each time that it has to shrink. */
const FIRST_PATIENCE = 2
const MOST_PATIENCE = 64

/** Reads page after page. Makes pages smaller that are too heavy, and stops if pages repeat. */
export async function* readPages(
  request: HttpRequest,
  paging: Paging,
  signal: AbortSignal,
  { from, records: recordsOf }: PagesOptions,
  send: (request: HttpRequest, signal: AbortSignal) => Promise<HttpResponse>,
  tell: (event: HttpEvent) => void,
): AsyncGenerator<Page, void> {
  const { ifNoneMatch: _, ...unconditional } = request
  const seen = new Set<string>()
  const repeats = createRepeats()
  const sizing = createSizing(paging)
  let previous: HttpResponse | undefined
  let state: PageState | undefined = from ?? paging.first()

  while (state) {
    const at: PageState = state
    const page = paging.at(from || previous ? unconditional : request, at)
    let response: HttpResponse
    try {
      response = await send(sizing.smaller(at) ? { ...page, heavyAttempts: HEAVY_ATTEMPTS } : page, signal)
    } catch (error) {
      const smaller = isHeavy(error) ? sizing.shrink(at) : undefined
      if (!smaller) throw error
      const message = `${messageOf(error)}; asking for ${smaller.size} records instead of ${at.size}`
      tell({ kind: 'page-resized', from: at.size, to: smaller.size, message })
      state = smaller
      continue
    }
    if (response.status === 304) {
      yield { response, records: [], problems: [], total: undefined, at, state: undefined }
      return
    }
    const records = recordsOf?.(response.body) ?? paging.records?.(response) ?? onlyListIn(response)
    seen.add(keyOf(at))
    const following = paging.next(at, { response, records })
    const isRepeated = at.size === paging.size && repeats.has(records)
    if (isRepeated || (following && seen.has(keyOf(following)))) throw circles(request, response, following)
    state = following && sizing.grow(at, following)
    previous = response
    yield {
      response,
      records,
      problems: request.problems?.(response) ?? [],
      total: paging.total?.(response),
      at,
      state,
    }
  }
}

/** Page sizes: each a divisor of the one before, so that a smaller page starts wherever a larger one did. */
function createSizing(paging: Paging) {
  let full = paging.size
  let successes = 0
  let patience = FIRST_PATIENCE / 2

  function smaller(at: PageState): PageState | undefined {
    return at.size > 1 ? paging.resize?.(at, at.size / smallestFactor(at.size)) : undefined
  }

  function larger(at: PageState): PageState | undefined {
    let size = full
    while (size / smallestFactor(size) > at.size) size /= smallestFactor(size)
    return paging.resize?.(at, size)
  }

  return {
    smaller,
    shrink(at: PageState): PageState | undefined {
      successes = 0
      patience = Math.min(patience * 2, MOST_PATIENCE)
      return smaller(at)
    },
    /** The place from which to continue after a success; the pages get larger again after enough successes. */
    grow(at: PageState, following: PageState): PageState {
      // The paging itself made its pages smaller: the server allows no more.
      if (following.size < at.size) full = following.size
      if (following.size >= full) return following
      successes++
      const grown = successes >= patience ? larger(following) : undefined
      if (grown) successes = 0
      return grown ?? following
    },
  }
}

function smallestFactor(size: number): number {
  for (let factor = 2; factor * factor <= size; factor++) if (size % factor === 0) return factor
  return size
}

/** A key that is equal for two addresses of the same page, whatever the order of their parameters. */
function keyOf({ size, offset, cursor, url, until }: PageState): string {
  const address = url === undefined ? undefined : new URL(url)
  address?.searchParams.sort()
  return JSON.stringify([size, offset, cursor, address?.href, until])
}

/** An answer without a list is no empty page: what it means is unknown. */
function onlyListIn(response: HttpResponse): readonly RawRecord[] {
  try {
    return listIn(response.body, true)
  } catch (error) {
    throw unexpectedForm(response, error)
  }
}

/** A single record may legitimately come twice, because it can move to the next page while the list is read. */
const MOST_ALIKE = 3

/** Recognises repeated pages, whatever their cursor. First and last record are enough: no two pages of a list share both. */
function createRepeats() {
  const counts = new Map<string, number>()
  return {
    has(records: readonly RawRecord[]): boolean {
      if (records.length === 0) return false
      const ends = JSON.stringify([records.length, records[0], records.at(-1)])
      const key = createHash('sha256').update(ends).digest('base64')
      const count = (counts.get(key) ?? 0) + 1
      counts.set(key, count)
      return count >= (records.length > 1 ? 2 : MOST_ALIKE)
    },
  }
}

function circles(request: HttpRequest, response: HttpResponse, following: PageState | undefined): HttpMisleadingError {
  const next = following?.cursor ?? following?.offset ?? (following?.url ? safeUrl(following.url) : 'the end')
  const address = safeUrl(response.url)
  return new HttpMisleadingError(
    `${request.method ?? 'GET'} ${address}: the server sent the same page twice (next would be ${next}); stopped`,
    { address, status: response.status },
  )
}
