/** Records that are not whole as a list has them: what is missing is asked for. */
import type { Round } from './collect-inputs.ts'
import type { Collecting } from './collect-series.ts'
import type { HttpResponse } from './http/index.ts'
import { eachInLanes } from './lanes.ts'

/** A record and the answer that brought it. */
export interface Found {
  readonly record: unknown
  readonly response: HttpResponse
}

/** What entries that only name a record stand for; those that are gone meanwhile are left out. */
export async function askForNamed(
  { spec, client, base, lanes }: Collecting,
  { input }: Round,
  names: readonly unknown[],
  signal: AbortSignal,
): Promise<Found[]> {
  const found: Found[] = []
  await eachInLanes(names, lanes, signal, async (name, stop) => {
    const request = spec.longList?.named?.(name, { ...base, input })
    if (!request) return
    const response = await client.send({ ...request, accept: [404, 410] }, stop)
    if (response.status === 200) found.push({ record: response.body, response })
  })
  return found
}

/** Lists inside of a record that go on past what the query asked for; true where the record has grown. */
export async function complete(
  { spec, client, base }: Collecting,
  { input }: Round,
  record: unknown,
  signal: AbortSignal,
): Promise<boolean> {
  let hasGrown = false
  for (const { list, request, paging } of spec.completes ?? []) {
    const found = list(record)
    if (!found?.pageInfo.hasNextPage) continue
    const from = { ...paging.first(), cursor: found.pageInfo.endCursor ?? '' }
    const asked = request(record, { ...base, input })
    for await (const page of client.pages(asked, paging, signal, { from })) found.nodes.push(...page.records)
    hasGrown = true
  }
  return hasGrown
}
