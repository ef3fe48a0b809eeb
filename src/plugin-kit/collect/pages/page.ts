/** Makes what is stored of one page: its records, the checkpoint that counts them, and tags that may save requests later. */
import { type Page, type PageState, type Paging, safeUrl } from '../../http/index.ts'
import { collectCheckpoints, collectEtags, collectReaches } from '../../raw/collect-tables.ts'
import { recordKey } from '../../spec/collect.ts'
import type { List, Reading, StoredPage } from '../collection.ts'
import { cappedGap, problemGap } from '../list-gaps.ts'
import type { CheckpointState, PartState } from '../run/run.ts'
import { recordsOf } from './page-records.ts'
import { type Found, isFirst } from './records.ts'

export interface PartResult {
  readonly received: number
  readonly total: number | undefined
  /** The source counts more than arrived. */
  readonly isShort: boolean
  /** The source counted fewer records at the end than at the beginning. A record that moved up may have been missed. */
  readonly hasShifted: boolean
  /** Pages that are left to the caller, with the size of the first page. */
  readonly rest?: readonly PageState[]
  readonly pageBytes?: number
}

/** One page, ready to be stored. */
interface PageToStore extends StoredPage {
  readonly isLast: boolean
  /** Start places of the pages that are left to the caller. */
  readonly rest?: readonly PageState[] | undefined
}

export async function takePage(reading: Reading, page: Page): Promise<PageToStore> {
  const { collection, open, part } = reading
  const { tally, clock, run } = collection
  const { list, paging } = open
  const { response } = page
  await clock.check()
  tally.hasList ||= response.status === 200 || response.status === 304
  if (response.status === 304) return unchanged(reading)
  const { found, bytesOf, arrived, isCut, isShortened } = await recordsOf(reading, page)
  reading.isCut = isCut
  reading.read += page.at.size
  const isWholeStart = part.start !== undefined && !part.goesToEnd && reading.read >= part.start.size
  const isLast = isCut || !page.state || isWholeStart
  count(reading, page, arrived)
  const rest = part.mayLeaveRest && !isLast ? pagesAhead(page, paging) : undefined
  const capped = cappedBy(reading, page)
  if (capped) tally.gaps.push(cappedGap(list, capped, safeUrl(response.url)))
  if (page.problems.length > 0) tally.gaps.push(problemGap(list, page, run.since))
  const { isShort, hasShifted } = resultOf(reading)
  const isDone = isLast && !isShort && !hasShifted
  const { newest, known, read } = reading
  const next = { ...page.state, ...(part.start && { read }), ...(newest && { newest }) }
  const end = capped && isDone ? { capped } : null
  const state = rest ? { places: rest } : isLast ? end : (next as PartState)
  const rows = [
    ...found.map((each) => rawRow(reading, each, bytesOf(each))),
    checkpointRow(reading, state, isDone),
    ...tagRows(reading, page, isLast, rest !== undefined),
    ...(isDone ? reachRows(reading) : []),
  ]
  const isWhole = isDone && part.key === list.key && !list.isPart
  const isReplaced = isWhole && list.group !== undefined && !(known && isShortened)
  return { rows, isLast, rest, ...(isReplaced && { replaced: list.group }) }
}

/** Handles an answer that says that the stored records are still up to date. */
function unchanged(reading: Reading): PageToStore {
  const { list } = reading.open
  reading.collection.tally.isUnchanged = list.key === ''
  reading.isCut = true
  return {
    rows: [checkpointRow(reading, { unchanged: true }, true), ...confirmedTagRows(reading)],
    isLast: true,
    ...(list.group && { renewed: list }),
  }
}

/** The reason why the source gives no more of a list, if it ended before all of it was read. */
function cappedBy({ collection, open, isCut }: Reading, { response: { status, url }, at, state }: Page) {
  const { endsOn, longList } = collection.spec
  if (endsOn?.includes(status)) {
    return `the source lists no further than ${safeUrl(url)} (${status}); older records are missing`
  }
  const { mostPages = Number.POSITIVE_INFINITY, older } = longList ?? {}
  const isLastPage = !state && !isCut && (open.paging.before?.(at) ?? 0) + at.size >= mostPages * open.paging.size
  return isLastPage && !older ? `the source lists no more than ${mostPages} pages; the rest is missing` : undefined
}

