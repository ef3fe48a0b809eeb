/** Combines the items of a metric for several filters into one statement. */
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { Sql } from '../calculate/calculation.ts'
import { ITEM_COLUMNS, type Metric } from '../metric.ts'
import { type Asked, alike, partsOf, underPolicy } from '../whole.ts'

/** Selects the items of one project, or of several, of which each item counts once. */
export function itemsOf({ dialect }: Database, metric: Metric, asked: Asked, isExplained = false): Sql {
  const statements = alike(asked).map(({ filter, projects }) => {
    const [only, ...others] = projects
    const project = others.length === 0 && only !== undefined ? only : projects
    return underPolicy(metric, filter).items({ ...filter, project, dialect, isExplained })
  })
  const [first, ...others] = statements
  if (!first) return metric.items({ ...asked, project: [], dialect, isExplained })
  if (partsOf(asked).length === 1) return first
  return once(others.length === 0 ? first : sql.join(statements.map(ownRows), sql` union all `))
}

const ownRows = (items: Sql): Sql => sql`select own.* from (${items}) own`

/**
 * Keeps one row of an item that several projects have. A row that stands for the same rollout as another decides, because that
 * other one counts. Then comes the row that counts: the earliest, and of these the greatest.
 */
const once = (items: Sql): Sql => sql`select ${sql.join(ITEM_COLUMNS.map((name) => sql.id(name)))} from (
    select every_item.*, row_number() over (partition by kind, id order by
      case when reason = 'same_rollout' then 0 when reason is null then 1 else 2 end,
      case when at is null then 1 else 0 end, at, case when value is null then 1 else 0 end, value desc,
      reason, project) as turn
    from (${items}) every_item
  ) ranked where turn = 1`

/** Unites the items of several filters. `place` is the index of the filter that an item belongs to; it is missing if there is only one. */
export function stacked(database: Database, metric: Metric, filters: readonly Asked[], isExplained: boolean): Sql {
  const own = filters.map((filter) => itemsOf(database, metric, filter, isExplained))
  if (own.length === 1) return own[0] as Sql
  const placed = own.map((items, place) => sql`select ${sql.lit(place)} as place, own.* from (${items}) own`)
  return sql.join(placed, sql` union all `)
}

export const placeIn = (filters: readonly Asked[]): Readonly<Record<string, Sql>> =>
  filters.length === 1 ? {} : { place: sql`place` }
