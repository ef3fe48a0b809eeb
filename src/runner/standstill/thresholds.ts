/** From when on it counts that the collection stands still. The table of docs/operations.md says the same. */
const MEGABYTE = 1 << 20

export const THRESHOLDS = {
  /** How often a process looks. */
  lookMs: 5_000,
  /** So long something must be so, look by look, before it is told. */
  afterMs: 60_000,
  /** A server or worker that has not told for so long that it lives is dead. */
  silentMs: 15_000,
  /** A statement that takes longer is slow. */
  slowStatementMs: 2_000,
  /** From here on the database does not answer. */
  noAnswerMs: 5_000,
  clockOffMs: 60_000,
  /** Of the data folder: less is full, or nearly. On a small disk the share of its size counts. */
  fullBytes: 512 * MEGABYTE,
  fullShare: 0.1,
  nearlyFullBytes: 2048 * MEGABYTE,
  nearlyFullShare: 0.2,
} as const

export type Thresholds = { readonly [Name in keyof typeof THRESHOLDS]: number }
