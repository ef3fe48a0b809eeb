/** Completes records that come incomplete in a list, by asking for their missing parts. */

import type { Collection, List } from './collection.ts'
import { contextOf } from './collection.ts'
import type { Found } from './records.ts'
import { eachSideBySide } from './side-by-side.ts'

/** Asks for the records behind entries that only name a record. Records that are gone by now are left out. */
export async function askForNamed(
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
export async function complete(
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
