/**
 * Ranges that hold the true value nine times in ten, and ranges of differences.
 * median         ranks of the sorted items (`median-ranks.ts`)
 * share, ratio   Wilson's range of a share; of two shares, Newcombe's
 * mean, count    resampled items or weeks
 * days           ranks of the weeks, because deployments of one week are no independent items
 */
import type { Metric } from '../metric.ts'
import { medianAt } from './median-ranks.ts'
import { seededRandom } from './seeded-random.ts'

/** Holds the true value nine times in ten. */
export interface LikelyRange {
  readonly low: number
  readonly high: number
}

/** The parts of a value. */
export interface Sample {
  readonly summary: Metric['summary']
  /** True if each value is 0 or 1. */
  readonly isShare: boolean
  /** One for each item; for `days` and `count`, one for each week. */
  readonly values: readonly number[]
}

const TAIL = 0.05
/** The 95th percentile of the normal distribution: a twentieth lies above it, a twentieth below its opposite. */
const Z = 1.644_853_627
const DRAWS = 1000
/** With fewer items, even the least and the greatest hold the true median less than nine times in ten. */
const LEAST_ITEMS = 5
/** More items than this are resampled in groups, so that the time stays bounded. */
const MOST_RESAMPLED = 100
const SEED = 20_251_119

/** A value as it might have come out, with the value that came out. */
interface Spread {
  readonly value: number
  readonly range: () => LikelyRange
  /** Draws values that might be the true one. */
  readonly draw: (random: () => number) => number
}

/** Null if there is too little to say. */
export const likelyRange = (sample: Sample): LikelyRange | null => spreadOf(sample)?.range() ?? null

/** The likely range of `now` minus `before`. Null if there is too little to say of one of them. */
export function likelyDifference(now: Sample, before: Sample): LikelyRange | null {
  const [one, other] = [spreadOf(now), spreadOf(before)]
  if (!one || !other) return null
  if (isShared(now) && isShared(before)) return differenceOfShares(one, other)
  const random = seededRandom(SEED)
  return rangeOf(Float64Array.from({ length: DRAWS }, () => one.draw(random) - other.draw(random)))
}

/** True if the range leaves open whether anything changed, or if there is no range. */
export const mayBeChance = (difference: LikelyRange | null): boolean =>
  difference === null || (difference.low <= 0 && difference.high >= 0)

const isShared = ({ summary, isShare }: Sample): boolean => summary === 'ratio' || (summary === 'mean' && isShare)

function spreadOf(sample: Sample): Spread | null {
  const { summary, values } = sample
  if (isShared(sample)) return spreadOfShare(sample)
  if (values.length < LEAST_ITEMS) return null
  if (summary === 'median' || summary === 'days') return spreadOfMedian(values, summary === 'days')
  return spreadOfMean(values, summary === 'count' ? values.length : 1)
}

function rangeOf(draws: Float64Array): LikelyRange {
  draws.sort()
  const at = (share: number) => draws[Math.min(draws.length - 1, Math.floor(draws.length * share))] as number
  return { low: at(TAIL), high: at(1 - TAIL) }
}

function spreadOfMedian(values: readonly number[], isWhole: boolean): Spread {
  const sorted = Float64Array.from(values).sort()
  const between = medianAt(sorted)
  const at = isWhole ? (share: number) => Math.round(between(share)) : between
  return {
    value: sorted[Math.floor((sorted.length - 1) / 2)] as number,
    range: () => ({ low: at(TAIL), high: at(1 - TAIL) }),
    draw: (random) => at(random()),
  }
}

/** Mixes values in the same way whatever order they come in. */
function shuffled(values: readonly number[]): Float64Array {
  const mixed = Float64Array.from(values).sort()
  const random = seededRandom(SEED)
  for (let last = mixed.length - 1; last > 0; last--) {
    const chosen = Math.floor(random() * (last + 1))
    const value = mixed[last] as number
    mixed[last] = mixed[chosen] as number
    mixed[chosen] = value
  }
  return mixed
}

/** Draws as many groups as there are, each of items that chance put together. */
function spreadOfMean(values: readonly number[], times: number): Spread {
  const groups = Math.min(values.length, MOST_RESAMPLED)
  const mixed = shuffled(values)
  const sums = new Float64Array(groups)
  const sizes = new Float64Array(groups)
  for (const [index, value] of mixed.entries()) {
    sums[index % groups] = (sums[index % groups] as number) + value
    sizes[index % groups] = (sizes[index % groups] as number) + 1
  }
  const draw = (random: () => number) => {
    let [sum, size] = [0, 0]
    for (let turn = 0; turn < groups; turn++) {
      const chosen = Math.floor(random() * groups)
      sum += sums[chosen] as number
      size += sizes[chosen] as number
    }
    return (sum / size) * times
  }
  const range = () => {
    const random = seededRandom(SEED)
    return rangeOf(Float64Array.from({ length: DRAWS }, () => draw(random)))
  }
  return { value: (values.reduce((sum, each) => sum + each, 0) / values.length) * times, range, draw }
}

/** Wilson's range. A ratio compares the ones with the zeros, so its ends are odds. */
function spreadOfShare({ summary, values }: Sample): Spread | null {
  const size = values.length
  if (size === 0) return null
  const ones = values.reduce((sum, each) => sum + each, 0)
  const share = ones / size
  const weight = 1 + Z ** 2 / size
  const centre = (share + Z ** 2 / (2 * size)) / weight
  const reach = (Z / weight) * Math.sqrt((share * (1 - share)) / size + Z ** 2 / (4 * size ** 2))
  // At the very ends the formula is exact, but its rounding is not.
  const low = ones === 0 ? 0 : Math.max(0, centre - reach)
  const high = ones === size ? 1 : Math.min(1, centre + reach)
  if (summary !== 'ratio') return { value: share, range: () => ({ low, high }), draw: () => share }
  if (ones === size) return null
  const odds = (of: number) => of / (1 - of)
  return { value: odds(share), range: () => ({ low: odds(low), high: odds(high) }), draw: () => odds(share) }
}

/** Newcombe's range: each end takes the distance of the one value to its own end, and of the other to its opposite end. */
function differenceOfShares(now: Spread, before: Spread): LikelyRange {
  const difference = now.value - before.value
  const [own, past] = [now.range(), before.range()]
  return {
    low: difference - Math.hypot(now.value - own.low, past.high - before.value),
    high: difference + Math.hypot(own.high - now.value, before.value - past.low),
  }
}
