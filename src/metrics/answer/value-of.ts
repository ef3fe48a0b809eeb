/** Makes values of counted items, as `read.ts` makes them in a statement. */
import type { Sample } from '../chance/likely-range.ts'
import { lowerMedian } from '../grades/frequency.ts'
import type { Metric, MetricFilter, Reason } from '../metric.ts'
import { type Bucket, type Explanation, explanationOf, type Point, starts } from '../read/read.ts'
import type { Period } from './answer.ts'
import { startOf } from './calendar.ts'
import type { Counted, CountedItem } from './read-counted.ts'

type Summed = Pick<Metric, 'summary'>
type Dated = Pick<CountedItem, 'kind' | 'at' | 'value'>

/** Null if nothing counts, or nothing is there to divide by. */
export function summaryOf({ summary }: Summed, items: readonly Pick<CountedItem, 'kind' | 'value'>[]): number | null {
  const values = items.map(({ value }) => value)
  if (values.length === 0) return null
  if (summary === 'count' || summary === 'days') return values.length
  if (summary === 'median') return lowerMedian(values)
  const sum = values.reduce((total, value) => total + value, 0)
  if (summary === 'mean') return sum / values.length
  const divisor = deploymentsAmong(items)
  return divisor === 0 ? null : sum / divisor
}

/** The divisor of a ratio. */
const deploymentsAmong = (items: readonly Pick<CountedItem, 'kind'>[]): number =>
  items.reduce((sum, { kind }) => sum + (kind === 'deployment' ? 1 : 0), 0)

/** A ratio as items of which each is on one of its two sides. */
const onesAndZeros = (items: readonly Dated[]): number[] => [
  ...items.flatMap(({ value }) => (value === 1 ? [1] : [])),
  ...items.flatMap(({ kind }) => (kind === 'deployment' ? [0] : [])),
]

/** The value with its reasons, as `readMetric` gives it, but without grades. */
export function explainedBy(metric: Metric, range: Pick<MetricFilter, 'from' | 'to'>, counted: Counted): Explanation {
  const { items, leftOut } = counted
  const left = [...leftOut].map(([grouped, amount]) => ({ grouped, value: null, counted: amount }))
  const kept = items.length === 0 ? [] : [{ grouped: null, value: summaryOf(metric, items), counted: items.length }]
  const rows: { grouped: Reason | null; value: number | null; counted: number }[] = [...left, ...kept]
  return explanationOf(metric, range, rows, daysOf(items))
}

/** The days, by their first moment, on which something counts. */
const daysOf = (items: readonly Pick<CountedItem, 'at'>[]): Set<number> =>
  new Set(items.map(({ at }) => startOf('day', at.getTime())))

export function pointsOf(metric: Metric, range: Period, bucket: Bucket, items: readonly CountedItem[]): Point[] {
  const known = Map.groupBy(items, ({ at }) => startOf(bucket, at.getTime()))
  const nothing = metric.summary === 'count' || metric.summary === 'days' ? 0 : null
  return starts(range, bucket).map((start) => {
    const own = known.get(start.getTime()) ?? []
    return { start, value: own.length === 0 ? nothing : summaryOf(metric, own), counted: own.length }
  })
}

/** Returns what the chance of a value goes by: its items or, where items of one week depend on each other, its weeks. */
export function sampleOf(
  { summary, unit }: Pick<Metric, 'summary' | 'unit'>,
  range: Period,
  items: readonly Dated[],
): Sample {
  const shared = { summary, isShare: unit === 'share' }
  if (summary === 'ratio') return { ...shared, values: onesAndZeros(items) }
  if (summary !== 'days' && summary !== 'count') return { ...shared, values: items.map(({ value }) => value) }
  const byWeek = Map.groupBy(items, ({ at }) => startOf('week', at.getTime()))
  const values = starts(range, 'week').map((start) => {
    const own = byWeek.get(start.getTime()) ?? []
    return summary === 'days' ? daysOf(own).size : own.length
  })
  return { ...shared, values }
}
