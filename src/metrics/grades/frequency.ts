/** Days with a deployment: lower medians over weeks and months as in DevLake, and a figure for six months. */

const DAY = 86_400_000
const SHORTEST_MONTH = 28
const HALF_YEAR = 6

const startOfDay = (time: number) => Math.floor(time / DAY) * DAY

interface Range {
  readonly from: Date
  readonly to: Date
}

/**
 * Returns every day that the range touches. If the range ends with the first moment of a day, that day belongs to it only if
 * something was deployed then.
 */
function listDays({ from, to }: Range, deployed: ReadonlySet<number>): number[] {
  const first = startOfDay(from.getTime())
  const end = to.getTime()
  const last = deployed.has(end) ? end : startOfDay(Math.max(from.getTime(), end - 1))
  return Array.from({ length: (last - first) / DAY + 1 }, (_, index) => first + index * DAY)
}

/** Returns the Monday of the week. */
const weekOf = (day: number) => day - ((new Date(day).getUTCDay() + 6) % 7) * DAY
function monthOf(day: number): number {
  const date = new Date(day)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
}

const monthAfter = (day: number) => {
  const date = new Date(day)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1)
}

export function lowerMedian(values: readonly number[]): number | null {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null
}

/** Returns the least value whose percent_rank is at least 0.5, or null when there is only one value or all are equal. */
function upperPick(values: readonly number[]): number | null {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted.find((value) => sorted.length > 1 && sorted.indexOf(value) / (sorted.length - 1) >= 0.5) ?? null
}

export interface Frequency {
  readonly weekly: number | null
  /** Null when the range is too short to tell that no deployment happened in a month. */
  readonly monthly: number | null
  /** Null when the range is too short to tell that no deployment happened in six months. */
  readonly sixMonths: number | null
  /** The number of weeks that the range touches. */
  readonly weeks: number
}

/** `deployed` holds the days (their first milliseconds) with a deployment. */
export function frequencyOf(deployed: ReadonlySet<number>, range: Range): Frequency {
  const days = range.from <= range.to ? listDays(range, deployed) : []
  const count = (some: readonly number[], bucketOf: (day: number) => number) => {
    const buckets = new Map<number, number>()
    for (const day of some) {
      const bucket = bucketOf(day)
      buckets.set(bucket, (buckets.get(bucket) ?? 0) + (deployed.has(day) ? 1 : 0))
    }
    return [...buckets.values()]
  }
  const all = days.filter((day) => deployed.has(day)).length
  const weeks = count(days, weekOf)
  const months = count(wholeMonths(days), monthOf)
  const known = (figure: number | null, isLongEnough: boolean) => figure ?? (isLongEnough || all > 0 ? all : null)
  return {
    weekly: lowerMedian(weeks),
    monthly: known(lowerMedian(months), days.length >= SHORTEST_MONTH),
    sixMonths: known(sixMonthsOf(months), months.length >= HALF_YEAR),
    weeks: weeks.length,
  }
}

/** Leaves out months that the range covers only in part, because nothing is known about their other days. */
function wholeMonths(days: readonly number[]): number[] {
  const [first, last] = [days.at(0), days.at(-1)]
  if (first === undefined || last === undefined) return []
  const from = monthOf(first) === first ? first : monthAfter(first)
  const to = monthAfter(last) === last + DAY ? last : monthOf(last) - DAY
  return days.filter((day) => day >= from && day <= to)
}

function sixMonthsOf(months: readonly number[]): number | null {
  const rolling = months.map((_, index) =>
    months.slice(Math.max(0, index - HALF_YEAR + 1), index + 1).reduce((sum, each) => sum + each, 0),
  )
  return upperPick(rolling.filter((_, index) => (rolling.length - 1 - index) % HALF_YEAR === 0))
}
