/**
 * Shares of the stages in the lead time: the mean of each over the fifth of changes nearest the median, scaled to it. Medians of
 * stages would not add up, and a mean over all changes would be that of the few longest.
 */
import type { Database } from '../../database/database.ts'
import { STAGES, type Stage, type StageAnswer, type WhereTimeGoes } from './answer.ts'
import type { KeyRead, PeriodRead } from './keys.ts'
import type { CountedItem } from './read-counted.ts'
import { readStages } from './stages.ts'

const NEAREST = 5

const WORDS: Readonly<Record<Stage, Pick<StageAnswer, 'title' | 'meaning' | 'isWaiting'>>> = {
  coding: { title: 'Coding', meaning: 'from the first commit to the pull request', isWaiting: false },
  pickup: { title: 'Pickup', meaning: 'waits for a first review', isWaiting: true },
  review: { title: 'Review', meaning: 'from the first review to the merge', isWaiting: false },
  deploy: { title: 'Deploy', meaning: 'waits to be deployed', isWaiting: true },
}

interface Shares {
  readonly minutes: Readonly<Record<Stage, number>> | null
  readonly whole: number | null
  readonly restsOn: number
}

export async function whereTimeGoes(database: Database, { now, before }: KeyRead): Promise<WhereTimeGoes> {
  const [own, past] = [await sharesIn(database, now), await sharesIn(database, before)]
  const change = own.whole === null || past.whole === null ? null : own.whole - past.whole
  const { noData } = now.explained
  return {
    stages: STAGES.map((stage) => stageAnswer(stage, own, past, change)),
    restsOn: own.restsOn,
    restsOnBefore: past.restsOn,
    ...(noData && { noData }),
  }
}

function stageAnswer(stage: Stage, own: Shares, past: Shares, whole: number | null): StageAnswer {
  const [now, before] = [own.minutes?.[stage] ?? null, past.minutes?.[stage] ?? null]
  const change = now === null || before === null ? null : now - before
  return {
    stage,
    ...WORDS[stage],
    now,
    before,
    share: shareOf(now, own.whole),
    shareBefore: shareOf(before, past.whole),
    change,
    explains: shareOf(change, whole),
  }
}

const shareOf = (part: number | null, whole: number | null): number | null =>
  part === null || whole === null || whole === 0 ? null : part / whole

async function sharesIn(database: Database, { counted, explained: { value: whole } }: PeriodRead): Promise<Shares> {
  if (whole === null) return { minutes: null, whole, restsOn: 0 }
  const changes = await readStages(database, nearestTo(whole, counted.items))
  const sums = STAGES.map((stage) => [stage, changes.reduce((sum, { minutes }) => sum + minutes[stage], 0)] as const)
  const all = sums.reduce((sum, [, own]) => sum + own, 0)
  const scaled = sums.map(([stage, sum]) => [stage, all === 0 ? 0 : (sum / all) * whole] as const)
  return { minutes: Object.fromEntries(scaled) as Record<Stage, number>, whole, restsOn: changes.length }
}

/** The fifth of the items, and at least one, whose values are nearest. */
function nearestTo(value: number, items: readonly CountedItem[]): CountedItem[] {
  const distance = (item: CountedItem) => Math.abs(item.value - value)
  const nearest = items.toSorted((one, other) => distance(one) - distance(other) || (one.id < other.id ? -1 : 1))
  return nearest.slice(0, Math.ceil(items.length / NEAREST))
}
