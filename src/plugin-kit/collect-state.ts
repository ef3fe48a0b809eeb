/**
 * What collecting remembers, so that nothing is lost and nothing asked twice.
 *
 * run          one collection of a raw table for a scope, from its start until all of it has arrived
 * checkpoint   how far a run has come with one input: stored together with the page that it counts
 * etag         an answer of one page that need not be sent again while it is unchanged
 */
import { createHash } from 'node:crypto'
import type { Database } from '../database/database.ts'
import { readAll, readRows } from '../database/read.ts'
import { bigint, boolean, defineTable, json, key, optional, string, timestamp, written } from '../database/table.ts'
import { write } from '../database/write.ts'
import { collectorLatestState } from '../system/state.ts'
import type { PageState } from './http/index.ts'

const place = { raw_table: key(string(120)), params: key(string(255)) }

export const collectRuns = defineTable(
  '_weir_collect_runs',
  {
    ...place,
    started_at: timestamp(),
    since: timestamp(),
    time_after: timestamp(),
    is_full: boolean(),
    inputs: json(),
    /** Raw records up to this id were there before. */
    raw_mark: bigint(),
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
export const collectTables = [collectRuns, collectCheckpoints, collectEtags]

export interface Policy {
  readonly fullSync: boolean
  readonly timeAfter: Date | null
}

export interface CollectWindow {
  /** Start over: what earlier runs stored is replaced. */
  readonly isFull: boolean
  /** Ask for what changed since; null: for everything. */
  readonly since: Date | null
  /** When the run began that this one adds to; null for a full one. */
  readonly lastStartedAt: Date | null
  readonly startedAt: Date
  /** What the state remembers as the beginning of what is stored. */
  readonly timeAfter: Date | null
}

interface LatestState {
  readonly time_after: Date | null
  readonly latest_success_start: Date | null
}

/** The reference's rule: full when asked for, at first, and when an earlier beginning is wanted than is stored. */
export function decideWindow(policy: Policy, state: LatestState | undefined, startedAt: Date): CollectWindow {
  const stored = state?.time_after ?? null
  const isEarlier = policy.timeAfter !== null && stored !== null && policy.timeAfter < stored
  const isFull = policy.fullSync || !state?.latest_success_start || isEarlier
  const beginning = policy.timeAfter ?? stored
  const lastStartedAt = isFull ? null : (state?.latest_success_start ?? null)
  return {
    isFull,
    startedAt,
    lastStartedAt,
    since: isFull ? beginning : wholeSecond(lastStartedAt),
    timeAfter: isFull ? beginning : stored,
  }
}

/** Vendors tell whole seconds: what was made later in the second that a run began in must not count as older. */
const wholeSecond = (time: Date | null) => time && new Date(Math.floor(time.getTime() / 1000) * 1000)

/** A run that was cut off longer ago is started over: too much will have changed under its pages. */
const LONGEST_PAUSE = 24 * 3_600_000

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
  /** Checkpoints of the run that this one goes on with, by input. */
  readonly checkpoints: ReadonlyMap<string, Checkpoint>
  /** What was expensive to find out, such as how much there is in which date window. */
  readonly inputs: any
  /** Raw records up to this id were there before. */
  readonly rawMark: number
}

type Where = { readonly raw_table: string; readonly params: string }

export async function openRun(
  database: Database,
  where: Where,
  policy: Policy,
  startedAt: Date,
  lastRawId: number,
): Promise<CollectRun> {
  const [state] = await readAll(database, {
    table: collectorLatestState,
    where: { raw_data_table: where.raw_table, raw_data_params: where.params },
  })
  const window = decideWindow(policy, state, startedAt)
  const [open] = await readAll(database, { table: collectRuns, where })
  const isSame =
    open?.started_at &&
    open.is_full === window.isFull &&
    open.since?.getTime() === window.since?.getTime() &&
    startedAt.getTime() - open.started_at.getTime() < LONGEST_PAUSE
  if (isSame) {
    const checkpoints = new Map<string, Checkpoint>()
    for await (const { input_key, page, is_done, received, expected } of readRows(database, {
      table: collectCheckpoints,
      where,
    })) {
      checkpoints.set(input_key, { page, is_done, received, expected })
    }
    return { ...window, startedAt: open.started_at as Date, checkpoints, inputs: open.inputs, rawMark: open.raw_mark }
  }
  await forgetRun(database, where)
  const { isFull, since, timeAfter } = window
  await write(database, [
    collectRuns.row({
      ...where,
      started_at: startedAt,
      since,
      time_after: timeAfter,
      is_full: isFull,
      raw_mark: lastRawId,
    }),
  ])
  return { ...window, checkpoints: new Map(), inputs: null, rawMark: lastRawId }
}

/** Ends a run: its success is remembered, and with a full one what it replaces is deleted. */
export async function closeRun(
  database: Database,
  where: Where,
  { startedAt, timeAfter }: CollectWindow,
): Promise<void> {
  await write(database, [
    collectorLatestState.row({
      raw_data_table: where.raw_table,
      raw_data_params: where.params,
      latest_success_start: startedAt,
      time_after: timeAfter,
    }),
  ])
  await forgetRun(database, where)
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
export async function rememberInputs(
  { kysely }: Database,
  { raw_table, params }: Where,
  inputs: unknown,
): Promise<void> {
  await kysely
    .updateTable(collectRuns.name)
    .set({ inputs: JSON.stringify(inputs) })
    .where('raw_table', '=', raw_table)
    .where('params', '=', params)
    .execute()
}
