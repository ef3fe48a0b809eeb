/** Values, series, rows and explanations of metrics; all from the same items. */
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { UserError } from '../errors.ts'
import { type Grade, gradeOf, REPORTS } from './benchmarks.ts'
import type { Sql } from './calculate/calculation.ts'
import { type Frequency, frequencyOf } from './frequency.ts'
import { type Item, type Metric, type MetricFilter, REASONS, type Reason } from './metric.ts'

export interface MetricValue {
  /** Null when nothing counts, never 0 by accident. */
  readonly value: number | null
  /** Items that the value is made of. */
  readonly counted: number
  /** Items that were looked at. */
  readonly total: number
  readonly frequency?: Frequency
  readonly grades: readonly Grade[]
}

export const itemsOf = ({ dialect }: Database, metric: Metric, filter: MetricFilter, isExplained = false): Sql =>
  metric.items({ ...filter, dialect, isExplained })

export function checkRange({ from, to }: Pick<MetricFilter, 'from' | 'to'>): void {
  if (from <= to) return
  throw new UserError(
    `The time range runs backwards: from ${from.toISOString()} to ${to.toISOString()}. Exchange the two.`,
  )
}

/**
 * One row a group of items: how many there are, and their summary. The lower median is the value in the middle, of two
 * the smaller.
 */
const summarized = (database: Database, metric: Metric, items: Sql, group: Sql): Sql => {
  const value = {
    median: sql`max(case when place * 2 in (size, size + 1) then value end)`,
    mean: sql`avg(value)`,
    count: sql`count(*)`,
    days: sql`count(*)`,
  }[metric.summary]
  const ranked =
    metric.summary === 'median'
      ? sql`, row_number() over (partition by ${group} order by value, id) as place, count(*) over (partition by ${group}) as size`
      : sql``
  return sql`select grouped, ${value} as value, count(*) as counted from (
      select ${group} as grouped, ${sql.raw(database.dialect.double('value'))} as value ${ranked} from (${items}) item
    ) ranked group by grouped`
}

interface Summary<Group> {
  readonly grouped: Group
  readonly value: number | null
  readonly counted: number
}

export interface Explanation extends MetricValue {
  /** Counts add up with `counted` to `total`. */
  readonly leftOut: readonly { readonly reason: Reason; readonly meaning: string; readonly count: number }[]
}

/** The number, and for what does not count the reasons; coarser ones, and quicker, unless `isExplained`. */
export async function readMetric(
  database: Database,
  metric: Metric,
  filter: MetricFilter,
  isExplained = false,
): Promise<Explanation> {
  checkRange(filter)
  const items = itemsOf(database, metric, filter, isExplained)
  const { rows } = await summarized(database, metric, items, sql`reason`)
    .$castTo<Summary<Reason | null>>()
    .execute(database.kysely)
  const total = rows.reduce((sum, row) => sum + Number(row.counted), 0)
  const kept = rows.find((row) => row.grouped === null)
  const leftOut = rows
    .flatMap(({ grouped, counted }) =>
      grouped === null ? [] : [{ reason: grouped, meaning: REASONS[grouped], count: Number(counted) }],
    )
    .sort((one, other) => other.count - one.count || (one.reason < other.reason ? -1 : 1))
  const shared = { counted: Number(kept?.counted ?? 0), total, leftOut }
  if (metric.summary === 'days') {
    const frequency = total === 0 ? NO_FREQUENCY : await readFrequency(database, filter, items)
    const grades = gradesOf(metric, frequency.weekly, frequency)
    return { value: frequency.weekly, ...shared, frequency, grades }
  }
  const nothing = metric.summary === 'count' && total > 0 ? 0 : null
  const value = kept ? kept.value : nothing
  return { value, ...shared, grades: gradesOf(metric, value) }
}

async function readFrequency(database: Database, filter: MetricFilter, items: Sql): Promise<Frequency> {
  const day = sql.raw(database.dialect.startOf('day', 'at'))
  const { rows } = await sql<{
    day: Date
  }>`select distinct ${day} as day from (${items}) item where reason is null`.execute(database.kysely)
  return frequencyOf(new Set(rows.map((row) => row.day.getTime())), filter)
}
const NO_FREQUENCY: Frequency = { weekly: null, monthly: null, sixMonths: null }

const gradesOf = (metric: Metric, value: number | null, frequency?: Frequency): Grade[] =>
  REPORTS.flatMap((report) => gradeOf(metric, report, value, frequency) ?? [])

export type Bucket = 'day' | 'week' | 'month'
export interface Point {
  /** First day of the bucket. */
  readonly start: Date
  readonly value: number | null
  readonly counted: number
}

/** One point a bucket that the range touches, also for those where nothing happened. */
export async function readSeries(
  database: Database,
  metric: Metric,
  filter: MetricFilter,
  bucket: Bucket,
): Promise<Point[]> {
  checkRange(filter)
  const buckets = starts(filter, bucket)
  const items = sql`select * from (${itemsOf(database, metric, filter)}) every_item where reason is null`
  const { rows } = await summarized(database, metric, items, sql.raw(database.dialect.startOf(bucket, 'at')))
    .$castTo<Summary<Date>>()
    .execute(database.kysely)
  const known = new Map(rows.map((row) => [row.grouped.getTime(), row]))
  const nothing = metric.summary === 'count' || metric.summary === 'days' ? 0 : null
  return buckets.map((start) => {
    const row = known.get(start.getTime())
    return { start, value: row ? row.value : nothing, counted: Number(row?.counted ?? 0) }
  })
}

const MOST_POINTS = 5000

function starts({ from, to }: MetricFilter, bucket: Bucket): Date[] {
  const [year, month, day] = [from.getUTCFullYear(), from.getUTCMonth(), from.getUTCDate()]
  const monday = day - ((from.getUTCDay() + 6) % 7)
  const at = (index: number) => {
    if (bucket === 'month') return new Date(Date.UTC(year, month + index, 1))
    return new Date(Date.UTC(year, month, bucket === 'week' ? monday + index * 7 : day + index))
  }
  const all: Date[] = []
  for (let index = 0; at(index) <= to; index++) {
    if (index === MOST_POINTS) {
      throw new UserError(`A series has at most ${MOST_POINTS} points: ask for a shorter time, or for longer buckets.`)
    }
    all.push(at(index))
  }
  return all
}

export interface ItemQuery {
  /** `counted`, a reason, or all. */
  readonly reason?: Reason | 'counted' | undefined
  readonly limit: number
  readonly offset: number
}

/** Rows behind a number, in a stable order. */
export async function readItems(
  database: Database,
  metric: Metric,
  filter: MetricFilter,
  { reason, limit, offset }: ItemQuery,
): Promise<Item[]> {
  const wanted =
    reason === undefined ? sql`1 = 1` : reason === 'counted' ? sql`reason is null` : sql`reason = ${reason}`
  const { rows } = await sql<Item>`select * from (${itemsOf(database, metric, filter, true)}) item where ${wanted}
    order by case when at is null then 1 else 0 end, at, id limit ${sql.lit(limit)} offset ${sql.lit(offset)}`.execute(
    database.kysely,
  )
  return rows.map((item) => ({ ...item, value: item.value === null ? null : Number(item.value) }))
}
