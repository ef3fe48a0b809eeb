import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { type LikelyRange, likelyRange } from '../chance/likely-range.ts'
import type { Item, Metric } from '../metric.ts'
import { itemsOf } from '../read/stacked.ts'
import { type Asked, metricOf, readable } from '../whole.ts'
import { sampleOf } from './value-of.ts'

/** Reads the likely range of one value. Null if there is too little to say. */
export async function readLikely(database: Database, metric: Metric, asked: Asked): Promise<LikelyRange | null> {
  const filter = await readable(database, metric, asked)
  if (!filter) return null
  const value = sql.raw(database.dialect.double('value'))
  const { rows } = await sql<Pick<Item, 'kind' | 'at' | 'value'>>`select kind, at, ${value} as value
    from (${itemsOf(database, metric, filter)}) item where reason is null`.execute(database.kysely)
  const items = rows.flatMap(({ kind, at, value: own }) => (at ? [{ kind, at, value: Number(own) }] : []))
  return likelyRange(sampleOf(metricOf(metric, filter), filter, items))
}
