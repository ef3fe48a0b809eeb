import type { Dialect, LiveTable } from './dialect.ts'
import type { Explained } from './explain.ts'
import type { AnyKysely } from './kysely.ts'
import type { Gathering, RowShape, Rows } from './rows.ts'
import type { AnyColumns } from './table.ts'

/** `update` sets the columns of existing rows and creates none. */
type SendMode = 'insert' | 'upsert' | 'update'

/** The server takes a short-term lock away from a process that is silent for this long. */
export const LONGEST_SILENCE_SECONDS = 10
/** The longest wait for such a lock. After it the work is tried again. */
export const LONGEST_WAIT_SECONDS = 20

export interface PoolState {
  readonly open: number
  readonly idle: number
  readonly waiting: number
}

/** An open PostgreSQL or MySQL database. Code outside this folder uses only this interface. */
export interface Database {
  readonly dialect: Dialect
  /** True when all statements go over one connection, one after the other. */
  readonly isTransaction: boolean
  /** True when data is written over the same connection while it is read. Lists are then read page by page, not as one stream. */
  readonly readsInPages?: boolean
  /** For system tables and API queries, and through its `sql` tag for any statement with parameters. */
  readonly kysely: AnyKysely
  /**
   * Sends one batch of rows. Use `write` or `update` of write.ts, which prepare such batches. `before` is awaited before
   * sending; on MySQL the statement is built meanwhile.
   */
  sendRows(rows: Rows, mode: SendMode, before?: Promise<unknown>): Promise<void>
  /** For more rows than should be held in memory as objects: each row is encoded for sending as it is added. */
  gather<Item>(shape: RowShape<AnyColumns, Item>): Gathering<Item>
  /**
   * Runs `body` on one connection: everything that it writes becomes visible at once, or nothing when it throws. Inside, a
   * stream must be read to its end before the next statement, and a nested transaction is part of the outer one. `body` must
   * use the database that it is given: waiting for another connection may wait for ever; see `aside`. On PostgreSQL a failed
   * statement ends the transaction, so a statement whose failure should be survived needs a nested transaction.
   */
  transaction<Result>(body: (database: Database) => Promise<Result>): Promise<Result>
  /**
   * The same for reads only. All of them see the data of one moment, nothing can be written, and the server ends a statement
   * that takes longer than `seconds`.
   */
  reading<Result>(seconds: number, body: (database: Database) => Promise<Result>): Promise<Result>
  /**
   * Gives `body` a separate connection outside the pool, as a database: for a lock or a transaction that is held while this
   * database is also used.
   */
  aside<Result>(body: (database: Database) => Promise<Result>): Promise<Result>
  /**
   * The same database, for work that ends when the signal is aborted. Only a limited number of streams may be open at a time;
   * waiting for one ends with the signal. No stream may be started within another.
   */
  until(signal: AbortSignal): Database
  /** How many connections are open, how many of them are idle, and how many wait for one. */
  connections(): PoolState
  /** The tables and columns that exist now. */
  describe(): Promise<ReadonlyMap<string, LiveTable>>
  /**
   * Runs `body` while no other process or call holds the lock of that name. Within a transaction the lock is held until the
   * transaction ends.
   */
  locked<Result>(name: string, body: () => Promise<Result>): Promise<Result>
  /**
   * The same for short work. The lock and the statements of `body` share one connection. The server ends it when this process
   * falls silent, so that a hanging process does not block others.
   */
  lockedBriefly<Result>(name: string, body: (database: Database) => Promise<Result>): Promise<Result>
  /** True for a deadlock or a lock timeout: the statement had no effect and may be sent again. */
  isRetryable(error: unknown): boolean
  /** Explains in a sentence a database error that somebody can fix, or that the database is unreachable. Undefined for others. */
  explain(error: unknown): Explained | undefined
  /** The address, for a thread that opens the database itself. It contains the password. */
  url(): string
  close(): Promise<void>
}
