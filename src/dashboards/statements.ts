/** SQL statements that panels share. */
import { sql } from 'kysely'
import type { Sql } from '../metrics/calculate/calculation.ts'
import { filled } from '../metrics/express.ts'
import { deploymentsInSql, knowsIncidents, NOTHING_KNOWN } from '../metrics/grades/evidence.ts'
import type { Metric, MetricQuery } from '../metrics/metric.ts'
import { summarized } from '../metrics/read/read.ts'
import { ALL, type PanelQuery } from './dashboard.ts'

/** The condition that a column has one of the chosen values of a list. */
export function isChosen(query: PanelQuery, variable: string, column: Sql): Sql {
  const values = query.variable(variable)
  return sql`(${sql.lit(ALL)} in (${values}) or ${column} in (${values}))`
}

export const isInRange = ({ from, to }: PanelQuery, moment: Sql): Sql => sql`${moment} between ${from} and ${to}`

const UNITS = ['day', 'week', 'month'] as const

/** Chooses the expression for the value of the variable `interval`. */
const byInterval = (query: PanelQuery, each: (unit: (typeof UNITS)[number]) => Sql): Sql =>
  sql`case ${query.variable('interval')} when 'day' then ${each('day')} when 'week' then ${each('week')} else ${each('month')} end`

/** Returns the start of the interval that contains a moment. */
export const intervalOf = (query: PanelQuery, moment: Sql): Sql =>
  byInterval(query, (unit) => filled(query.dialect.startOf(unit, '{moment}'), { moment }))

const digits = (most: number) =>
  Array.from({ length: most + 1 }, (_, digit) => `select ${digit} as n`).join(' union all ')
/** Numbers from 0 to 999, enough for the weeks of nineteen years. A recursive statement would end earlier on one of the database engines. */
const NUMBERS = `select a.n + 10 * b.n + 100 * c.n as n from (${digits(9)}) a cross join (${digits(9)}) b cross join (${digits(9)}) c`
/** Thousands from 0 to 4, which are needed only for days: enough for thirteen years. */
const THOUSANDS = digits(4)

/** Returns each interval that the range touches (`time`), including those in which nothing happened. */
function intervalsOf(query: PanelQuery): Sql {
  const first = intervalOf(query, query.from)
  const count = '(numbers.n + 1000 * thousands.n)'
  const start = byInterval(query, (unit) => sql.raw(query.dialect.later(unit, 'bounds.first', count)))
  return sql`select time from (select ${start} as time, bounds.last from (${sql.raw(NUMBERS)}) numbers
    inner join (${sql.raw(THOUSANDS)}) thousands on thousands.n = 0 or ${query.variable('interval')} = 'day'
    cross join (select ${first} as first, ${intervalOf(query, query.to)} as last) bounds) every_interval where time <= last`
}

/** Adds the intervals without rows to rows of `time` and other columns. `columns` are taken from `own`. */
export const everyInterval = (query: PanelQuery, rows: Sql, columns: Sql): Sql =>
  sql`select every.time, ${columns} from (${intervalsOf(query)}) every left join (${rows}) own on own.time = every.time
    order by every.time`

/** Measures over the rows of each interval. The rows have a column `at`. */
interface Measures {
  /** Null in an interval without rows … */
  readonly values?: Readonly<Record<string, Sql>>
  /** … and 0 in one. */
  readonly counts?: Readonly<Record<string, Sql>>
}

export function measuresByInterval(query: PanelQuery, rows: Sql, { values = {}, counts = {} }: Measures): Sql {
  const own = Object.entries({ ...values, ...counts }).map(([name, measure]) => sql`${measure} as ${sql.id(name)}`)
  const placed = sql`select ${intervalOf(query, sql`at`)} as time, happened.* from (${rows}) happened where ${isInRange(query, sql`at`)}`
  const columns = [
    ...Object.keys(values).map((name) => sql`${sql.ref(`own.${name}`)} as ${sql.id(name)}`),
    ...Object.keys(counts).map((name) => sql`coalesce(${sql.ref(`own.${name}`)}, 0) as ${sql.id(name)}`),
  ]
  return everyInterval(
    query,
    sql`select time, ${sql.join(own)} from (${placed}) placed group by time`,
    sql.join(columns),
  )
}

