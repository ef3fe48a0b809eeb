/**
 * A server may end connections: it restarts, or somebody ends them by hand. The pool never hands out a connection that is
 * known to be closed. Work that certainly had no effect is tried again once, on another connection. A statement whose answer
 * is lost may have had an effect, so it is not repeated.
 */
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DatabaseConnection, Dialect } from 'kysely'
import type { AnyValue } from './column.ts'
import type { AnyKysely } from './kysely.ts'

/** A network may silently drop a connection that is idle for long, so the pools close such connections themselves. */
export const LONGEST_IDLE_MS = 10_000

/** A statement that failed after more than this was being executed, and was probably ended on purpose. It is not repeated. */
const SOON_MS = 5_000

export type Tells = (error: unknown) => boolean

/** Decides which connections of a pool may be handed out. */
interface Trust<Connection> {
  made(connection: Connection): void
  lost(connection: Connection): void
  isTrusted(connection: Connection, socket: Socket): Promise<boolean>
}

export function createTrust<Connection extends object>(): Trust<Connection> {
  const unused = new WeakSet<Connection>()
  const ages = new WeakMap<Connection, number>()
  let age = 0
  const isOfToday = (connection: Connection) => ages.get(connection) === age
  return {
    made(connection) {
      ages.set(connection, age)
      unused.add(connection)
    },
    /**
     * Whatever ended this connection probably ended all that existed with it. So none of them is trusted, instead of trying
     * one after another.
     */
    lost(connection) {
      if (isOfToday(connection)) age++
    },
    async isTrusted(connection, socket) {
      if (unused.delete(connection)) return true
      // The current turn of the event loop may have polled the socket before the connection ended. The next one reads all that
      // has arrived by now.
      await nextTurn()
      await nextTurn()
      return isOfToday(connection) && socket.readable && socket.writable
    },
  }
}

async function twice<Result>(mayRepeat: Tells, attempt: () => Promise<Result>): Promise<Result> {
  try {
    return await attempt()
  } catch (error) {
    if (!mayRepeat(error)) throw error
    return attempt()
  }
}

/** Runs a single statement, and once more if `hadNoEffect` says so for its error. */
export function again<Result>(hadNoEffect: Tells, attempt: () => Promise<Result>): Promise<Result> {
  const start = Date.now()
  return twice((error) => Date.now() - start < SOON_MS && hadNoEffect(error), attempt)
}

/** Opens a connection and begins a transaction on it. If the beginning is lost it is repeated, because nothing has happened yet. */
export function begun<Connection>(
  connect: () => Promise<Connection>,
  begin: (connection: Connection) => Promise<unknown>,
  discard: (connection: Connection, error: Error) => void,
  isLost: Tells,
): Promise<Connection> {
  return twice(isLost, async () => {
    const connection = await connect()
    await begin(connection).catch((error) => {
      discard(connection, error)
      throw error
    })
    return connection
  })
}

/** Errors of statements with which Kysely begins a transaction. */
const ofBeginnings = new WeakSet<Error>()

/** Makes a dialect mark errors at the beginning of a transaction, for `tryingAgain`. */
export function markingBeginnings<Kind extends Dialect>(dialect: Kind): Kind {
  const createDriver = dialect.createDriver.bind(dialect)
  dialect.createDriver = () => {
    const driver = createDriver()
    const begin = driver.beginTransaction.bind(driver)
    driver.beginTransaction = (...parameters) =>
      begin(...parameters).catch((error) => {
        if (error instanceof Error) ofBeginnings.add(error)
        throw error
      })
    return driver
  }
  return dialect
}

/**
 * Makes a Kysely repeat work that had no effect: a single statement, a stream before its first rows, or the beginning of a
 * transaction.
 */
export function tryingAgain(kysely: AnyKysely, hadNoEffect: Tells, isLost: Tells): AnyKysely {
  const executor = kysely.getExecutor()
  const provide: typeof executor.provideConnection = executor.provideConnection.bind(executor)
  const execute: typeof executor.executeQuery = executor.executeQuery.bind(executor)
  const stream: typeof executor.stream = executor.stream.bind(executor)
  const failedToBegin: Tells = (error) => error instanceof Error && ofBeginnings.has(error) && isLost(error)
  executor.provideConnection = <Result>(consumer: (connection: DatabaseConnection) => Promise<Result>) =>
    twice(failedToBegin, () => provide(consumer))
  executor.executeQuery = (query) => again(hadNoEffect, () => execute(query))
  executor.stream = async function* (...query): AsyncGenerator<AnyValue> {
    const { rows, first } = await again(hadNoEffect, async () => {
      const begun = stream(...query) as AsyncGenerator<AnyValue>
      return { rows: begun, first: await begun.next() }
    })
    if (first.done) return
    try {
      yield first.value
      yield* rows
    } finally {
      await rows.return(undefined)
    }
  }
  return kysely
}
