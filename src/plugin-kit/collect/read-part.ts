/** Reads the pages of a part in order, and stores each with the checkpoint that counts it. */
import type { RawRecord } from '../../database/table.ts'
import { type HttpResponse, type Page, type PageState, type Paging, safeUrl, singlePage } from '../http/index.ts'
import type { Collection } from './collection.ts'
import { cappedGap, problemGap } from './list-gaps.ts'
import type { OpenList } from './open-list.ts'
import { recordsOf } from './page-records.ts'
import type { StoredPage } from './page-store.ts'
import {
  checkpointRow,
  confirmedTagRows,
  count,
  type Part,
  type PartResult,
  pagesAhead,
  type Reading,
  rawRow,
  reachRows,
  resultOf,
  tagRows,
} from './part.ts'
import { recordsReader } from './records.ts'
import type { PartState } from './run.ts'

export async function readPart(
  collection: Collection,
  open: OpenList,
  part: Part,
  signal: AbortSignal,
): Promise<PartResult> {
  const { spec, client, store, unstored } = collection
  const { list, request, paging } = open
  const records = recordsReader(list.records ?? spec.records, paging !== singlePage)
  const pages = list.answer
    ? only(pageOf(list.answer, records.of, paging))
    : client.pages(request, paging, signal, { from: part.resume?.from ?? part.start, records: records.of })
  const reading: Reading = {
    collection,
    open,
    part,
    signal,
    records,
    received: part.resume?.received ?? 0,
    read: part.resume?.from.read ?? 0,
    firstTotal: undefined,
    total: undefined,
    isCut: false,
    known: list.group === undefined ? undefined : collection.reaches.get(list.group),
    newest: part.resume?.from.newest,
  }
  let storing: Promise<void> = Promise.resolve()
  try {
    for (;;) {
      const leave = await unstored.enter(signal)
      let isHandedOver = false
      try {
        const { value: page } = await pages.next()
        if (!page) break
        const { rest, isLast, ...stored } = await takePage(reading, page)
        // Pages are stored in order: a checkpoint must not be stored before the previous page.
        await storing
        storing = store(stored).finally(leave)
        isHandedOver = true
        storing.catch(() => {})
        if (rest) return { ...resultOf(reading), rest, pageBytes: page.response.bytes.length }
        if (isLast) break
      } finally {
        if (!isHandedOver) leave()
      }
    }
  } finally {
    await pages.return()
    await storing
  }
  return resultOf(reading)
}

/** One page, ready to be stored. */
interface PageToStore extends StoredPage {
  readonly isLast: boolean
  /** Start places of the pages that are left to the caller. */
  readonly rest?: readonly PageState[] | undefined
}

async function takePage(reading: Reading, page: Page): Promise<PageToStore> {
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

async function* only(page: Page): AsyncGenerator<Page, void> {
  yield page
}

const pageOf = (response: HttpResponse, records: (body: RawRecord) => readonly unknown[], paging: Paging): Page => ({
  response,
  records: records(response.body),
  problems: [],
  total: paging.total?.(response),
  at: paging.first(),
  state: undefined,
})
