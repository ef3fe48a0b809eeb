/** Opens a collection: what is known from earlier runs, and what this run asks for. */
import { createSlots, DEFAULT_CONCURRENCY } from '../http/index.ts'
import { descendantsOf } from '../raw/descendants.ts'
import { earlier, isAskedAgain, storedGaps } from '../raw/gaps.ts'
import { rawTable } from '../raw/raw-table.ts'
import type { Collection, Missing, Tally } from './collection.ts'
import { earlyInputs } from './gone/early-records.ts'
import { cappedGap } from './list-gaps.ts'
import { marksOf } from './lists/lists.ts'
import { createPageStore } from './pages/page-store.ts'
import { readBefore } from './run/before.ts'
import { readReaches } from './run/reaches.ts'
import { type CollectRun, openRun } from './run/run.ts'
import { createSourceClock, type StartOver } from './run/source-clock.ts'
import { wayOf } from './ways/way-of.ts'

/** The part of a collection that its caller knows. */
interface Subject extends Pick<Collection, 'entity' | 'spec' | 'task' | 'subtaskKey' | 'client' | 'base'> {}

/** `again`: why the run starts again, with what it asks for instead. */
export async function openCollection(subject: Subject, again: StartOver | undefined): Promise<Collection> {
  const { entity, spec, task, client, base } = subject
  const { database, params } = task
  const raw = rawTable(entity.spec.raw as string)
  const key = { raw_table: raw.name, params }
  const records = { database, raw, params }
  const descendants = descendantsOf(task.plugin, entity)
  const before = await readBefore(database, raw, params)
  const asked = before.hasGaps ? (await storedGaps(database, key)).filter(isAskedAgain) : []
  const early = before.hasEarly ? await earlyInputs(database, key) : []
  const missing: readonly Missing[] = [...asked, ...early]
  const policy = { fullSync: task.fullSync, timeAfter: task.timeAfter, isWhole: spec.windows?.isWhole ?? false }
  const run = await openRun(database, key, before, {
    policy,
    marks: await marksOf(spec, task),
    missingSince: missingSince(missing),
    startOver: again?.change,
  })
  const concurrency = requestsAtOnce(task.plugin.connection.limits?.concurrency ?? DEFAULT_CONCURRENCY)
  const way = wayOf(spec)
  const hasReaches = !run.isFull && (way.isUpToDate ?? spec.forEach?.tellsChange)
  return {
    ...subject,
    raw,
    key,
    records,
    descendants,
    way,
    before,
    run,
    concurrency,
    missing,
    tally: tallyOf(run, again),
    inputs: { asked: new Set(), unwanted: new Set() },
    gone: new Set(),
    names: new Map(),
    clock: createSourceClock(database, key, run, client, base, again !== undefined),
    store: createPageStore({ ...records, descendants, mark: run.rawMark, hasOlder: before.lastOwnId > 0 }),
    unstored: createSlots(concurrency),
    reaches: hasReaches ? await readReaches(task, raw) : new Map(),
  }
}

/** Enough requests that the source's limit is used even while other pages are being stored or wait for a retry. */
const requestsAtOnce = (concurrency: number): number => 2 * concurrency - 1

/** The time from which records are missing that the only list of a collector counted and did not send. */
function missingSince(missing: readonly Missing[]): Date | null | undefined {
  const counted = missing.filter(({ kind, list }) => kind === 'count' && list === '').map(({ since }) => since)
  return counted.length === 0 ? undefined : counted.reduce(earlier)
}

/** A tally that starts with the counts of earlier, interrupted attempts at this run. */
function tallyOf({ checkpoints }: CollectRun, again: StartOver | undefined): Tally {
  const tally: Tally = {
    received: 0,
    expected: undefined,
    isUnchanged: false,
    gaps: [],
    hasList: false,
    isLost: false,
    answered: new Set(),
    refused: new Set(),
    remarks: again ? [again.message] : [],
  }
  for (const [key, { received, expected, page }] of checkpoints) {
    if (page && 'capped' in page) tally.gaps.push(cappedGap({ kind: 'list', key }, page.capped, ''))
    // The checkpoint of a finished list includes the counts of its parts.
    if (key.includes('#') && checkpoints.get(key.slice(0, key.indexOf('#')))?.is_done) continue
    tally.received += received
    if (expected !== null) tally.expected = (tally.expected ?? 0) + expected
    if (key === '' && page && 'unchanged' in page) tally.isUnchanged = true
  }
  return tally
}
