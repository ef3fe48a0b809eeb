/** SQL expressions that mean the same on both database engines. */
import { sql } from 'kysely'
import type { Sql } from '../metrics/calculate/calculation.ts'
import { filled } from '../metrics/express.ts'
import type { PanelQuery } from './dashboard.ts'

export const double = ({ dialect }: PanelQuery, value: Sql): Sql => filled(dialect.double('{value}'), { value })

export const secondsFrom = ({ dialect }: PanelQuery, start: Sql, end: Sql): Sql =>
  filled(dialect.secondsBetween('{start}', '{end}'), { start, end })

export const minutesFrom = (query: PanelQuery, start: Sql, end: Sql): Sql =>
  sql`(${secondsFrom(query, start, end)} / 60)`

export const mean = (query: PanelQuery, value: Sql): Sql => sql`avg(${double(query, value)})`

/** Counts the rows of a group that meet a condition. */
export const countIf = (condition: Sql): Sql => sql`sum(case when ${condition} then 1 else 0 end)`

/** Returns the share of rows that meet the condition. Rows for which it is unknown do not count; null if there are no others. */
export const shareIf = (query: PanelQuery, condition: Sql): Sql =>
  mean(query, sql`(case when ${condition} then 1 else 0 end)`)

/** Returns the first text that is not empty, or a replacement for a missing one. */
export const named = (missing: string, ...names: readonly Sql[]): Sql =>
  sql`coalesce(${sql.join([...names.map((name) => sql`nullif(${name}, '')`), sql.lit(missing)])})`

/** Classes of values: below each of the limits, and the rest. They become the columns `place` and `label`. */
export interface Classes {
  readonly below: readonly (readonly [limit: number, label: string])[]
  readonly rest: string
}
export function classOf(value: Sql, { below, rest }: Classes): Sql {
  const cases = (result: (index: number, label: string) => Sql) =>
    sql.join(
      below.map(([limit, label], index) => sql`when ${value} < ${sql.lit(limit)} then ${result(index, label)}`),
      sql` `,
    )
  return sql`case ${cases((index) => sql.lit(index))} else ${sql.lit(below.length)} end as place,
    case ${cases((_, label) => sql.lit(label))} else ${sql.lit(rest)} end as label`
}
