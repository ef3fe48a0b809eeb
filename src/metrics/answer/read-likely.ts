import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { type LikelyRange, likelyRange } from '../chance/likely-range.ts'
import type { Item, Metric, MetricFilter } from '../metric.ts'
import { canRead, underPolicy } from '../parts.ts'
import { itemsOf } from '../read/stacked.ts'
import { sampleOf } from './value-of.ts'

/** Reads the likely range of one value. Null if there is too little to say. */
export async function readLikely(
  database: Database,
  metric: Metric,
  filter: MetricFilter,
): Promise<LikelyRange | null> {
  if (!(await canRead(database, metric, filter))) return null
  const value = sql.raw(database.dialect.double('value'))
  const { rows } = await sql<Pick<Item, 'at' | 'value'>>`select at, ${value} as value
    from (${itemsOf(database, metric, filter)}) item where reason is null`.execute(database.kysely)
  const items = rows.flatMap(({ at, value: own }) => (at ? [{ at, value: Number(own) }] : []))
  return likelyRange(sampleOf(underPolicy(metric, filter), filter, items))
}
