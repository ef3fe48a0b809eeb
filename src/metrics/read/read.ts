/** Reads values, series and explanations of metrics, all from the same items. */
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { Dialect } from '../../database/dialect.ts'
import { UserError } from '../../errors.ts'
import type { Sql } from '../calculate/calculation.ts'
import { type LeftOut, NO_DEPLOYMENT_IN_RANGE, type NoData, nothingCounts } from '../findings/no-data.ts'
import type { Grade } from '../grades/benchmarks.ts'
import { deploymentsIn, type NoGrade } from '../grades/evidence.ts'
import { type Frequency, frequencyOf } from '../grades/frequency.ts'
import { readGrades } from '../grades/read-grades.ts'
import { type Metric, type MetricFilter, REASONS, type Reason } from '../metric.ts'
import { inParts } from '../parts.ts'
import { NO_CATEGORY_FIELD } from '../service/service-incidents.ts'
import { isSaidInCounts, valueInWords } from '../words/value-words.ts'
import { placeIn, stacked } from './stacked.ts'

export interface MetricValue {
  /** Null when nothing counts, so that a missing value is never shown as 0. */
  readonly value: number | null
  /** The number of items that the value is made of. */
  readonly counted: number
  /** The number of items that were looked at. */
  readonly total: number
  /** The value as text for people. */
  readonly inWords: string
  readonly frequency?: Frequency
  readonly grades: readonly Grade[]
  /** If such values have grades, but this one has none: why. */
  readonly noGrade?: NoGrade
  /** If there is no value: why. */
  readonly noData?: NoData
}

export function checkRange({ from, to }: Pick<MetricFilter, 'from' | 'to'>): void {
  if (from <= to) return
  throw new UserError(`The time range runs backwards: from ${from.toISOString()} to ${to.toISOString()}. Swap the two.`)
}

/**
 * Returns one row for each group of items, or one for all: the number of items and their summary. The lower median is the value
 * in the middle; of two values in the middle it is the smaller.
 */
export function summarized(
  dialect: Dialect,
  metric: Pick<Metric, 'summary'>,
  items: Sql,
  groups: Readonly<Record<string, Sql>>,
): Sql {
  const names = Object.keys(groups).map((name) => sql`${sql.id(name)}`)
  const columns = Object.entries(groups).map(([name, value]) => sql`${value} as ${sql.id(name)}`)
  const partition = names.length === 0 ? sql`` : sql`partition by ${sql.join(Object.values(groups))}`
  const value = {
    median: sql`max(case when middle * 2 in (size, size + 1) then value end)`,
    mean: sql`avg(value)`,
    ratio: sql`sum(value) / nullif(count(*) - sum(value), 0)`,
    count: sql`count(*)`,
    days: sql`count(*)`,
  }[metric.summary]
  const ranked =
    metric.summary === 'median'
      ? [sql`row_number() over (${partition} order by value, id) as middle`, sql`count(*) over (${partition}) as size`]
      : []
  const own = [...columns, sql`${sql.raw(dialect.double('value'))} as value`, ...ranked]
  return sql`select ${sql.join([...names, sql`${value} as value`, sql`count(*) as counted`])} from (
      select ${sql.join(own)} from (${items}) item
    ) ranked ${names.length === 0 ? sql`` : sql`group by ${sql.join(names)}`}`
}

interface Summary<Group> {
  readonly place?: number
  readonly grouped: Group
  readonly value: number | null
  readonly counted: number
}

export interface Explanation extends MetricValue {
  /** These counts and `counted` add up to `total`. */
  readonly leftOut: readonly LeftOut[]
}

/** Reads the number and the reasons of items that do not count. Unless `isExplained`, the reasons are coarser and read faster. */
export async function readMetric(
  database: Database,
  metric: Metric,
  filter: MetricFilter,
  isExplained = false,
): Promise<Explanation> {
  const [explained] = await readMetrics(database, metric, [filter], isExplained)
  return explained as Explanation
}

/** Does the same as `readMetric` for several filters, such as many projects, with no more statements than for one. */
export async function readMetrics(
  database: Database,
  metric: Metric,
  filters: readonly MetricFilter[],
  isExplained = false,
): Promise<Explanation[]> {
  for (const filter of filters) checkRange(filter)
  return inParts(
    database,
    metric,
    filters,
    (own, some) => readTogether(database, own, some, isExplained),
    () => ({ ...NO_VALUE, counted: 0, total: 0, leftOut: [], grades: [], noData: NO_CATEGORY_FIELD }),
  )
}

