/** Pages that follow each other: read in order, each stored with the checkpoint that counts it. */
import { readAll } from '../database/read.ts'
import type { SourceClock } from './collect-clock.ts'
import { noteNames } from './collect-identity.ts'
import type { Round } from './collect-inputs.ts'
import { bytesReader, isOlder, recordsReader } from './collect-records.ts'
import { type CollectContext, type CollectSpec, lookBackOf, pagingOf, reachOf, recordKey } from './collect-spec.ts'
import { type CollectRun, collectCheckpoints, collectEtags, type Standing, type StretchState } from './collect-state.ts'
import type { StoredPage, StorePage } from './collect-store.ts'
import { askForNamed, complete, type Found } from './collect-whole.ts'
import type { Entity } from './entity.ts'
import type { Gap, StoredGap } from './gaps.ts'
import {
  type ApiClient,
  type DateWindow,
  HttpFatalError,
  HttpMisleadingError,
  type HttpRequest,
  type HttpResponse,
  type Page,
  type PageState,
  type Paging,
  type Places,
  pastLastPage,
  safeUrl,
  singlePage,
  type Verdict,
} from './http/index.ts'
import type { Place } from './quarantine.ts'
import type { RawTable } from './raw.ts'
import { requireScope } from './scope-check.ts'
import type { SourceTask } from './source-task.ts'
import type { TimeSource } from './times.ts'

export interface Tally {
  received: number
  expected: number | undefined
  /** The source said that what is stored is still right. */
  isUnchanged: boolean
  readonly gaps: Gap[]
  /** What else the task's message should tell. */
  readonly remarks: string[]
  /** Lists that came to their end, by their keys. */
  readonly answered: Set<string>
  /** The only list was refused, or all that were asked for: the run is not at its end. */
  isLost: boolean
  /** A page of the only list came, or the source said that it is unchanged. */
  hasList: boolean
  /** Inputs that were asked for, and those that changed and are none any more, by the group of their raw records. */
  readonly asked: Set<string>
  readonly unwanted: Set<string>
  /** Inputs whose lists were refused: what is stored of them stays. */
  readonly refused: Set<string | undefined>
  /** Records that the source was asked for by themselves and has no more, by their ids. */
  readonly gone: Set<number>
  /** The time whose records were all asked for, where they are asked for by time. */
  range: DateWindow | undefined
  /** Keys of records that came and were not stored, being as they were. */
  readonly known: Set<string>
  /** What people know records by → the key under which they came. */
  readonly names: Map<string, string>
}

/** One collection under way. */
export interface Collecting {
  readonly entity: Entity
  readonly spec: CollectSpec<any, any>
  readonly task: SourceTask
  readonly place: Place
  readonly client: ApiClient
  readonly base: Omit<CollectContext<any, any>, 'input'>
  readonly raw: RawTable
  readonly run: CollectRun
  readonly clock: SourceClock
  /** What earlier runs asked for in vain, and this one asks for again. */
  readonly missing: readonly StoredGap[]
  readonly tally: Tally
  readonly store: StorePage
  /** A page takes a place from when it is asked for until it is stored: so many at most are lost when we are killed. */
  readonly unstored: Places
  readonly lanes: number
}

/** A round, ready to be asked for. */
export interface Series {
  readonly round: Round
  readonly request: HttpRequest
  readonly paging: Paging
  /** The records' time, where they come newest first. */
  readonly newestFirstBy: TimeSource | undefined
  /** Without filter or window: its first page may tell that nothing has changed. */
  readonly isWhole: boolean
}

/** At what can be asked for in two halves instead. */
const HEAVY_ATTEMPTS = 2

export async function openSeries({ spec, task, base, run, raw }: Collecting, round: Round): Promise<Series> {
  const { since, isFull, checkpoints } = run
  const { incremental, longList } = spec
  const pages = pagingOf(spec, base.server, task.options)
  // Of many inputs at once nobody could tell which records a 304 leaves as they are.
  const isWhole =
    !(incremental && 'filterBy' in incremental && since) && round.kind !== 'window' && !spec.forEach?.atOnce
  const isConditional = isWhole && !isFull && !checkpoints.has(round.key)
  const where = { raw_table: raw.name, params: task.params, input_key: round.key }
  const [etag] = isConditional ? await readAll(task.database, { table: collectEtags, where }) : []
  const context = { ...base, input: round.input }
  const asked = round.request ?? withFilter(spec, context, since)
  const paging = round.paging ?? (longList?.older ? pastLastPage(pages, longList.mostPages, longList.older) : pages)
  const records = recordsReader(round.records ?? spec.records, paging !== singlePage)
  return {
    round,
    isWhole,
    paging,
    newestFirstBy:
      incremental && 'newestFirstBy' in incremental && round.kind === 'list' ? incremental.newestFirstBy : undefined,
    request: {
      ...asked,
      // Silence is no end of a list: what is no list is asked for again.
      check: (response, ...known) => asked.check?.(response, ...known) ?? noList(response, records.wrongWith),
      accept: [...(spec.emptyOn ?? []), ...(spec.endsOn ?? [])],
      ...(round.halves && { heavyAttempts: HEAVY_ATTEMPTS }),
      ...(etag && { ifNoneMatch: etag.etag, preferCredential: etag.credential }),
    },
  }
}

