/** Deployment days, by the reference's rules: lower medians over weeks and months, and a six-month figure. */

const DAY = 86_400_000
/** The reference looks at no more days than these. */
const MOST_DAYS = 400

const startOfDay = (time: number) => Math.floor(time / DAY) * DAY
const daysIn = (from: Date, to: Date) => Math.min(MOST_DAYS, Math.ceil((to.getTime() - from.getTime()) / DAY))

interface Range {
  readonly from: Date
  readonly to: Date
}

/** Whole days: the range widened to the days that are listed for it. Empty when it runs backwards. */
export function listedRange({ from, to }: Range): Range {
  const count = daysIn(from, to)
  if (count <= 0) return { from, to: new Date(from.getTime() - 1) }
  const last = startOfDay(to.getTime())
  return { from: new Date(startOfDay(to.getTime() - (count - 1) * DAY)), to: new Date(last + DAY - 1) }
}

function listDays({ from, to }: Range): number[] {
  return Array.from({ length: Math.max(0, daysIn(from, to)) }, (_, index) =>
    startOfDay(to.getTime() - index * DAY),
  ).reverse()
}

/** Monday of the week. */
const weekOf = (day: number) => day - ((new Date(day).getUTCDay() + 6) % 7) * DAY
function monthOf(day: number): number {
  const date = new Date(day)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
}

export function lowerMedian(values: readonly number[]): number | null {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.floor((sorted.length - 1) / 2)] ?? null
}

/** The least value whose percent_rank is at least 0.5; null when there is one value only, or all are equal. */
function upperPick(values: readonly number[]): number | null {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted.find((value) => sorted.length > 1 && sorted.indexOf(value) / (sorted.length - 1) >= 0.5) ?? null
}

export interface Frequency {
  readonly weekly: number | null
  readonly monthly: number | null
  readonly sixMonths: number | null
}

/** `deployed` holds the days (their first milliseconds) with a deployment. */
export function frequencyOf(deployed: ReadonlySet<number>, range: Range): Frequency {
  const days = listDays(range)
  const count = (bucketOf: (day: number) => number) => {
    const buckets = new Map<number, number>()
    for (const day of days) {
      const bucket = bucketOf(day)
      buckets.set(bucket, (buckets.get(bucket) ?? 0) + (deployed.has(day) ? 1 : 0))
    }
    return [...buckets.values()]
  }
  const months = count(monthOf)
  const rolling = months.map((_, index) =>
    months.slice(Math.max(0, index - 5), index + 1).reduce((sum, each) => sum + each, 0),
  )
  const everySixth = rolling.filter((_, index) => (rolling.length - 1 - index) % 6 === 0)
  return { weekly: lowerMedian(count(weekOf)), monthly: lowerMedian(months), sixMonths: upperPick(everySixth) }
}
