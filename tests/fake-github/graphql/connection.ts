import { GraphQLError } from 'graphql'
import { comparePlaces, type Place } from '../world/collection.ts'
import type { Item } from '../world/records.ts'

export interface PageArguments {
  readonly first?: number | null
  readonly last?: number | null
  readonly after?: string | null
  readonly before?: string | null
}

/**
 * Returns a Relay connection over places in a sorted list. A cursor contains the place itself, so it stays valid when earlier
 * records are added or removed.
 */
export function connection(
  { first, last, after, before }: PageArguments,
  places: readonly Place[],
  direction: 'asc' | 'desc',
  node: (index: number) => unknown,
) {
  const compare = direction === 'asc' ? comparePlaces : (a: Place, b: Place) => comparePlaces(b, a)
  const start = after == null ? 0 : firstAfter(places, parseCursor(after), compare)
  const end = before == null ? places.length : lastBefore(places, parseCursor(before), compare)
  const from = last == null || first != null ? start : Math.max(start, end - last)
  const to = first == null ? end : Math.min(end, start + first)
  const slice = places.slice(from, Math.max(from, to))
  return {
    totalCount: places.length,
    nodes: () => slice.map((place) => node(place.index)),
    edges: () => slice.map((place) => ({ cursor: cursorOf(place), node: node(place.index) })),
    pageInfo: {
      hasNextPage: to < places.length,
      hasPreviousPage: from > 0,
      startCursor: slice.length === 0 ? null : cursorOf(slice[0]!),
      endCursor: slice.length === 0 ? null : cursorOf(slice.at(-1)!),
    },
  }
}

/** Returns a connection over a short list of a record's children, in the given order. */
export function childConnection<T extends Pick<Item, 'index'>>(
  page: PageArguments,
  items: readonly T[],
  node: (item: T) => unknown,
  direction: 'asc' | 'desc' = 'asc',
) {
  const byIndex = new Map(items.map((item) => [item.index, item]))
  const places = items.map((item) => ({ key: '', index: item.index }))
  return connection(page, places, direction, (index) => node(byIndex.get(index)!))
}

/** Returns a connection over values without an index, such as logins. */
export const plainConnection = <T>(page: PageArguments, items: readonly T[], node: (item: T) => unknown) =>
  childConnection(
    page,
    items.map((item, index) => ({ item, index })),
    ({ item }) => node(item),
  )

const cursorOf = (place: Place): string => Buffer.from(`cursor:v2:${place.key}:${place.index}`).toString('base64')

function parseCursor(cursor: string): Place {
  const match = /^cursor:v2:(.*):(\d+)$/.exec(Buffer.from(cursor, 'base64').toString())
  if (match === null)
    throw new GraphQLError(`\`${cursor}\` does not appear to be a valid cursor.`, {
      extensions: { type: 'INVALID_CURSOR_ARGUMENTS' },
    })
  return { key: match[1]!, index: Number(match[2]) }
}

type Compare = (a: Place, b: Place) => number
function firstAfter(places: readonly Place[], cursor: Place, compare: Compare): number {
  const found = places.findIndex((place) => compare(place, cursor) > 0)
  return found === -1 ? places.length : found
}
function lastBefore(places: readonly Place[], cursor: Place, compare: Compare): number {
  const found = places.findIndex((place) => compare(place, cursor) >= 0)
  return found === -1 ? places.length : found
}