async function readTogether(
  database: Database,
  metric: Metric,
  filters: readonly MetricFilter[],
  isExplained: boolean,
): Promise<Explanation[]> {
  const items = stacked(database, metric, filters, isExplained)
  const { rows } = await summarized(database.dialect, metric, items, { ...placeIn(filters), grouped: sql`reason` })
    .$castTo<Summary<Reason | null>>()
    .execute(database.kysely)
  const days =
    metric.summary === 'days' && rows.length > 0
      ? await readDays(database, items, filters)
      : new Map<number, ReadonlySet<number>>()
  const byPlace = Map.groupBy(rows, ({ place = 0 }) => Number(place))
  const read = filters.map((filter, place) => explanationOf(metric, filter, byPlace.get(place) ?? [], days.get(place)))
  const grades = await readGrades(database, metric, filters, read)
  return read.map((each, place) => ({ ...each, ...grades[place] }))
}

/** The value when nothing counts. */
export const NO_VALUE = { value: null, inWords: valueInWords('count', null) }

function explanationOf(
  metric: Metric,
  filter: MetricFilter,
  rows: readonly Summary<Reason | null>[],
  days: ReadonlySet<number> = new Set(),
): Explanation {
  const total = rows.reduce((sum, row) => sum + Number(row.counted), 0)
  const kept = rows.find((row) => row.grouped === null)
  const leftOut = rows
    .flatMap(({ grouped, counted }) =>
      grouped === null ? [] : [{ reason: grouped, meaning: REASONS[grouped], count: Number(counted) }],
    )
    .sort((one, other) => other.count - one.count || (one.reason < other.reason ? -1 : 1))
  const shared = { counted: Number(kept?.counted ?? 0), total, leftOut }
  if (!kept && (metric.summary !== 'count' || total === 0)) {
    const noData = nothingCounts(metric, total, leftOut)
    const frequency = metric.summary === 'days' && { frequency: { ...frequencyOf(days, filter), ...NO_FREQUENCY } }
    return { ...NO_VALUE, ...shared, ...frequency, grades: [], noData }
  }
  if (metric.summary === 'days') {
    const frequency = frequencyOf(days, filter)
    const { weekly: value, weeks } = frequency
    const inWords = isSaidInCounts(metric.unit, value)
      ? deploymentsIn(shared.counted, weeks)
      : valueInWords(metric.unit, value)
    return { value, inWords, ...shared, frequency, grades: [] }
  }
  const value = kept ? kept.value : 0
  const noData = value === null ? { noData: NO_DEPLOYMENT_IN_RANGE } : {}
  return { value, inWords: valueInWords(metric.unit, value), ...shared, grades: [], ...noData }
}

/** Reads, for each filter, the days on which something counts. */
async function readDays(
  database: Database,
  items: Sql,
  filters: readonly MetricFilter[],
): Promise<Map<number, ReadonlySet<number>>> {
  const day = sql.raw(database.dialect.startOf('day', 'at'))
  const columns = sql.join([...Object.values(placeIn(filters)), sql`${day} as day`])
  const { rows } = await sql<{
    place?: number
    day: Date
  }>`select distinct ${columns} from (${items}) item where reason is null`.execute(database.kysely)
  const byPlace = Map.groupBy(rows, ({ place = 0 }) => Number(place))
  return new Map([...byPlace].map(([place, own]) => [place, new Set(own.map((row) => row.day.getTime()))]))
}
const NO_FREQUENCY = { weekly: null, monthly: null, sixMonths: null }

export type Bucket = 'day' | 'week' | 'month'
export interface Point {
  /** First day of the bucket. */
  readonly start: Date
  readonly value: number | null
  readonly counted: number
}

/** Returns, for each filter, one point for each bucket that its range touches, also for buckets in which nothing happened. */
export async function readManySeries(
  database: Database,
  metric: Metric,
  filters: readonly MetricFilter[],
  bucket: Bucket,
): Promise<Point[][]> {
  for (const filter of filters) checkRange(filter)
  return inParts(
    database,
    metric,
    filters,
    (own, some) => readSeriesTogether(database, own, some, bucket),
    (filter) => starts(filter, bucket).map((start) => ({ start, value: null, counted: 0 })),
  )
}

async function readSeriesTogether(
  database: Database,
  metric: Metric,
  filters: readonly MetricFilter[],
  bucket: Bucket,
): Promise<Point[][]> {
  const items = sql`select * from (${stacked(database, metric, filters, false)}) every_item where reason is null`
  const start = sql.raw(database.dialect.startOf(bucket, 'at'))
  const { rows } = await summarized(database.dialect, metric, items, { ...placeIn(filters), grouped: start })
    .$castTo<Summary<Date>>()
    .execute(database.kysely)
  const byPlace = Map.groupBy(rows, ({ place = 0 }) => Number(place))
  const nothing = metric.summary === 'count' || metric.summary === 'days' ? 0 : null
  return filters.map((filter, place) => {
    const known = new Map((byPlace.get(place) ?? []).map((row) => [row.grouped.getTime(), row]))
    return starts(filter, bucket).map((start) => {
      const row = known.get(start.getTime())
      return { start, value: row ? row.value : nothing, counted: Number(row?.counted ?? 0) }
    })
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