function noList({ status, body }: HttpResponse, wrongWith: (body: any) => string | undefined): Verdict | undefined {
  const wrong = status === 204 ? undefined : wrongWith(body)
  return wrong === undefined ? undefined : { kind: 'retry', reason: `${status} with ${wrong}`, heavy: false }
}

function withFilter(spec: CollectSpec<any, any>, context: CollectContext<any, any>, since: Date | null): HttpRequest {
  const request = spec.request(context)
  if (!since || !spec.incremental || !('filterBy' in spec.incremental)) return request
  return { ...request, query: { ...request.query, ...spec.incremental.filterBy(since, context) } }
}

/** A stretch of a series, with a checkpoint of its own. */
export interface Stretch {
  readonly key: string
  /** Where the checkpoint of an earlier run leads. */
  readonly resume?: { readonly from: StretchState; readonly received: number } | undefined
  /** The page that it is, where others are read side by side; absent: all from the first on. */
  readonly place?: PageState
  /** It goes on after its place to the end of the list. */
  readonly isTail?: boolean
  /** Leave the pages after the first to the caller, where it is known which they are. */
  readonly leavesRest?: boolean
}

export interface Outcome {
  readonly received: number
  readonly total: number | undefined
  /** The source counts more than arrived. */
  readonly isShort: boolean
  /** It counted less at the end than at the beginning: what moved up may have slipped by. */
  readonly hasShifted: boolean
  /** Left to the caller, with the size of the first page. */
  readonly places?: readonly PageState[]
  readonly pageBytes?: number
}

/** What came of one page. */
interface Step extends StoredPage {
  readonly isLast: boolean
  readonly places?: readonly PageState[] | undefined
}

