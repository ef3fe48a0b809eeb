/** How a run of a collector is opened, remembered and closed; its words are explained in raw/collect-tables.ts. */

import { createHash } from 'node:crypto'
import { type Expression, type SqlBool, sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { among, inPieces } from '../../database/pieces.ts'
import { readRows } from '../../database/read.ts'
import type { AnyValue } from '../../database/table.ts'
import { write } from '../../database/write.ts'
import { collectorLatestState } from '../../system/state.ts'
import type { PageState } from '../http/index.ts'
import { collectCheckpoints, collectEtags, collectReaches, collectRuns, collectStates } from '../raw/collect-tables.ts'
import { earlier } from '../raw/gaps.ts'
import type { Reach } from '../spec/collect.ts'
import type { Before } from './before.ts'

export interface Policy {
  readonly fullSync: boolean
  /** The start date; null: from the very beginning; undefined: nobody said, and what is stored decides. */
  readonly timeAfter: Date | null | undefined
  /** All of it every time, from its beginning on. */
  readonly isWhole?: boolean
}

/** Raw table → its highest id, of the rows of a scope. */
export type Marks = Readonly<Record<string, number>>

/** The run that this one adds to. */
export interface LastRun {
  /** By the source's clock. */
  readonly sourceStartedAt: Date
  /** By ours; null when it was another version that ran. */
  readonly startedAt: Date | null
  readonly marks: Marks
}

export interface CollectWindow {
  /** Start over: what earlier runs stored is replaced. */
  readonly isFull: boolean
  /** Ask for what changed since, by the source's clock; null: for everything. */
  readonly since: Date | null
  /** Null for a full one. */
  readonly last: LastRun | null
  /** What the state remembers as the beginning of what is stored. */
  readonly timeAfter: Date | null
}

interface LatestState {
  readonly time_after: Date | null
  readonly latest_success_start: Date | null
}

/** Servers of one source differ by seconds, and what is changed may be listed a little later: so much is asked for twice. */
export const OVERLAP = 2 * 60_000

/**
 * Full when asked for, at first, and when an earlier beginning is wanted than is stored; no start date is the earliest. What is
 * older than a later start date stays until a full one: another blueprint may want it.
 */
export function decideWindow(
  policy: Policy,
  latest: LatestState | undefined,
  own: { readonly started_at: Date | null; readonly marks: Marks | null } | undefined,
): CollectWindow {
  const stored = latest?.time_after ?? null
  const beginning = policy.timeAfter === undefined ? stored : policy.timeAfter
  const isEarlier = stored !== null && (beginning === null || beginning < stored)
  const sourceStartedAt = latest?.latest_success_start ?? null
  if (policy.isWhole || policy.fullSync || !sourceStartedAt || isEarlier) {
    return { isFull: true, since: policy.isWhole ? null : beginning, last: null, timeAfter: beginning }
  }
  return {
    isFull: false,
    since: notBefore(overlapping(sourceStartedAt), stored),
    last: { sourceStartedAt, startedAt: own?.started_at ?? null, marks: own?.marks ?? {} },
    timeAfter: stored,
  }
}

/** Nothing older than the start date is wanted, however far back one looks for changes. */
export const notBefore = (time: Date, start: Date | null): Date => (start && start > time ? start : time)

/** In whole seconds, as sources tell them. */
export const overlapping = (time: Date): Date => new Date(Math.floor((time.getTime() - OVERLAP) / 1000) * 1000)

/** '' for the only input of a collector that does not iterate. */
export const inputKey = (input: unknown): string =>
  input === null ? '' : createHash('sha256').update(JSON.stringify(input)).digest('hex').slice(0, 40)

/** The next page; `read`: records asked for so far, in a part beside others; `newest`: what a numbered list began with. */
export type PartState = PageState & { readonly read?: number; readonly newest?: Reach }
/** As it is stored: the next page, pages that are read side by side, unchanged since the last run, or where the source ends and why. */
export type CheckpointState =
  | PartState
  | { readonly places: readonly PageState[] }
  | { readonly unchanged: true }
  | { readonly capped: string }

export interface Checkpoint {
  readonly page: CheckpointState | null
  readonly is_done: boolean
  /** Records stored so far. */
  readonly received: number
  /** What the source counted. */
  readonly expected: number | null
}

export interface CollectRun extends CollectWindow {
  /** By our clock. */
  readonly startedAt: Date
  readonly openedAt: Date
  /** By the source's clock, where this run continues with one that knows it. */
  readonly sourceStartedAt: Date | null
  readonly newestSeen: Date | null
  readonly marks: Marks
  /** It continues with a run that was interrupted: what changed meanwhile it may not see. */
  readonly isResumed: boolean
  /** Checkpoints of the run that this one continues with, by input. */
  readonly checkpoints: Map<string, Checkpoint>
  /** What was expensive to find out, such as how much there is in which date window. */
  readonly inputs: AnyValue
  /** Raw records up to this id were there before. */
  readonly rawMark: number
  /** So many of this scope that have an id. */
  readonly olderCount: number
}

export type CollectorKey = { readonly raw_table: string; readonly params: string }

export interface RunOptions {
  readonly policy: Policy
  /** How far the records go now that the collector iterates over. */
  readonly marks: Marks
  /** Where what earlier runs did not get begins; undefined: nothing is missing. */
  readonly missingSince: Date | null | undefined
  /** Why the run that was open cannot be continued, and what is asked for instead. */
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
  const window = { ...decided, since: beginningOf(decided, missingSince, startOver?.since) }
  const openedAt = new Date()
  const isSame =
    open?.started_at &&
    !startOver &&
    !policy.fullSync &&
    open.is_full === window.isFull &&
    open.since?.getTime() === window.since?.getTime()
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
    }
    const isResumed = checkpoints.size > 0 || inputs !== null
    return { ...window, ...kept, olderCount, openedAt, isResumed, checkpoints, inputs }
  }
  if (open) await abandonRun(database, where)
  const { isFull, since, timeAfter } = window
  await write(database, [
    collectRuns.row({
      ...{ ...where, started_at: openedAt, since, time_after: timeAfter, is_full: isFull, marks },
      ...{ raw_mark: lastRawId, older_count: olderCount },
    }),
  ])
  const fresh = { startedAt: openedAt, sourceStartedAt: null, newestSeen: null, marks, rawMark: lastRawId, olderCount }
  return { ...window, ...fresh, openedAt, isResumed: false, checkpoints: new Map(), inputs: null }
}

