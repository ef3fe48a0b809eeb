/**
 * What collecting remembers, so that nothing is lost and nothing asked twice.
 *
 * run          one collection of a raw table for a scope, from its start until all of it has arrived
 * state        what the last run that got everything leaves to the next
 * checkpoint   how far a run has come with one input: stored together with the page that it counts
 * etag         an answer of one page that need not be sent again while it is unchanged
 */
import { createHash } from 'node:crypto'
import { type Expression, type SqlBool, sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { among, inPieces } from '../database/pieces.ts'
import { readAll, readRows } from '../database/read.ts'
import { bigint, boolean, defineTable, json, key, optional, string, timestamp, written } from '../database/table.ts'
import { write } from '../database/write.ts'
import { collectorLatestState } from '../system/state.ts'
import { earlier } from './gaps.ts'
import type { PageState } from './http/index.ts'

const place = { raw_table: key(string(120)), params: key(string(255)) }

export const collectRuns = defineTable(
  '_weir_collect_runs',
  {
    ...place,
    /** By our clock; the source's own decides what is asked for. */
    started_at: timestamp(),
    source_started_at: timestamp(),
    /** Newest change among what came, where the source does not tell its time. */
    newest_seen: timestamp(),
    marks: json(),
    since: timestamp(),
    time_after: timestamp(),
    is_full: boolean(),
    inputs: json(),
    /** Raw records up to this id were there before. */
    raw_mark: bigint(),
    /** So many of this scope. */
    older_count: bigint(),
    ...written,
  },
  { meaning: 'Collections under way, or cut off: the next run goes on with them.' },
)
export const collectCheckpoints = defineTable(
  '_weir_collect_checkpoints',
  {
    ...place,
    input_key: key(string(64)),
    page: json(),
    is_done: boolean(),
    received: bigint(),
    expected: optional(bigint()),
    ...written,
  },
  { meaning: 'How far a collection has come, by what it iterates over.' },
)
export const collectEtags = defineTable(
  '_weir_collect_etags',
  { ...place, input_key: key(string(64)), etag: string(255), credential: string(255), ...written },
  { meaning: 'Answers that need not be sent again while they are unchanged.' },
)
export const collectStates = defineTable(
  '_weir_collect_states',
  {
    ...place,
    /** By our clock. */
    started_at: timestamp(),
    marks: json(),
    ...written,
  },
  {
    meaning:
      'When the last complete collection began by our clock, and how far the records went that it iterated over.',
  },
)
export const collectTables = [collectRuns, collectCheckpoints, collectEtags, collectStates]

export interface Policy {
  readonly fullSync: boolean
  readonly timeAfter: Date | null
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

/** The reference's rule: full when asked for, at first, and when an earlier beginning is wanted than is stored. */
export function decideWindow(
  policy: Policy,
  latest: LatestState | undefined,
  own: { readonly started_at: Date | null; readonly marks: any } | undefined,
): CollectWindow {
  const stored = latest?.time_after ?? null
  const isEarlier = policy.timeAfter !== null && stored !== null && policy.timeAfter < stored
  const sourceStartedAt = latest?.latest_success_start ?? null
  const beginning = policy.timeAfter ?? stored
  if (policy.fullSync || !sourceStartedAt || isEarlier) {
    return { isFull: true, since: beginning, last: null, timeAfter: beginning }
  }
  return {
    isFull: false,
    since: overlapping(sourceStartedAt),
    last: { sourceStartedAt, startedAt: own?.started_at ?? null, marks: own?.marks ?? {} },
    timeAfter: stored,
  }
}

/** In whole seconds, as sources tell them. */
export const overlapping = (time: Date): Date => new Date(Math.floor((time.getTime() - OVERLAP) / 1000) * 1000)

/** '' for the only input of a collector that does not iterate. */
export const inputKey = (input: unknown): string =>
  input === null ? '' : createHash('sha256').update(JSON.stringify(input)).digest('hex').slice(0, 40)

/** The next page; `read`: records asked for so far, in a part of a list. */
export type StretchState = PageState & { readonly read?: number }
/** Where a list stands: at its next page, at pages read side by side, unchanged since the last run, or cut off and why. */
export type Standing =
  | StretchState
  | { readonly places: readonly PageState[] }
  | { readonly unchanged: true }
  | { readonly capped: string }

export interface Checkpoint {
  readonly page: Standing | null
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
  /** By the source's clock, where this run goes on with one that knows it. */
  readonly sourceStartedAt: Date | null
  readonly newestSeen: Date | null
  readonly marks: Marks
  /** It goes on with a run that was cut off: what changed meanwhile it may not see. */
  readonly isResumed: boolean
  /** Checkpoints of the run that this one goes on with, by input. */
  readonly checkpoints: Map<string, Checkpoint>
  /** What was expensive to find out, such as how much there is in which date window. */
  readonly inputs: any
  /** Raw records up to this id were there before. */
  readonly rawMark: number
  /** So many of this scope. */
  readonly olderCount: number
}

export type Where = { readonly raw_table: string; readonly params: string }

export interface RunOptions {
  readonly policy: Policy
  /** The last raw record of any scope. */
  readonly lastRawId: number
  /** Raw records of this scope. */
  readonly olderCount: number
  /** How far the records go now that the collector iterates over. */
  readonly marks: Marks
  /** Where what earlier runs did not get begins; undefined: nothing is missing. */
  readonly missingSince: Date | null | undefined
  /** Why the run that was open cannot be gone on with, and what is asked for instead. */
  readonly startOver?: { readonly isFull?: boolean; readonly since?: Date } | undefined
}

export async function openRun(database: Database, where: Where, options: RunOptions): Promise<CollectRun> {
  const [latest] = await readAll(database, {
    table: collectorLatestState,
    where: { raw_data_table: where.raw_table, raw_data_params: where.params },
  })
  const [own] = await readAll(database, { table: collectStates, where })
  const { policy, lastRawId, olderCount, marks, missingSince, startOver } = options
  const fullSync = policy.fullSync || (startOver?.isFull ?? false)
  const decided = decideWindow({ ...policy, fullSync }, latest, own)
  const window = { ...decided, since: beginningOf(decided, missingSince, startOver?.since) }
  const openedAt = new Date()
  const [open] = await readAll(database, { table: collectRuns, where })
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

function beginningOf({ isFull, since }: CollectWindow, missingSince: Date | null | undefined, known?: Date) {
  if (isFull) return since
  const beginnings = [since, ...(missingSince === undefined ? [] : [missingSince]), ...(known ? [known] : [])]
  return beginnings.reduce(earlier)
}

/** Ends a run: its success is remembered, from when it began by the source's clock. */
export async function closeRun(
  database: Database,
  where: Where,
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
export async function abandonRun(database: Database, where: Where): Promise<void> {
  await forgetTags(database, where)
  await forgetRun(database, where)
}

/** Of all lists, or of some: '' is the only one of its collector. */
export async function forgetTags(
  { kysely }: Database,
  { raw_table, params }: Where,
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
  { raw_table, params }: Where,
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
export async function forgetRun({ kysely }: Database, { raw_table, params }: Where): Promise<void> {
  for (const { name } of [collectCheckpoints, collectRuns]) {
    await kysely.deleteFrom(name).where('raw_table', '=', raw_table).where('params', '=', params).execute()
  }
}

/** The next run knows nothing of earlier ones. */
export async function forgetCollector(database: Database, { raw_table, params }: Where): Promise<void> {
  const { kysely } = database
  await forgetRun(database, { raw_table, params })
  await kysely.deleteFrom(collectEtags.name).where('raw_table', '=', raw_table).where('params', '=', params).execute()
  await kysely
    .deleteFrom(collectorLatestState.name)
    .where('raw_data_table', '=', raw_table)
    .where('raw_data_params', '=', params)
    .execute()
}

/** Keeps inputs that were expensive to find out for a run that goes on with this one. */
export const rememberInputs = (database: Database, where: Where, inputs: unknown): Promise<void> =>
  remember(database, where, { inputs: JSON.stringify(inputs) })

/** Keeps what a run learned of the source's time. */
export const rememberTime = (
  database: Database,
  where: Where,
  time: { readonly source_started_at?: Date; readonly newest_seen?: Date },
): Promise<void> => remember(database, where, time)

async function remember({ kysely }: Database, { raw_table, params }: Where, values: object): Promise<void> {
  await kysely
    .updateTable(collectRuns.name)
    .set(values)
    .where('raw_table', '=', raw_table)
    .where('params', '=', params)
    .execute()
}
