/** Lead times, deployments and incidents on one axis of time. */
import type { Bucket } from '../read/read.ts'
import { starts } from '../read/read.ts'
import type { BucketAnswer, Period, WhenAnswer } from './answer.ts'
import { startOf } from './calendar.ts'
import { isPartial } from './keys.ts'
import type { Counted, CountedItem } from './read-counted.ts'

/** More marks than this cannot be told apart, and would make the answer long. */
const MOST_MARKS = 2000

interface Shown {
  readonly leadTime: Counted
  readonly frequency: Counted
  readonly failures: Counted
  readonly rework: Counted
  readonly recovery: Counted
}

export function timelineOf(counted: Shown, range: Period, bucket: Bucket, today: Date): WhenAnswer {
  const deployments = counted.frequency.items
  const [failed, reworked] = [marked(counted.failures), marked(counted.rework)]
  const incidents = [...counted.recovery.items, ...counted.recovery.open].sort(
    (one, other) => one.at.getTime() - other.at.getTime(),
  )
  const open = new Set(counted.recovery.open)
  const changes = byBucket(counted.leadTime.items, bucket)
  const deployed = byBucket(deployments, bucket)
  const happened = byBucket(incidents, bucket)
  return {
    bucket,
    buckets: starts(range, bucket).map((start): BucketAnswer => {
      const own = deployed.get(start.getTime()) ?? []
      return {
        start,
        isPartial: isPartial(range, bucket, start, today),
        leadTime: middleHalf(changes.get(start.getTime()) ?? []),
        deployments: own.length,
        failed: own.filter(({ id }) => failed.has(id)).length,
        reworked: own.filter(({ id }) => reworked.has(id)).length,
        incidents: happened.get(start.getTime())?.length ?? 0,
      }
    }),
    deployments: deployments
      .slice(-MOST_MARKS)
      .map(({ id, at }) => ({ id, at, isFailed: failed.has(id), isRework: reworked.has(id) })),
    incidents: incidents.slice(-MOST_MARKS).map((item) => ({
      id: item.id,
      at: item.at,
      until: open.has(item) ? null : new Date(item.at.getTime() + item.value * 60_000),
    })),
    isShortened: Math.max(deployments.length, incidents.length) > MOST_MARKS,
  }
}

const byBucket = (items: readonly CountedItem[], bucket: Bucket) =>
  Map.groupBy(items, ({ at }) => startOf(bucket, at.getTime()))

const marked = ({ items }: Counted): ReadonlySet<string> =>
  new Set(items.flatMap(({ kind, id, value }) => (kind === 'deployment' && value === 1 ? [id] : [])))

function middleHalf(items: readonly CountedItem[]): BucketAnswer['leadTime'] {
  const sorted = items.map(({ value }) => value).sort((one, other) => one - other)
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] as number
  return sorted.length === 0 ? null : { median: at(0.5), low: at(0.25), high: at(0.75), counted: sorted.length }
}
