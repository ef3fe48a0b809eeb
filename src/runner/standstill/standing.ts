/** What may be told of a collection that stands still. */

export const SEVERITIES = ['critical', 'warning'] as const
export type Severity = (typeof SEVERITIES)[number]

export const CAUSE_NAMES = [
  'no_worker',
  'database_slow',
  'database_read_only',
  'disk_full',
  'clock_off',
  'queue_not_moving',
  'source_refuses',
] as const
export type CauseName = (typeof CAUSE_NAMES)[number]

/** What a look has found of a cause. */
export interface Found {
  readonly severity: Severity
  /** What it is about, such as a folder, so that two processes of one machine tell it once. */
  readonly subject: string
  readonly sentence: string
  readonly remedy: string
  /** What it holds up; absent: all runs that are not finished. */
  readonly runs?: readonly number[]
  /** Soon it will hold something up, and does not yet. */
  readonly isEarly?: boolean
  /** Since when at least, as far as one look tells. */
  readonly seconds?: number
}
export interface Trouble extends Found {
  readonly cause: CauseName
}

/** Something that has been so for long enough to be told. */
export interface Standing extends Omit<Found, 'seconds'> {
  readonly cause: CauseName
  readonly since: Date
  /** The machine that it is true of; empty: of the whole installation. */
  readonly host: string
}
/** What a process stores with its beat: what others may not see by themselves. */
export interface Told {
  readonly process: string
  readonly standing: readonly (Omit<Standing, 'since'> & { readonly since: string })[]
}
