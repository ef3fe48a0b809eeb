/** Opens, remembers and closes the run of a collector. The terms are explained in raw/collect-tables.ts. */

import { createHash } from 'node:crypto'
import { type Expression, type SqlBool, sql } from 'kysely'
import type { Database } from '../../../database/database.ts'
import { among, inPieces } from '../../../database/pieces.ts'
import { readRows } from '../../../database/read.ts'
import type { AnyValue } from '../../../database/table.ts'
import { write } from '../../../database/write.ts'
import { collectorLatestState } from '../../../system/state.ts'
import type { PageState } from '../../http/index.ts'
import {
  collectCheckpoints,
  collectEtags,
  collectReaches,
  collectRuns,
  collectStates,
} from '../../raw/collect-tables.ts'
import type { Reach } from '../../spec/collect.ts'
import type { Before } from './before.ts'
import { beginningOf, type CollectWindow, decideWindow, type Marks, type Policy } from './run-window.ts'

/** A short key for an input; '' for the only list of a collector that does not iterate. */
export const inputKey = (input: unknown): string =>
  input === null ? '' : createHash('sha256').update(JSON.stringify(input)).digest('hex').slice(0, 40)

/** The next page; `read`: records asked for so far in one of several parts; `newest`: the first record of a numbered list. */
export type PartState = PageState & { readonly read?: number; readonly newest?: Reach }
/** The stored state: the next page; pages read in parallel; unchanged since the last run; or why the source ends the list early. */
export type CheckpointState =
  | PartState
  | { readonly places: readonly PageState[] }
  | { readonly unchanged: true }
  | { readonly capped: string }

interface Checkpoint {
  readonly page: CheckpointState | null
  readonly is_done: boolean
  /** Number of records stored so far. */
  readonly received: number
  /** Number of records that the source counts. */
  readonly expected: number | null
}

export interface CollectRun extends CollectWindow {
  /** Both by our clock: when the run began, and when this attempt at it began. */
  readonly startedAt: Date
  readonly openedAt: Date
  /** By the source's clock, if this run continues one that knows it. */
  readonly sourceStartedAt: Date | null
  readonly newestSeen: Date | null
  readonly marks: Marks
  /** It continues an interrupted run, and may not see changes from the time in between. */
  readonly isResumed: boolean
  /** Checkpoints of the run that this one continues, by input. */
  readonly checkpoints: Map<string, Checkpoint>
  /** Facts that were expensive to find out, such as the number of records in each date window. */
  readonly inputs: AnyValue
  /** Raw records up to this id were stored before the run. */
  readonly rawMark: number
  /** Number of raw records of this scope that had a record key when the run began. */
  readonly olderCount: number
  /** There were such records when this attempt began, so an answer that there is nothing needs a check. A resumed run may have stored them itself. */
  readonly hasRecords: boolean
}

export type CollectorKey = { readonly raw_table: string; readonly params: string }

interface RunOptions {
  readonly policy: Policy
  /** The highest raw ids, at this moment, of the records that the collector iterates over. */
  readonly marks: Marks
  /** The time from which earlier runs missed records; undefined: nothing is missing. */
  readonly missingSince: Date | null | undefined
  /** Set if the open run cannot be continued: it says what to ask for instead. */
  readonly startOver?: { readonly isFull?: boolean; readonly since?: Date } | undefined
}

export async function openRun(
  database: Database,
  where: CollectorKey,
  { latest, own, open, lastRawId, olderCount }: Before,
  options: RunOptions,
): Promise<CollectRun> {
  const { policy, marks, missingSince, startOver } = options
  const fullSync = policy.fullSync || (startOver?.isFull ?? false)
  const decided = decideWindow({ ...policy, fullSync }, latest, own)
  const since = beginningOf(decided, missingSince, startOver?.since)
  const window = { ...decided, since, hasRecords: olderCount > 0 }
  const openedAt = new Date()
  const isSame =
    open?.started_at &&
    !startOver &&
    !policy.fullSync &&
    open.is_full === window.isFull &&
    open.since?.getTime() === since?.getTime()
  if (isSame) {
    const checkpoints = new Map<string, Checkpoint>()
    for await (const { input_key, page, is_done, received, expected } of readRows(database, {
      table: collectCheckpoints,
      where,
    })) {
      checkpoints.set(input_key, { page, is_done, received, expected })
    }
    const { started_at, source_started_at: sourceStartedAt, newest_seen: newestSeen, inputs } = open
    const kept = {
      startedAt: started_at as Date,
      sourceStartedAt,
      newestSeen,
      marks: open.marks ?? {},
      rawMark: open.raw_mark,
      olderCount: open.older_count,
    }
    const isResumed = checkpoints.size > 0 || inputs !== null
    return { ...window, ...kept, openedAt, isResumed, checkpoints, inputs }
  }
  // The tags of an unfinished run would claim that pages are known that never came.
  if (open) await forget(database, where, [collectEtags, ...OPEN_RUN])
  const { isFull, timeAfter } = window
  await write(database, [
    collectRuns.row({
      ...where,
      started_at: openedAt,
      since,
      time_after: timeAfter,
      is_full: isFull,
      marks,
      raw_mark: lastRawId,
      older_count: olderCount,
    }),
  ])
  const fresh = { startedAt: openedAt, sourceStartedAt: null, newestSeen: null, marks, rawMark: lastRawId, olderCount }
  return { ...window, ...fresh, openedAt, isResumed: false, checkpoints: new Map(), inputs: null }
}