/** Counts events of each kind in each interval. The statement for each kind returns `at`. */
export function eventsByInterval(query: PanelQuery, events: Readonly<Record<string, Sql>>): Sql {
  const names = Object.keys(events)
  const rows = names.map((name) => sql`select ${sql.lit(name)} as event, happening.at from (${events[name]}) happening`)
  const measures = names.map((name) => [name, sql`sum(case when event = ${sql.lit(name)} then 1 else 0 end)`])
  return measuresByInterval(query, sql.join(rows, sql` union all `), { counts: Object.fromEntries(measures) })
}

/** Returns the lower median (`value`) and `counted` for each interval. The rows have `id`, `at` and `value`. */
export function mediansByInterval(query: PanelQuery, rows: Sql): Sql {
  const own = sql`select * from (${rows}) measured where value is not null and ${isInRange(query, sql`at`)}`
  const medians = summarized(query.dialect, { summary: 'median' }, own, { time: intervalOf(query, sql`at`) })
  return everyInterval(query, medians, sql`own.value, coalesce(own.counted, 0) as counted`)
}

export interface Narrowing {
  readonly team?: Sql
  readonly repository?: Sql
  /** An item of a list of projects, instead of the chosen project. */
  readonly project?: Sql
  /** The incidents that a service report is about. */
  readonly service?: MetricQuery['service']
  /** A further condition on the columns of an item. */
  readonly where?: Sql
}

export const metricQueryOf = (query: PanelQuery, { where: _, ...narrowing }: Narrowing = {}): MetricQuery => ({
  dialect: query.dialect,
  project: query.variable('project'),
  from: query.from,
  to: query.to,
  environment: 'PRODUCTION',
  policy: query.policy,
  isExplained: false,
  ...narrowing,
})

/** Selects the items that count. */
export const countedItems = (query: PanelQuery, metric: Metric, narrowing?: Narrowing): Sql =>
  sql`select * from (${metric.items(metricQueryOf(query, narrowing))}) every_item
    where reason is null and ${narrowing?.where ?? sql`1 = 1`}`

/** Recognises rates whose value 0 would claim that nothing failed, although incidents may be unknown. */
const isRateOfIncidents = ({ unit, madeOf, divides }: Metric): boolean =>
  unit === 'share' && madeOf.includes('incidents') && !divides

/** Tells whether the number alone may be misleading. */
export const hasWords = (metric: Metric): boolean => metric.summary === 'days' || isRateOfIncidents(metric)

/** The condition, for rows with a `value`, that a rate of 0 only means that no incident would be known. */
const isUnknownRate = (query: PanelQuery, { project = query.variable('project') }: Narrowing = {}): Sql =>
  sql`value = 0 and not ${knowsIncidents(project)}`

/**
 * Returns one row: `value` and the number of its items (`counted`). If the number alone may be misleading, it also has `words`. A
 * ratio has the two numbers that it divides instead of `counted`.
 */
export function metricValue(query: PanelQuery, metric: Metric, narrowing?: Narrowing): Sql {
  const own = summarized(query.dialect, metric, countedItems(query, metric, narrowing), {})
  if (metric.divides) {
    const [part, whole] = metric.divides.map((material) => sql.id(material))
    const below = sql`case when value is null then 0 else round(counted / (1 + value)) end`
    return sql`select value, counted - below as ${part}, below as ${whole}
      from (select value, counted, ${below} as below from (${own}) summary) divided`
  }
  if (isRateOfIncidents(metric)) {
    const percent = sql`replace(concat(cast(100 * value as decimal(12, 1)), ' %'), '.0 %', ' %')`
    return sql`select value, counted, case when value is null then null when ${isUnknownRate(query, narrowing)}
      then ${sql.lit(NOTHING_KNOWN)} else ${percent} end as words from (${own}) summary`
  }
  return metric.summary === 'days'
    ? sql`select case when counted > 0 then value end as value, counted, words from (${daysOf(query, metric, 'week', narrowing)}) weekly`
    : own
}

