/** Which records of a page are new, belong to what was asked for, and are to be stored. */
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
import { notBefore } from './run.ts'

export interface PageRecords {
  /** To be stored. */
  readonly found: readonly Found[]
  readonly bytesOf: (one: Found) => Buffer
  /** How many there are with those that are stored already, and are as they were. */
  readonly arrived: number
  /** What follows is known, or stands for nothing. */
  readonly isCut: boolean
  /** The page has more records than are wanted. */
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

/** An answer that stands for no records. */
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

/** Newest first, up to what is known; past the last numbered page the oldest come first. */
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

/** Down to what is known of a numbered list, or to what is wanted. */
function newOf(numbered: Numbered, reading: Reading, at: PageState, all: readonly unknown[]): readonly unknown[] {
  if (isFirst(at) && all.length > 0) reading.newest = numbered.of(all[0])
  const count = reading.known && newOnPage(numbered, all, reading.known, isFirst(at))
  if (count === undefined) reading.known = undefined
  const near = all.slice(0, count)
  const { timeAfter } = reading.collection.run
  const end = timeAfter ? near.findIndex((record) => numbered.of(record).made < timeAfter.getTime()) : -1
  return end < 0 ? near : near.slice(0, end)
}

/** Met when looking back, and as it was. */
function isKnown({ collection, open }: Reading, record: unknown): boolean {
  const { spec, run, base } = collection
  const lookBack = lookBackOf(spec, run)
  if (!lookBack || !run.since || open.list.kind === 'refetch') return false
  return isOlder(record, lookBack.changedBy, run.since, base)
}

/** Where a record has its time of change, as far as the collector knows. */
function changeTimeOf({ incremental }: AnyCollectSpec): TimeSource | undefined {
  if (!incremental) return undefined
  if ('newestFirstBy' in incremental) return incremental.newestFirstBy
  if ('numbered' in incremental) return (record) => new Date(incremental.numbered.of(record).made)
  return 'filterBy' in incremental ? incremental.by : undefined
}