export async function readStretch(
  collecting: Collecting,
  { round, request, paging, newestFirstBy, isWhole }: Series,
  stretch: Stretch,
  signal: AbortSignal,
): Promise<Outcome> {
  const { spec, task, client, base, raw, run, tally, store, unstored, clock } = collecting
  const where = { raw_table: raw.name, params: task.params }
  const records = recordsReader(round.records ?? spec.records, paging !== singlePage)
  const pages = round.answer
    ? one(pageOf(round.answer, records.of, paging))
    : client.pages(request, paging, signal, { from: stretch.resume?.from ?? stretch.place, records: records.of })
  let received = stretch.resume?.received ?? 0
  let firstTotal: number | undefined
  let total: number | undefined
  let read = stretch.resume?.from.read ?? 0
  let isCut = false
  const lookBack = lookBackOf(spec, run)
  let storing: Promise<void> = Promise.resolve()
  try {
    for (;;) {
      const leave = await unstored.enter(signal)
      let isHandedOver = false
      try {
        const { value: page } = await pages.next()
        if (!page) break
        const step = await take(page)
        // In order: a checkpoint must not overtake the page before it.
        await storing
        storing = store(step).finally(leave)
        isHandedOver = true
        storing.catch(() => {})
        if (step.places) return { ...outcome(), places: step.places, pageBytes: page.response.bytes.length }
        if (step.isLast) break
      } finally {
        if (!isHandedOver) leave()
      }
    }
  } finally {
    await pages.return()
    await storing
  }
  return outcome()

  function outcome(): Outcome {
    // Of a part only the caller can tell.
    const isAll = !isCut && !stretch.place
    const isExact = isAll && !paging.isTotalVague
    const isShort = isExact && total !== undefined && received < total
    return { received, total, isShort, hasShifted: isExact && (total ?? 0) < (firstTotal ?? 0) }
  }

  async function take(page: Page): Promise<Step> {
    const { response } = page
    await clock.check()
    tally.hasList ||= response.status === 200 || response.status === 304
    if (response.status === 304) {
      tally.isUnchanged = round.key === ''
      isCut = true
      return {
        rows: [checkpoint({ unchanged: true }, true), ...confirmed()],
        isLast: true,
        ...(round.group && { renewed: round }),
      }
    }
    const isEmpty = await isNothing(page)
    if (!isEmpty) records.check(response)
    else if (round.record !== undefined) tally.gone.add(round.record)
    const all = isEmpty ? [] : page.records
    const areNames = spec.longList?.named !== undefined && isPastLast(page.at)
    if (!areNames) requireOwn(page, all)
    await clock.saw(all, newestBy(spec))
    if (!areNames) noteNames(collecting, all)
    const near = withinReach(page.at, all)
    const fresh = near.filter((record) => !isKnown(record))
    for (const record of near) if (isKnown(record)) tally.known.add(recordKey(spec, record))
    const found = areNames
      ? await askForNamed(collecting, round, fresh, signal)
      : fresh.map((record) => ({ record, response }))
    const grown = new Set<unknown>()
    for (const { record } of found) if (await complete(collecting, round, record, signal)) grown.add(record)
    const bytesOf = bytesReader(found, grown)
    isCut = isEmpty || (near.length < all.length && !isPastLast(page.at))
    read += page.at.size
    const isWholePlace = stretch.place !== undefined && !stretch.isTail && read >= stretch.place.size
    const isLast = isCut || !page.state || isWholePlace
    const arrived = found.length + near.length - fresh.length
    received += arrived
    count(page, arrived)
    const places = stretch.leavesRest && !isLast ? placesAhead(page, paging) : undefined
    const capped = cappedBy(page)
    if (capped) tally.gaps.push(cappedGap(round, capped, safeUrl(response.url)))
    if (page.problems.length > 0) tally.gaps.push(problemGap(round, page, run.since))
    const { isShort, hasShifted } = outcome()
    const isDone = isLast && !isShort && !hasShifted
    const next = stretch.place ? { ...page.state, read } : page.state
    const end = capped && isDone ? { capped } : null
    const standing = places ? { places } : isLast ? end : (next as StretchState)
    const rows = [
      ...found.map((each) => rawRow(each, bytesOf(each))),
      checkpoint(standing, isDone),
      ...tags(page, isLast, places !== undefined),
    ]
    const isReplaced = isDone && stretch.key === round.key && round.group !== undefined
    return { rows, isLast, places, ...(isReplaced && { replaced: round.group }) }
  }

  /** Others may take over an answer as long as it is known to be right. */
  function confirmed() {
    const { ifNoneMatch: etag, preferCredential: credential } = request
    if (!spec.forEach?.isShared || !etag || !credential) return []
    return [collectEtags.row({ ...where, input_key: round.key, etag, credential })]
  }

  /** Newest first, up to what is known; past the last numbered page the oldest come first. */
  function withinReach(at: PageState, all: readonly unknown[]): readonly unknown[] {
    const { since } = run
    if (!newestFirstBy || !since) return all
    const isBeyond = (record: unknown) => isOlder(record, newestFirstBy, reachOf(lookBack, since), base)
    if (isPastLast(at)) return all.filter((record) => !isBeyond(record))
    const end = all.findIndex(isBeyond)
    return end < 0 ? all : all.slice(0, end)
  }

  /** Met when looking back, and as it was. */
  function isKnown(record: unknown): boolean {
    return Boolean(
      lookBack && run.since && round.kind !== 'refetch' && isOlder(record, lookBack.changedBy, run.since, base),
    )
  }

  /** Why the source hands out no more of a list than this. */
  function cappedBy({ response: { status, url }, at, state }: Page): string | undefined {
    if (spec.endsOn?.includes(status)) {
      return `the source lists no further than ${safeUrl(url)} (${status}); older records are missing`
    }
    const { mostPages = Number.POSITIVE_INFINITY, older } = spec.longList ?? {}
    const isLastPage = !state && !isCut && (paging.before?.(at) ?? 0) + at.size >= mostPages * paging.size
    return isLastPage && !older ? `the source lists no more than ${mostPages} pages; the rest is missing` : undefined
  }

  /** An answer that stands for no records. */
  async function isNothing({ response: { status, url }, at }: Page): Promise<boolean> {
    if (spec.endsOn?.includes(status) || status === 204) return true
    if (!spec.emptyOn?.includes(status)) return false
    if (isFirst(at)) {
      // The whole scope may be gone, and then nothing of it is to be taken for empty.
      if (round.key === '') await requireScope(task, client, status)
      return true
    }
    const address = safeUrl(url)
    const message = `${address}: ${status} in the middle of a list. The next run goes on from there.`
    throw new HttpFatalError(message, { address, status })
  }

  function requireOwn({ response: { url, status } }: Page, all: readonly unknown[]) {
    const context = { ...base, input: round.input }
    const strange = spec.isOwn ? all.filter((record) => !spec.isOwn?.(record, context, url)).length : 0
    if (strange === 0) return
    const address = safeUrl(url)
    const message = `${address} answers with ${strange} records that belong to something else than was asked for; nothing of that answer is stored`
    throw new HttpMisleadingError(message, { address, status })
  }

  function count(page: Page, fresh: number) {
    tally.received += fresh
    if (firstTotal === undefined && page.total !== undefined && stretch.key === round.key) {
      tally.expected = (tally.expected ?? 0) + page.total
    }
    firstTotal ??= page.total
    total = page.total ?? total
    const expected = tally.expected !== undefined && { expected: tally.expected }
    const { usage, requestsLeft } = client
    const left = requestsLeft !== undefined && { requestsLeft }
    task.progress({ done: tally.received, ...expected, ...left, requests: usage.requests })
  }

  function checkpoint(standing: Standing | null, is_done: boolean) {
    const expected = stretch.key === round.key ? (firstTotal ?? null) : null
    return collectCheckpoints.row({ ...where, input_key: stretch.key, page: standing, is_done, received, expected })
  }

  function rawRow({ record, response }: Found, data: Buffer) {
    const at = { url: safeUrl(response.url), input: round.stored, created_at: new Date() }
    const keys = { input_key: round.group ?? '', record_key: recordKey(spec, record) }
    return raw.row({ id: null as never, params: task.params, data, ...at, ...keys })
  }

  /** An unchanged first page proves an unchanged list only when it is the whole list, or the newest come first. */
  function tags({ response, at }: Page, isLast: boolean, isFirstOfMany: boolean) {
    const { etag } = response.headers
    if (!etag) return []
    const isEnd = stretch.isTail && isLast && at === stretch.place
    const looksBack = lookBackOf(spec, { isFull: false }) !== undefined
    const keys = [
      ...(isWhole && isFirst(at) && (isLast || (newestFirstBy && !looksBack)) ? [round.key] : []),
      ...(isFirstOfMany ? [firstKey(round)] : []),
      ...(isEnd ? [lastKey(round)] : []),
    ]
    return keys.map((input_key) => collectEtags.row({ ...where, input_key, etag, credential: response.credential }))
  }
}