/** Ends a run, and remembers its success with the time when it began by the source's clock. */
export async function closeRun(
  database: Database,
  where: CollectorKey,
  { startedAt, timeAfter, marks }: CollectRun,
  sourceStartedAt: Date | null,
): Promise<void> {
  await write(database, [
    collectorLatestState.row({
      raw_data_table: where.raw_table,
      raw_data_params: where.params,
      latest_success_start: sourceStartedAt,
      time_after: timeAfter,
    }),
    collectStates.row({ ...where, started_at: startedAt, marks }),
  ])
  await forget(database, where, OPEN_RUN)
}

/** Forgets the tags of all lists or of some. '' stands for the only list of its collector, and forgets all. */
export async function forgetTags(database: Database, key: CollectorKey, lists: readonly string[]): Promise<void> {
  if (lists.includes('')) return forget(database, key, [collectEtags])
  for (const some of inPieces(lists)) {
    const isOne = among(sql.ref('input_key'), some) as Expression<SqlBool>
    const own = database.kysely.deleteFrom(collectEtags.name).where('raw_table', '=', key.raw_table)
    await own.where('params', '=', key.params).where(isOne).execute()
  }
}

/** Forgets how far a list and its parts have been read. */
export async function forgetCheckpoint(
  { kysely }: Database,
  { raw_table, params }: CollectorKey,
  { checkpoints }: CollectRun,
  key: string,
): Promise<void> {
  const keys = [...checkpoints.keys()].filter((each) => each === key || each.startsWith(`${key}#`))
  for (const each of keys) checkpoints.delete(each)
  await kysely
    .deleteFrom(collectCheckpoints.name)
    .where('raw_table', '=', raw_table)
    .where('params', '=', params)
    .where((where) => where.or([where('input_key', '=', key), where('input_key', 'like', `${key}#%`)]))
    .execute()
}

/** Forgets all earlier runs: the next one is like the first. */
export async function forgetCollector(database: Database, key: CollectorKey): Promise<void> {
  await forget(database, key, [...OPEN_RUN, collectEtags, collectReaches])
  await database.kysely
    .deleteFrom(collectorLatestState.name)
    .where('raw_data_table', '=', key.raw_table)
    .where('raw_data_params', '=', key.params)
    .execute()
}

/** Tables with an open run. Without its rows, the next run starts from the beginning. */
const OPEN_RUN = [collectCheckpoints, collectRuns]

type StateTable = typeof collectEtags | typeof collectReaches | (typeof OPEN_RUN)[number]

async function forget(database: Database, { raw_table, params }: CollectorKey, tables: readonly StateTable[]) {
  for (const { name } of tables)
    await database.kysely.deleteFrom(name).where('raw_table', '=', raw_table).where('params', '=', params).execute()
}

/** Stores inputs that were expensive to find out, for a run that continues this one. */
export const rememberInputs = (database: Database, where: CollectorKey, inputs: unknown): Promise<void> =>
  remember(database, where, { inputs: JSON.stringify(inputs) })

/** Stores what a run has learned about the source's time. */
export const rememberTime = (
  database: Database,
  where: CollectorKey,
  time: { readonly source_started_at?: Date; readonly newest_seen?: Date },
): Promise<void> => remember(database, where, time)

async function remember({ kysely }: Database, { raw_table, params }: CollectorKey, values: object): Promise<void> {
  await kysely
    .updateTable(collectRuns.name)
    .set(values)
    .where('raw_table', '=', raw_table)
    .where('params', '=', params)
    .execute()
}
