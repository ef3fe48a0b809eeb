/** Decides what a run asks for: everything, or the changes since a time. */
import { earlier } from '../../raw/gaps.ts'

export interface Policy {
  readonly fullSync: boolean
  /** The start date; null: from the very beginning; undefined: not specified, so the stored start date applies. */
  readonly timeAfter: Date | null | undefined
  /** Everything is read in every run, from the very beginning. */
  readonly isWhole?: boolean
}

/** Raw table → the highest id among its rows of one scope. */
export type Marks = Readonly<Record<string, number>>

/** The previous run, to which this one adds changes. */
interface LastRun {
  /** By the source's clock. */
  readonly sourceStartedAt: Date
  /** By our clock; null if another version made that run. */
  readonly startedAt: Date | null
  readonly marks: Marks
}

export interface CollectWindow {
  /** Start over: the records of earlier runs are replaced. */
  readonly isFull: boolean
  /** Ask for changes since this time, by the source's clock; null: for everything. */
  readonly since: Date | null
  /** Null for a full run. */
  readonly last: LastRun | null
  /** The start date of the stored records, as the state will remember it. */
  readonly timeAfter: Date | null
}

interface LatestState {
  readonly time_after: Date | null
  readonly latest_success_start: Date | null
}

/**
 * This much time is asked for twice: the clocks of a source's servers differ by seconds, and changes may be listed a little
 * later.
 */
export const OVERLAP = 2 * 60_000

/**
 * A run is full if that is requested, if it is the first, and if the wanted start date is earlier than the stored one. No start
 * date counts as the earliest. If the start date moves later, older records stay until a full run: another blueprint may want
 * them.
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

/** Limits a time to the start date: nothing older is wanted, however far back a run looks for changes. */
export const notBefore = (time: Date, start: Date | null): Date => (start && start > time ? start : time)

/** The time minus the overlap, in whole seconds as sources give them. */
export const overlapping = (time: Date): Date => new Date(Math.floor((time.getTime() - OVERLAP) / 1000) * 1000)

/** Goes further back than the window where earlier runs missed records, or where a run starts over. */
export function beginningOf(
  { isFull, since, timeAfter }: CollectWindow,
  missing: Date | null | undefined,
  known?: Date,
) {
  if (isFull) return since
  const beginnings = [since, ...(missing === undefined ? [] : [missing]), ...(known ? [known] : [])]
  const beginning = beginnings.reduce(earlier)
  return beginning ? notBefore(beginning, timeAfter) : timeAfter
}