/** Where a record has its time of change, as far as the collector knows. */
function newestBy({ incremental }: CollectSpec<any, any>): TimeSource | undefined {
  if (!incremental) return undefined
  if ('newestFirstBy' in incremental) return incremental.newestFirstBy
  return 'filterBy' in incremental ? incremental.by : undefined
}

/** Under which name the gaps of a round are kept: parts by time are one list. */
export const gapList = ({ kind, key }: Pick<Round, 'kind' | 'key'>): string => (kind === 'window' ? '' : key)

/** What came of a page although the source could not tell all of it. */
const problemGap = (round: Round, { problems, response }: Page, since: Date | null): Gap => ({
  ...{ list: gapList(round), kind: 'count', address: safeUrl(response.url), status: null, input: round.input },
  ...{ reason: problems.join('; '), since: round.since ?? since, missing: problems.length },
})

export const cappedGap = (round: Pick<Round, 'kind' | 'key'>, reason: string, address: string): Gap => ({
  ...{ list: gapList(round), kind: 'capped', address, status: null, reason },
  ...{ input: null, since: null, missing: null },
})

const isPastLast = ({ until }: PageState) => until !== undefined
const isFirst = ({ offset, cursor, url, until }: PageState) => !offset && !cursor && !url && !until

/** Under which the tags of a list's two ends are kept. */
export const firstKey = ({ key }: Round): string => `${key}#first`
export const lastKey = ({ key }: Round): string => `${key}#last`

/** The pages after a full first one, where the source says which there are, and a change would be noticed. */
function placesAhead({ response, records, at, state, total }: Page, paging: Paging): readonly PageState[] | undefined {
  const isNoticed = response.headers.etag !== undefined || total !== undefined
  const isFull = at.size === paging.size && state?.size === at.size
  const places = isNoticed && isFull ? [...(paging.ahead?.(at, { response, records }) ?? [])] : []
  return places.length > 0 ? places : undefined
}

async function* one(page: Page): AsyncGenerator<Page, void> {
  yield page
}

const pageOf = (response: HttpResponse, records: (body: any) => readonly unknown[], paging: Paging): Page => ({
  response,
  records: records(response.body),
  problems: [],
  total: paging.total?.(response),
  at: paging.first(),
  state: undefined,
})
