/** Decides which records of a page are new, belong to the request, and have to be stored. */
import { HttpFatalError, HttpMisleadingError, type Page, type PageState, safeUrl } from '../http/index.ts'
import { type AnyCollectSpec, lookBackOf, type Numbered, numberedOf, reachOf, recordKey } from '../spec/collect.ts'
import type { TimeSource } from '../spec/times.ts'
import { requireAbsence } from './absence.ts'
import { contextOf } from './collection.ts'
import { askForNamed, complete } from './complete-records.ts'
import { noteNames } from './identity.ts'
import { newOnPage } from './numbered.ts'
import { isFirst, isPastLast, type Reading } from './part.ts'
import { bytesReader, type Found, isOlder } from './records.ts'
import { notBefore } from './run-window.ts'

interface PageRecords {
  /** Records to store. */
  readonly found: readonly Found[]
  readonly bytesOf: (one: Found) => Buffer
  /** Number of records, including those that are already stored and unchanged. */
  readonly arrived: number
  /** Nothing after this page is needed: it is already stored, or the answer stood for no records. */
  readonly isCut: boolean
  /** Some records of the page are not wanted. */
  readonly isShortened: boolean
}

export async function recordsOf(reading: Reading, page: Page): Promise<PageRecords> {
  const { collection, open, signal } = reading
  const { spec, tally, clock } = collection
  const { list } = open
  const { response, at } = page
  const isEmpty = await isNothing(reading, page)
  if (!isEmpty) reading.records.check(response)
  else if (list.record !== undefined) tally.gone.add(list.record)
  const all = isEmpty ? [] : page.records
  const areNames = spec.longList?.named !== undefined && isPastLast(at)
  if (!areNames) requireOwn(reading, page, all)
  await clock.saw(all, changeTimeOf(spec))
  if (!areNames) noteNames(collection, all)
  const numbered = list.kind === 'list' ? numberedOf(spec) : undefined
  const near = numbered ? newOf(numbered, reading, at, all) : withinReach(reading, at, all)
  const isShortened = near.length < all.length
  const known = new Set(near.filter((record) => isKnown(reading, record)))
  const fresh = near.filter((record) => !known.has(record))
  for (const record of known) tally.known.add(recordKey(spec, record))
  const found = areNames
    ? await askForNamed(collection, list, fresh, signal)
    : fresh.map((record) => ({ record, response }))
  const grown = new Set<unknown>()
  for (const { record } of found) if (await complete(collection, list, record, signal)) grown.add(record)
  return {
    found,
    bytesOf: bytesReader(found, grown),
    arrived: found.length + near.length - fresh.length,
    isCut: isEmpty || (isShortened && !isPastLast(at)),
    isShortened,
  }
}

/** True if the answer means that there are no records. */
async function isNothing({ collection, open }: Reading, { response: { status, url }, at }: Page): Promise<boolean> {
  const { spec } = collection
  if (spec.endsOn?.includes(status) || status === 204) return true
  if (!spec.emptyOn?.includes(status)) return false
  if (isFirst(at)) {
    await requireAbsence(collection, open.list, { status, address: safeUrl(url) })
    return true
  }
  const address = safeUrl(url)
  const message = `${address}: ${status} in the middle of a list. The next run continues from there.`
  throw new HttpFatalError(message, { address, status })
}

function requireOwn({ collection, open }: Reading, { response: { url, status } }: Page, all: readonly unknown[]) {
  const { isOwn } = collection.spec
  const context = contextOf(collection, open.list.input)
  const strange = isOwn ? all.filter((record) => !isOwn(record, context, url)).length : 0
  if (strange === 0) return
  const address = safeUrl(url)
  const message = `${address} answers with ${strange} records that do not belong to what was asked for; nothing of that answer is stored`
  throw new HttpMisleadingError(message, { address, status })
}

/** Records up to the first that is already stored. They come newest first, but oldest first past the last numbered page. */
function withinReach({ collection, open }: Reading, at: PageState, all: readonly unknown[]): readonly unknown[] {
  const { spec, run, base } = collection
  const { newestFirstBy } = open
  const { since } = run
  if (!newestFirstBy || !since) return all
  const reach = notBefore(open.list.reachesTo ?? reachOf(lookBackOf(spec, run), since), run.timeAfter)
  const isBeyond = (record: unknown) => isOlder(record, newestFirstBy, reach, base)
  if (isPastLast(at)) return all.filter((record) => !isBeyond(record))
  const end = all.findIndex(isBeyond)
  return end < 0 ? all : all.slice(0, end)
}

/** Records of a numbered list down to the newest known one, or down to the start date. */
function newOf(numbered: Numbered, reading: Reading, at: PageState, all: readonly unknown[]): readonly unknown[] {
  if (isFirst(at) && all.length > 0) reading.newest = numbered.of(all[0])
  const count = reading.known && newOnPage(numbered, all, reading.known, isFirst(at))
  if (count === undefined) reading.known = undefined
  const near = all.slice(0, count)
  const { timeAfter } = reading.collection.run
  const end = timeAfter ? near.findIndex((record) => numbered.of(record).made < timeAfter.getTime()) : -1
  return end < 0 ? near : near.slice(0, end)
}

/** True for a record that was only met when looking back, and has not changed since the last run. */
function isKnown({ collection, open }: Reading, record: unknown): boolean {
  const { spec, run, base } = collection
  const lookBack = lookBackOf(spec, run)
  if (!lookBack || !run.since || open.list.kind === 'refetch') return false
  return isOlder(record, lookBack.changedBy, run.since, base)
}

/** How to read the time of change of a record, if the collector knows. */
function changeTimeOf({ incremental }: AnyCollectSpec): TimeSource | undefined {
  if (!incremental) return undefined
  if ('newestFirstBy' in incremental) return incremental.newestFirstBy
  if ('numbered' in incremental) return (record) => new Date(incremental.numbered.of(record).made)
  return 'filterBy' in incremental ? incremental.by : undefined
}
