/** Combines the items of a metric for several filters into one statement. */
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { Sql } from '../calculate/calculation.ts'
import type { Metric, MetricFilter } from '../metric.ts'
import { underPolicy } from '../parts.ts'

export const itemsOf = ({ dialect }: Database, metric: Metric, filter: MetricFilter, isExplained = false): Sql =>
  underPolicy(metric, filter).items({ ...filter, dialect, isExplained })

/** Unites the items of several filters. `place` is the index of the filter that an item belongs to; it is missing if there is only one. */
export function stacked(
  database: Database,
  metric: Metric,
  filters: readonly MetricFilter[],
  isExplained: boolean,
): Sql {
  const own = filters.map((filter) => itemsOf(database, metric, filter, isExplained))
  if (own.length === 1) return own[0] as Sql
  const placed = own.map((items, place) => sql`select ${sql.lit(place)} as place, own.* from (${items}) own`)
  return sql.join(placed, sql` union all `)
}

export const placeIn = (filters: readonly MetricFilter[]): Readonly<Record<string, Sql>> =>
  filters.length === 1 ? {} : { place: sql`place` }
