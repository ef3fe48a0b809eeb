/** Places on the drawing of the answer's course: moments on one axis, minutes on others. */
import type { Answer } from '../api/description.ts'
import { dayText } from '../dashboards/cells.ts'
import { duration } from '../parts/words.ts'
import type { Period } from '../projects/keys.ts'

const HOUR = 60
const DAY = 24 * HOUR
/** Distances between ticks that people read without counting, in minutes. */
const STEPS = [
  10,
  30,
  HOUR,
  2 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  4 * DAY,
  7 * DAY,
  14 * DAY,
  28 * DAY,
  84 * DAY,
]
const TICKS = 3

/** Returns a few round ticks from 0 up to at least `most` minutes. */
export function ticksUpTo(most: number): readonly number[] {
  const step = STEPS.find((each) => each * TICKS >= most) ?? Math.ceil(most / TICKS / (365 * DAY)) * 365 * DAY
  return Array.from({ length: Math.max(1, Math.ceil(most / step)) + 1 }, (_, place) => place * step)
}

/** Incidents last minutes or weeks: their heights grow with the logarithm. */
const SHORTEST = 10
const LENGTHS = [HOUR, 8 * HOUR, 3 * DAY, 28 * DAY, 365 * DAY]
/** The longest of these that fits, and every second one below it, so that their words do not touch. */
export const incidentTicks = (longest: number): readonly number[] =>
  LENGTHS.filter((each) => each <= Math.max(longest, HOUR))
    .toReversed()
    .filter((_, place) => place % 2 === 0)
export const logHeight = (minutes: number, longest: number, height: number): number =>
  (Math.log(Math.max(minutes, SHORTEST) / SHORTEST + 1) / Math.log(Math.max(longest, 4 * HOUR) / SHORTEST + 1)) * height

type Bucket = Answer['when']['buckets'][number]

/** Where a bucket begins and ends: the last one ends where the range does, or at its own length. */
export function spansOf({ when: { buckets }, range }: Answer): readonly (readonly [from: number, to: number])[] {
  const end = Date.parse(range.to)
  return buckets.map(({ start }, place) => {
    const next = buckets[place + 1]
    return [Math.max(Date.parse(start), Date.parse(range.from)), next ? Date.parse(next.start) : end]
  })
}

/** The content of a bucket, in one sentence. */
export function wordsOf({ leadTime, deployments, failed, incidents }: Bucket): string {
  const changes = leadTime ? `median ${duration(leadTime.median)} of ${leadTime.counted}` : 'no change deployed'
  const failures = failed > 0 ? `, ${failed} failed` : ''
  return `${changes}; deployments: ${deployments}${failures}; incidents: ${incidents}`
}

/** The first and the last day of a range, which ends at midnight of the day after, or within the last day. */
export const daysOf = ({ from, to }: Period): string => `${dayText(from)} – ${dayText(Date.parse(to) - 1)}`
