/** Days, weeks and months of UTC, and the period before a range. */
import type { Bucket } from '../read/read.ts'
import type { Asked } from '../whole.ts'
import type { Period } from './answer.ts'

const DAY = 86_400_000

/** The first moment of the day, the week (from Monday) or the month. */
export function startOf(bucket: Bucket, time: number): number {
  const day = Math.floor(time / DAY) * DAY
  const date = new Date(day)
  if (bucket === 'day') return day
  if (bucket === 'week') return day - ((date.getUTCDay() + 6) % 7) * DAY
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
}

/** The first moment after a bucket. */
export function endOf(bucket: Bucket, start: Date): number {
  if (bucket === 'month') return Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1)
  return start.getTime() + (bucket === 'day' ? DAY : 7 * DAY)
}

/** The period of the same length right before. Both ends belong to a period. */
export function periodBefore({ from, to }: Period): Period {
  const length = to.getTime() - from.getTime() + 1
  return { from: new Date(from.getTime() - length), to: new Date(from.getTime() - 1) }
}

const LONGEST_IN_DAYS = 21 * DAY
const LONGEST_IN_WEEKS = 400 * DAY

/** The buckets in which a trend of the range can be read. */
export function bucketFor({ from, to }: Period): Bucket {
  const length = to.getTime() - from.getTime()
  return length <= LONGEST_IN_DAYS ? 'day' : length <= LONGEST_IN_WEEKS ? 'week' : 'month'
}

/** The same question about another period. */
export const during = (asked: Asked, { from, to }: Period): Asked =>
  'parts' in asked
    ? { ...asked, from, to, parts: asked.parts.map((part) => ({ ...part, from, to })) }
    : { ...asked, from, to }
