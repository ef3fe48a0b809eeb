/** The five keys of DORA, in two groups, with what an answer says of each. */

import { type LikelyRange, likelyDifference, likelyRange, mayBeChance } from '../chance/likely-range.ts'
import { changeFailureRate } from '../definitions/change-failure-rate.ts'
import { changeLeadTime } from '../definitions/change-lead-time.ts'
import { deploymentFrequency } from '../definitions/deployment-frequency.ts'
import { recoveryTime } from '../definitions/recovery-time.ts'
import { reworkRate } from '../definitions/rework-rate.ts'
import type { Metric } from '../metric.ts'
import { definitionOf } from '../parts.ts'
import type { Bucket, Explanation } from '../read/read.ts'
import { restsOn } from '../read/rests-on.ts'
import type { Asked } from '../whole.ts'
import { changeOf } from '../words/change-words.ts'
import type { Change, KeyAnswer, Measured, Period, TrendPoint } from './answer.ts'
import { endOf } from './calendar.ts'
import type { Counted } from './read-counted.ts'
import { pointsOf, sampleOf } from './value-of.ts'

export const KEYS: readonly { readonly metric: Metric; readonly group: KeyAnswer['group'] }[] = [
  { metric: changeLeadTime, group: 'throughput' },
  { metric: deploymentFrequency, group: 'throughput' },
  { metric: recoveryTime, group: 'throughput' },
  { metric: changeFailureRate, group: 'instability' },
  { metric: reworkRate, group: 'instability' },
]

/** One metric in one period. */
export interface PeriodRead {
  readonly range: Period
  readonly counted: Counted
  readonly explained: Explanation
}

/** One metric in both periods. `metric` is as the policy counts it. */
export interface KeyRead {
  readonly metric: Metric
  readonly group: KeyAnswer['group']
  readonly now: PeriodRead
  readonly before: PeriodRead
}

interface Showing {
  readonly filter: Asked
  readonly bucket: Bucket
  readonly today: Date
  readonly items: string
}

export function keyAnswer(read: KeyRead, { filter, bucket, today, items }: Showing): KeyAnswer {
  const { metric, group, now, before } = read
  const { noGrade } = now.explained
  return {
    metric: metric.name,
    title: metric.title,
    definition: definitionOf(metric, filter),
    group,
    unit: metric.unit,
    better: metric.better,
    now: measuredOf(metric, now),
    before: measuredOf(metric, before),
    restsOn: restsOn(metric, filter, now.explained),
    against: againstIn(read),
    change: changeSince(read),
    target: null,
    trend: trendOf(metric, now, bucket, today),
    trendBefore: trendOf(metric, before, bucket, today),
    grades: now.explained.grades,
    ...(noGrade && { noGrade }),
    items,
  }
}

/** The share of a service report divides two kinds of items, so none of them speaks against it by itself. */
const againstIn = ({ metric: { unit, summary }, now }: KeyRead): number | null =>
  unit === 'share' && summary === 'mean' ? now.counted.items.filter(({ value }) => value === 1).length : null

/** The likely range of a value that is there. */
const likelyOf = (metric: Metric, { range, counted, explained }: PeriodRead): LikelyRange | null =>
  explained.value === null ? null : likelyRange(sampleOf(metric, range, counted.items))

function measuredOf(metric: Metric, read: PeriodRead): Measured {
  const { value, inWords, counted, total, noData } = read.explained
  return { value, inWords, counted, total, likely: likelyOf(metric, read), ...(noData && { noData }) }
}

function changeSince({ metric, now, before }: KeyRead): Change | null {
  const change = changeOf(metric, before.explained, now.explained)
  if (change.difference === null) return null
  const [one, other] = [now, before].map(({ range, counted }) => sampleOf(metric, range, counted.items))
  const likely = one && other ? likelyDifference(one, other) : null
  const isOpen = mayBeChance(likely)
  const direction = isOpen || change.direction === 'same' ? 'none' : change.direction
  return { amount: change.difference, inWords: change.inWords, likely, mayBeChance: isOpen, direction }
}

function trendOf(metric: Metric, { range, counted, explained }: PeriodRead, bucket: Bucket, today: Date): TrendPoint[] {
  const points = pointsOf(metric, range, bucket, counted.items)
  // A line of zeros would say that nothing happened.
  const isNothing = explained.value === null && points.every(({ value }) => !value)
  return points.map(({ start, value, counted: amount }) => ({
    start,
    value: isNothing ? null : value,
    counted: amount,
    isPartial: isPartial(range, bucket, start, today),
  }))
}

export const isPartial = ({ from, to }: Period, bucket: Bucket, start: Date, today: Date): boolean =>
  start < from || endOf(bucket, start) - 1 > Math.min(to.getTime(), today.getTime())