export function resultOf({ received, total, firstTotal, isCut, part, open }: Reading): PartResult {
  // If this is one of many parts, only the caller can tell.
  const isExact = !isCut && !part.start && !open.paging.isTotalVague
  const isShort = isExact && total !== undefined && received < total
  return { received, total, isShort, hasShifted: isExact && (total ?? 0) < (firstTotal ?? 0) }
}

/** Adds a page to the counts; `arrived` is its number of records. */
function count(reading: Reading, page: Page, arrived: number): void {
  const { collection, part, open } = reading
  const { tally, client, task } = collection
  reading.received += arrived
  tally.received += arrived
  if (reading.firstTotal === undefined && page.total !== undefined && part.key === open.list.key) {
    tally.expected = (tally.expected ?? 0) + page.total
  }
  reading.firstTotal ??= page.total
  reading.total = page.total ?? reading.total
  const { usage, requestsLeft } = client
  task.progress({
    done: tally.received,
    ...(tally.expected !== undefined && { expected: tally.expected }),
    ...(requestsLeft !== undefined && { requestsLeft }),
    requests: usage.requests,
  })
}

function checkpointRow(reading: Reading, state: CheckpointState | null, is_done: boolean) {
  const { collection, part, open, received, firstTotal } = reading
  const expected = part.key === open.list.key ? (firstTotal ?? null) : null
  return collectCheckpoints.row({ ...collection.key, input_key: part.key, page: state, is_done, received, expected })
}

function rawRow({ collection, open: { list } }: Reading, { record, response }: Found, data: Buffer) {
  const { raw, task, spec } = collection
  const at = { url: safeUrl(response.url), input: list.stored, created_at: new Date() }
  const keys = { input_key: list.group ?? '', record_key: recordKey(spec, record) }
  return raw.row({ id: null as never, params: task.params, data, ...at, ...keys })
}

/** The reach of a numbered list that has been read to its end, or the digest of the input that was answered. */
function reachRows({ collection, open: { list }, newest }: Reading) {
  const reach = list.reach ?? newest
  if (!reach || list.group === undefined) return []
  return [collectReaches.row({ ...collection.key, input_key: list.group, ...reach })]
}

/** Keys under which the tags of both ends of a list are stored. */
export const firstKey = ({ key }: List): string => `${key}#first`
export const lastKey = ({ key }: List): string => `${key}#last`

/** An unchanged first page proves an unchanged list only when it is the whole list, or the newest come first. */
function tagRows(reading: Reading, { response, at }: Page, isLast: boolean, isFirstOfMany: boolean) {
  const { collection, part, open } = reading
  const { etag } = response.headers
  if (!etag) return []
  const isEnd = part.goesToEnd && isLast && at === part.start
  const { way } = collection
  const isNewestFirst = way.isNewestFirst?.(open.list)
  const keys = [
    ...(open.isWhole && isFirst(at) && (isLast || (isNewestFirst && !way.lookBack)) ? [open.list.key] : []),
    ...(isFirstOfMany ? [firstKey(open.list)] : []),
    ...(isEnd ? [lastKey(open.list)] : []),
  ]
  return keys.map((input_key) =>
    collectEtags.row({ ...collection.key, input_key, etag, credential: response.credential }),
  )
}

/** Stores the tag of a confirmed answer again, so that other scopes may copy the answer as a fresh one. */
function confirmedTagRows({ collection, open: { request, list } }: Reading) {
  const { ifNoneMatch: etag, preferCredential: credential } = request
  if (!collection.spec.forEach?.isShared || !etag || !credential) return []
  return [collectEtags.row({ ...collection.key, input_key: list.key, etag, credential })]
}

/** The pages after a full first page, if the source says which there are and a change would be noticed. */
function pagesAhead({ response, records, at, state, total }: Page, paging: Paging) {
  const isNoticed = response.headers.etag !== undefined || total !== undefined
  const isFull = at.size === paging.size && state?.size === at.size
  const starts = isNoticed && isFull ? [...(paging.ahead?.(at, { response, records }) ?? [])] : []
  return starts.length > 0 ? starts : undefined
}
