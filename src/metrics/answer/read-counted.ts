/**
 * Reads the items that a metric counts, for several filters with one statement. Value, range, trend and heaviest items of an
 * answer are all made of them, so that they cannot disagree.
 */
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { Item, Metric, Reason } from '../metric.ts'
import { placeIn, stacked } from '../read/stacked.ts'
import type { Asked } from '../whole.ts'

export interface CountedItem extends Pick<Item, 'kind' | 'id' | 'repository'> {
  readonly at: Date
  readonly value: number
}

/** The items of one filter. */
export interface Counted {
  readonly items: readonly CountedItem[]
  /** Incidents that are not resolved yet. They do not count, but are there. */
  readonly open: readonly CountedItem[]
  /** How many items do not count, by reason. */
  readonly leftOut: ReadonlyMap<Reason, number>
}

interface Row {
  readonly place?: number
  readonly reason: Reason | null
  readonly kind: Item['kind'] | null
  readonly id: string | null
  readonly at: Date | null
  readonly value: number | null
  readonly repository: string | null
  readonly amount: number
}

const OPEN: Reason = 'not_resolved'

/** Items that do not count are only counted, so that a long history costs little. */
export async function readCounted(database: Database, metric: Metric, filters: readonly Asked[]): Promise<Counted[]> {
  const isNamed = sql`reason is null or reason = ${sql.lit(OPEN)}`
  const columns = ['kind', 'id', 'at', 'repository'].map(
    (name) => sql`case when ${isNamed} then ${sql.id(name)} end as ${sql.id(name)}`,
  )
  const value = sql`case when ${isNamed} then ${sql.raw(database.dialect.double('value'))} end as value`
  const places = Object.values(placeIn(filters)).map((place) => sql`${place} as place`)
  const names = [
    ...places.map(() => sql`place`),
    ...['reason', 'kind', 'id', 'at', 'value', 'repository'].map((name) => sql.id(name)),
  ]
  const { rows } = await sql<Row>`select ${sql.join([...names, sql`count(*) as amount`])} from (
      select ${sql.join([...places, sql`reason`, ...columns, value])}
      from (${stacked(database, metric, filters, false)}) every_item
    ) named group by ${sql.join(names)}`.execute(database.kysely)
  const byPlace = Map.groupBy(rows, ({ place = 0 }) => Number(place))
  return filters.map((_, place) => countedOf(byPlace.get(place) ?? []))
}

function countedOf(rows: readonly Row[]): Counted {
  const leftOut = new Map<Reason, number>()
  for (const { reason, amount } of rows) {
    if (reason !== null) leftOut.set(reason, (leftOut.get(reason) ?? 0) + Number(amount))
  }
  const named = (wanted: Reason | null) => rows.flatMap((row) => (row.reason === wanted ? (itemOf(row) ?? []) : []))
  return { items: named(null).sort(inTurn), open: named(OPEN).sort(inTurn), leftOut }
}

function itemOf({ kind, id, at, value, repository }: Row): CountedItem | undefined {
  if (kind === null || id === null || at === null) return undefined
  return { kind, id, at, value: Number(value ?? 0), repository: repository || null }
}

const inTurn = (one: CountedItem, other: CountedItem): number =>
  one.at.getTime() - other.at.getTime() || (one.id < other.id ? -1 : 1)
