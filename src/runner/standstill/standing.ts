/** The types that describe a standstill of the collection. */

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

/** A cause that one check has found. */
export interface Found {
  readonly severity: Severity
  /** The subject, such as a folder. With it, two processes on one machine report the same trouble only once. */
  readonly subject: string
  readonly sentence: string
  readonly remedy: string
  /** The runs that are blocked; all unfinished runs when absent. */
  readonly runs?: readonly number[]
  /** A warning: nothing is blocked yet, but soon will be. */
  readonly isEarly?: boolean
  /** For how many seconds at least, as far as one check can tell. */
  readonly seconds?: number
}
export interface Trouble extends Found {
  readonly cause: CauseName
}

/** A trouble that has lasted long enough to be reported. */
export interface Standing extends Omit<Found, 'seconds'> {
  readonly cause: CauseName
  readonly since: Date
  /** The machine that it concerns; empty for the whole installation. */
  readonly host: string
}
/** The trouble that a process stores with its heartbeat, because others may not be able to detect it. */
export interface Told {
  readonly process: string
  readonly standing: readonly (Omit<Standing, 'since'> & { readonly since: string })[]
}
