import type { Dialect, LiveTable } from './dialect.ts'
import type { Explained } from './explain.ts'
import type { AnyKysely } from './kysely.ts'
import type { Gathering, RowShape, Rows } from './rows.ts'
import type { AnyColumns } from './table.ts'

/** `update` sets the columns of rows that exist, and makes no others. */
export type SendMode = 'insert' | 'upsert' | 'update'

/** After so much silence of a process the server takes a lock that is meant for a moment from it. */
export const LONGEST_SILENCE_SECONDS = 10
/** For such a lock nobody waits any longer; it is tried again. */
export const LONGEST_WAIT_SECONDS = 20

export interface PoolState {
  readonly open: number
  readonly idle: number
  readonly waiting: number
}

/** An open database of either engine. Everything outside this folder sees only this. */
export interface Database {
  readonly dialect: Dialect
  /** Everything goes over one connection, one statement after the other. */
  readonly isTransaction: boolean
  /** What is read is written meanwhile, over the same connection: lists come a page at a time, not as one stream. */
  readonly readsInPages?: boolean
  /** For system tables and API queries, and through its `sql` tag for any statement with parameters. */
  readonly kysely: AnyKysely
  /**
   * Sends one batch of rows; use `write` or `update` of write.ts, which prepare such batches. `before` is waited for first;
   * where rows are spelled out before they are sent, that is done meanwhile.
   */
  sendRows(rows: Rows, mode: SendMode, before?: Promise<unknown>): Promise<void>
  /** For more rows than should be held as such: they are put into the form in which they are sent as they come. */
  gather<Item>(shape: RowShape<AnyColumns, Item>): Gathering<Item>
  /**
   * Runs `body` on one connection: all that it writes becomes visible at once, or nothing when it throws. Inside, a
   * stream must be read to its end before the next statement; a transaction within it is part of it. `body` keeps to the
   * database that it is given: one that waits for a further connection may wait for ever; see `aside`. A statement that
   * fails ends it, on one of the engines: what is to survive a failure puts the statement into a transaction within it.
   */
  transaction<Result>(body: (database: Database) => Promise<Result>): Promise<Result>
  /**
   * The same for questions only: all are answered as of one moment, nothing can be written, and the server ends a statement
   * that takes longer than so many seconds.
   */
  reading<Result>(seconds: number, body: (database: Database) => Promise<Result>): Promise<Result>
  /**
   * Gives `body` a connection of its own beside all others, as a database: for a lock or a transaction that is held while
   * this database is worked with.
   */
  aside<Result>(body: (database: Database) => Promise<Result>): Promise<Result>
  /**
   * The same database, for work that ends with the signal. Only some streams are open at a time: what waits for its turn
   * to read one stops waiting then. Within a stream no other one may be begun.
   */
  until(signal: AbortSignal): Database
  /** How many connections are open, how many of them are idle, and how many wait for one. */
  connections(): PoolState
  /** The tables and columns that exist now. */
  describe(): Promise<ReadonlyMap<string, LiveTable>>
  /**
   * Runs `body` while nobody else holds the lock of that name, in this process or another. Within a transaction the lock is
   * held until that ends.
   */
  locked<Result>(name: string, body: () => Promise<Result>): Promise<Result>
  /**
   * The same for what takes a moment: the lock and all that `body` does are of one connection, which the server ends when
   * this process falls silent in between, so that one that hangs does not hold up others.
   */
  lockedBriefly<Result>(name: string, body: (database: Database) => Promise<Result>): Promise<Result>
  /** A deadlock or a lock that took too long: the statement had no effect and may be sent again. */
  isRetryable(error: unknown): boolean
  /** An error of the server that somebody can do something about, in a sentence; that it is away among them. */
  explain(error: unknown): Explained | undefined
  /** Where it is, for a thread that opens it for itself. It holds the password. */
  url(): string
  close(): Promise<void>
}
