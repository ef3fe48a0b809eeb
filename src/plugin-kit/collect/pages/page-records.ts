/** Decides which records of a page are new, belong to the request, and have to be stored. Completes those that came incomplete. */
import { HttpFatalError, HttpMisleadingError, type Page, safeUrl } from '../../http/index.ts'
import { type Collection, contextOf, type List, type Reading } from '../collection.ts'
import { eachSideBySide } from '../side-by-side.ts'
import { requireAbsence } from './absence.ts'
import { noteNames } from './identity.ts'
import { bytesReader, type Found, isFirst, isPastLast } from './records.ts'

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
  const { spec, way, gone, clock } = collection
  const { list } = open
  const { response, at } = page
  const isEmpty = await isNothing(reading, page)
  if (!isEmpty) reading.records.check(response)
  else if (list.record !== undefined) gone.add(list.record)
  const all = isEmpty ? [] : page.records
  const areNames = spec.longList?.named !== undefined && isPastLast(at)
  if (!areNames) requireOwn(reading, page, all)
  await clock.saw(all, way.changedAt)
  if (!areNames) noteNames(collection, all)
  const near = way.wanted(reading, at, all)
  const isShortened = near.length < all.length
  const fresh = way.changed?.(reading, near) ?? near
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

/** Asks for the records behind entries that only name a record. Records that are gone by now are left out. */
async function askForNamed(
  collection: Collection,
  { input }: List,
  names: readonly unknown[],
  signal: AbortSignal,
): Promise<Found[]> {
  const { spec, client, concurrency } = collection
  const found: Found[] = []
  await eachSideBySide(names, concurrency, signal, async (name, stop) => {
    const request = spec.longList?.named?.(name, contextOf(collection, input))
    if (!request) return
    const response = await client.send({ ...request, accept: [404, 410] }, stop)
    if (response.status === 200) found.push({ record: response.body, response })
  })
  return found
}

/** Reads the rest of lists inside a record that are longer than the query asked for; true if the record has grown. */
async function complete(
  collection: Collection,
  { input }: List,
  record: unknown,
  signal: AbortSignal,
): Promise<boolean> {
  const { spec, client } = collection
  let hasGrown = false
  for (const { list, request, paging } of spec.completes ?? []) {
    const found = list(record)
    if (!found?.pageInfo.hasNextPage) continue
    const from = { ...paging.first(), cursor: found.pageInfo.endCursor ?? '' }
    const asked = request(record, contextOf(collection, input))
    for await (const page of client.pages(asked, paging, signal, { from })) found.nodes.push(...page.records)
    hasGrown = true
  }
  return hasGrown
}
