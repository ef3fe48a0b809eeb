/** Reads the rows behind a number: those that count, those that count against it, and those left out. */
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { UserError } from '../../errors.ts'
import type { Sql } from '../calculate/calculation.ts'
import type { Item, Metric, MetricFilter, Reason } from '../metric.ts'
import { canRead, underPolicy } from '../parts.ts'
import { itemsOf } from './stacked.ts'

interface ItemQuery {
  /** `counted`; `against`, which is the part of `counted` that counts against the number; a reason; or undefined for all. */
  readonly reason?: Reason | 'counted' | 'against' | undefined
  readonly limit: number
  readonly offset: number
}

/** Reads a page of the rows behind a number, in a stable order. */
export async function readItems(
  database: Database,
  metric: Metric,
  filter: MetricFilter,
  { reason, limit, offset }: ItemQuery,
): Promise<Item[]> {
  if (!(await canRead(database, metric, filter))) return []
  const { rows } =
    await sql<Item>`select * from (${itemsOf(database, metric, filter, true)}) item where ${wanted(underPolicy(metric, filter), reason)}
    order by case when at is null then 1 else 0 end, at, id limit ${sql.lit(limit)} offset ${sql.lit(offset)}`.execute(
      database.kysely,
    )
  return rows.map((item) => ({ ...item, value: item.value === null ? null : Number(item.value) }))
}

/** Only in a share can an item by itself make the value worse. */
const hasAgainst = ({ unit }: Pick<Metric, 'unit'>): boolean => unit === 'share'

function wanted(metric: Metric, reason: ItemQuery['reason']): Sql {
  if (reason === undefined) return sql`1 = 1`
  if (reason === 'counted') return sql`reason is null`
  if (reason !== 'against') return sql`reason = ${reason}`
  if (!hasAgainst(metric)) {
    throw new UserError(`Nothing counts against ${metric.name}, which is no share: leave reason=against out.`)
  }
  return sql`reason is null and value = ${sql.lit(metric.better === 'lower' ? 1 : 0)}`
}

/** Counts the rows of all pages. */
export async function countItems(
  database: Database,
  metric: Metric,
  filter: MetricFilter,
  reason: ItemQuery['reason'],
): Promise<number> {
  if (!(await canRead(database, metric, filter))) return 0
  const { rows } = await sql<{ amount: number }>`select count(*) as amount
    from (${itemsOf(database, metric, filter, true)}) item where ${wanted(underPolicy(metric, filter), reason)}`.execute(
    database.kysely,
  )
  return Number(rows[0]?.amount ?? 0)
}

/** Counts the items that count against the number; null if none can. */
export async function countAgainst(database: Database, metric: Metric, filter: MetricFilter): Promise<number | null> {
  const own = underPolicy(metric, filter)
  if (!hasAgainst(own)) return null
  if (!(await canRead(database, metric, filter))) return 0
  const { rows } = await sql<{ amount: number }>`select count(*) as amount
    from (${itemsOf(database, metric, filter)}) item where ${wanted(own, 'against')}`.execute(database.kysely)
  return Number(rows[0]?.amount ?? 0)
}
