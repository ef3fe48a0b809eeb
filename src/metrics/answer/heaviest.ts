/** The items that weigh most for each key: what a team should look at first. */
import type { Database } from '../../database/database.ts'
import { changeLeadTime } from '../definitions/change-lead-time.ts'
import { reworkRate } from '../definitions/rework-rate.ts'
import { readRework } from '../rework.ts'
import type { Asked } from '../whole.ts'
import { minutesInWords, valueInWords } from '../words/value-words.ts'
import { type HeavyItem, type Period, STAGES, type WhatToLookAt } from './answer.ts'
import { type ItemNames, readItemNames } from './item-names.ts'
import type { KeyRead } from './keys.ts'
import type { CountedItem } from './read-counted.ts'
import { readStages, type StagedChange } from './stages.ts'
import { summaryOf } from './value-of.ts'

const MOST = 10

/** The items chosen of a metric, before anything is known of them but their numbers. */
interface Chosen {
  readonly read: KeyRead
  readonly items: readonly CountedItem[]
  readonly rest: Omit<WhatToLookAt, 'heaviest'>
}

export async function whatToLookAt(
  database: Database,
  filter: Asked,
  reads: readonly KeyRead[],
): Promise<WhatToLookAt[]> {
  const chosen = reads.map((read) => (read.metric.summary === 'days' ? undefined : chosenOf(read)))
  const items = chosen.flatMap((each) => each?.items ?? [])
  const names = await readItemNames(database, filter, items)
  const leadTimes = chosen.find((each) => each?.read.metric.name === changeLeadTime.name)?.items ?? []
  const staged = new Map((await readStages(database, leadTimes)).map((change) => [change.item, change]))
  const repaired = chosen.find((each) => each?.read.metric.name === reworkRate.name)?.items ?? []
  const rework = await readRework(
    database,
    filter,
    repaired.map(({ id }) => id),
  )
  return reads.map((read, place): WhatToLookAt => {
    const own = chosen[place]
    if (!own) return gapsOf(read)
    const heaviest = own.items.map((item) => {
      const name = names.get(item)
      const why = read.metric.name === reworkRate.name ? (rework.get(item.id) ?? []) : (name?.incidents ?? [])
      return heavyItem(read, item, name, staged.get(item), why)
    })
    return { ...own.rest, heaviest }
  })
}

function chosenOf(read: KeyRead): Chosen {
  const { metric, now } = read
  const { items } = now.counted
  if (metric.unit === 'share') {
    const against = items.filter(({ value }) => value === 1)
    const rest = { metric: metric.name, without: null, withoutInWords: null, share: null, of: against.length }
    return { read, items: against.toReversed().slice(0, MOST), rest }
  }
  const longest = items.toSorted((one, other) => other.value - one.value || (one.id < other.id ? -1 : 1))
  const heaviest = longest.slice(0, MOST)
  const without = summaryOf(metric, longest.slice(MOST))
  const sum = (some: readonly CountedItem[]) => some.reduce((all, { value }) => all + value, 0)
  const rest = {
    metric: metric.name,
    without,
    withoutInWords: without === null ? null : valueInWords(metric.unit, without),
    share: sum(items) === 0 ? null : sum(heaviest) / sum(items),
    of: items.length,
  }
  return { read, items: heaviest, rest }
}

function heavyItem(
  { metric }: KeyRead,
  { kind, id, at, value }: CountedItem,
  name: ItemNames | undefined,
  change: StagedChange | undefined,
  why: readonly string[],
): HeavyItem {
  const stages = change ? STAGES.map((stage) => ({ stage, minutes: change.minutes[stage] })) : []
  const longest = stages.toSorted((one, other) => other.minutes - one.minutes)[0]
  const isTime = metric.unit !== 'share'
  return {
    kind: kind === 'deployment' || kind === 'incident' ? kind : 'pull_request',
    id,
    title: name?.title || id,
    url: name?.url || null,
    repository: name?.repository ?? null,
    at,
    value,
    inWords: isTime ? valueInWords(metric.unit, value) : '',
    size: name?.size ?? null,
    stages,
    longestStage: longest && longest.minutes > 0 ? longest.stage : null,
    why: why.length > 0 ? why.join('; ') : null,
  }
}

/** The longest times without a deployment, between two of them or at an end of the range. Without any deployment there is no gap. */
function gapsOf({ metric, now: { range, counted } }: KeyRead): WhatToLookAt {
  const gaps = counted.items.length === 0 ? [] : gapsBetween(range, counted.items)
  const longest = gaps.toSorted(
    (one, other) => other.minutes - one.minutes || one.from.getTime() - other.from.getTime(),
  )
  return {
    metric: metric.name,
    heaviest: longest.slice(0, MOST).map(({ from, until, minutes }) => ({
      kind: 'gap',
      id: from.toISOString(),
      title: 'Nothing was deployed',
      url: null,
      repository: null,
      at: from,
      until,
      value: minutes,
      inWords: minutesInWords(minutes),
      size: null,
      stages: [],
      longestStage: null,
      why: null,
    })),
    without: null,
    withoutInWords: null,
    share: null,
    of: gaps.length,
  }
}

function gapsBetween({ from, to }: Period, items: readonly CountedItem[]) {
  const moments = [from, ...items.map(({ at }) => at), to]
  return moments.slice(1).flatMap((until, place) => {
    const start = moments[place] as Date
    const minutes = Math.floor((until.getTime() - start.getTime()) / 60_000)
    return minutes > 0 ? [{ from: start, until, minutes }] : []
  })
}