/** Returns one row for every interval of the range: `time`, `value`, `counted`. */
export function seriesOf(query: PanelQuery, metric: Metric, narrowing?: Narrowing): Sql {
  const items = countedItems(query, metric, narrowing)
  const rows = summarized(query.dialect, metric, items, { time: intervalOf(query, sql`at`) })
  const isCounted = metric.summary === 'count' || metric.summary === 'days'
  const value = isCounted ? sql`coalesce(own.value, 0) as value` : sql`own.value`
  if (isRateOfIncidents(metric)) {
    // A line of zeros would claim that nothing failed.
    const known = sql`case when ${isUnknownRate(query, narrowing)} then null else value end as value`
    const told = sql`select time, ${known}, counted from (${rows}) summary`
    return everyInterval(query, told, sql`own.value, coalesce(own.counted, 0) as counted`)
  }
  return everyInterval(query, rows, sql`${value}, coalesce(own.counted, 0) as counted`)
}

/**
 * Returns the lower median of days with something that counts, over all weeks that the range touches, or over the whole months
 * within it. Intervals without any such day are known only by their number, and are sorted before all others. `words` is the
 * value as text. If the median interval has no such day, it names the total instead, because the number would say that there were
 * none.
 */
export function daysOf(query: PanelQuery, metric: Metric, unit: 'week' | 'month', narrowing?: Narrowing): Sql {
  const { dialect } = query
  const start = (each: 'day' | 'week' | 'month', moment: Sql) => filled(dialect.startOf(each, '{moment}'), { moment })
  // If the range ends with the first moment of a day, that day does not belong to it.
  const last = filled(dialect.secondsBefore('{to}', '0.001'), { to: query.to })
  const bounds = sql`select ${start(unit, query.from)} as first, ${start(unit, last)} as last, ${start('day', query.from)} as first_day,
    ${start('day', last)} as last_day`
  const isWhole = sql`time >= first_day and ${sql.raw(dialect.later(unit, 'time', '1'))} <= ${sql.raw(dialect.later('day', 'last_day', '1'))}`
  const touched = sql`select time from (select ${sql.raw(dialect.later(unit, 'bounds.first', 'numbers.n'))} as time, bounds.*
    from (${sql.raw(NUMBERS)}) numbers cross join (${bounds}) bounds) every_bucket
    where time <= last ${unit === 'month' ? sql`and ${isWhole}` : sql``}`
  const days = sql`select ${sql.raw(dialect.startOf(unit, 'at'))} as bucket, ${sql.raw(dialect.startOf('day', 'at'))} as day,
    count(*) as happened from (${countedItems(query, metric, narrowing)}) item group by 1, 2`
  const buckets = sql`select bucket, count(*) as days, sum(happened) as happened from (${days}) each_day group by bucket`
  const ranked = sql`select coalesce(own.days, 0) as days, own.happened, row_number() over (order by coalesce(own.days, 0)) as place,
    count(*) over () as size from (${touched}) every left join (${buckets}) own on own.bucket = every.time`
  const median = sql`select max(case when place * 2 in (size, size + 1) then days end) as value, coalesce(sum(happened), 0) as counted,
    max(size) as size from (${ranked}) each_one`
  const words = sql`case when value > 0 then concat(value, case when value = 1 then ' day' else ' days' end, ${sql.lit(` per ${unit}`)})
    else ${deploymentsInSql(sql`counted`, sql`size`, unit)} end`
  return sql`select value, counted, case when counted > 0 then ${words} end as words from (${median}) median`
}
