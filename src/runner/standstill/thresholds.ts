/** The limits from which on a standstill is reported. The table in docs/operations.md lists the same values. */
const MEGABYTE = 1 << 20

export const THRESHOLDS = {
  /** How often a process checks. */
  lookMs: 5_000,
  /** How long every check must find a trouble before it is reported. */
  afterMs: 60_000,
  /** A server or worker without a heartbeat for this long is dead. */
  silentMs: 15_000,
  /** A statement that takes longer is slow. */
  slowStatementMs: 2_000,
  /** After this long without a result the database counts as not answering. */
  noAnswerMs: 5_000,
  clockOffMs: 60_000,
  /**
   * The disk of the data folder counts as full, or nearly full, with less free space than this. On a small disk the share of
   * its size counts instead.
   */
  fullBytes: 512 * MEGABYTE,
  fullShare: 0.1,
  nearlyFullBytes: 2048 * MEGABYTE,
  nearlyFullShare: 0.2,
} as const

export type Thresholds = { readonly [Name in keyof typeof THRESHOLDS]: number }