function beginningOf({ isFull, since, timeAfter }: CollectWindow, missing: Date | null | undefined, known?: Date) {
  if (isFull) return since
  const beginnings = [since, ...(missing === undefined ? [] : [missing]), ...(known ? [known] : [])]
  const beginning = beginnings.reduce(earlier)
  return beginning ? notBefore(beginning, timeAfter) : timeAfter
}

/** Ends a run: its success is remembered, from when it began by the source's clock. */
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
  await forgetRun(database, where)
}

/** Forgets a run that did not come to its end, and the tags that it stored: they would vouch for pages that never came. */
export async function abandonRun(database: Database, where: CollectorKey): Promise<void> {
  await forgetTags(database, where)
  await forgetRun(database, where)
}

/** Of all lists, or of some: '' is the only one of its collector. */
export async function forgetTags(
  { kysely }: Database,
  { raw_table, params }: CollectorKey,
  lists?: readonly string[],
): Promise<void> {
  if (lists?.length === 0) return
  const query = kysely.deleteFrom(collectEtags.name).where('raw_table', '=', raw_table).where('params', '=', params)
  if (!lists || lists.includes('')) return void (await query.execute())
  for (const some of inPieces(lists)) {
    await query.where(among(sql.ref('input_key'), some) as Expression<SqlBool>).execute()
  }
}

/** Forgets how far one list has come, and its parts. */
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

/** What is asked for next is asked for from the beginning. */
export async function forgetRun({ kysely }: Database, { raw_table, params }: CollectorKey): Promise<void> {
  for (const { name } of [collectCheckpoints, collectRuns]) {
    await kysely.deleteFrom(name).where('raw_table', '=', raw_table).where('params', '=', params).execute()
  }
}

/** The next run knows nothing of earlier ones. */
export async function forgetCollector(database: Database, { raw_table, params }: CollectorKey): Promise<void> {
  const { kysely } = database
  await forgetRun(database, { raw_table, params })
  for (const { name } of [collectEtags, collectReaches]) {
    await kysely.deleteFrom(name).where('raw_table', '=', raw_table).where('params', '=', params).execute()
  }
  await kysely
    .deleteFrom(collectorLatestState.name)
    .where('raw_data_table', '=', raw_table)
    .where('raw_data_params', '=', params)
    .execute()
}

/** Keeps inputs that were expensive to find out for a run that continues with this one. */
export const rememberInputs = (database: Database, where: CollectorKey, inputs: unknown): Promise<void> =>
  remember(database, where, { inputs: JSON.stringify(inputs) })

/** Keeps what a run learned of the source's time. */
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
