/**
 * A server ends connections: it restarts, or somebody ends them by hand. The pool hands out none that is known to be closed,
 * and what surely had no effect is tried again, once, on another connection. A statement whose answer is lost may have had one.
 */
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DatabaseConnection, Dialect } from 'kysely'
import type { AnyValue } from './column.ts'
import type { AnyKysely } from './kysely.ts'

/** A network may forget a connection that is silent for long, and tells nobody: the pools close such ones themselves. */
export const LONGEST_IDLE_MS = 10_000

/** What took longer was worked on, and whoever ended it meant to. */
const SOON_MS = 5_000

export type Tells = (error: unknown) => boolean

/** Which connections of a pool may be handed out. */
export interface Trust<Connection> {
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
    /** What ended it will have ended those that were there with it: they are not tried one after another. */
    lost(connection) {
      if (isOfToday(connection)) age++
    },
    async isTrusted(connection, socket) {
      if (unused.delete(connection)) return true
      // The turn under way may have asked the system before the end came; the one after it reads all that is there now.
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

/** For one statement by itself; `hadNoEffect` knows by its error. */
export function again<Result>(hadNoEffect: Tells, attempt: () => Promise<Result>): Promise<Result> {
  const start = Date.now()
  return twice((error) => Date.now() - start < SOON_MS && hadNoEffect(error), attempt)
}

/** A connection on which a transaction has begun. Nothing has happened in it, so a beginning that is lost is made again. */
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

/** Errors of statements that begin a transaction of Kysely's. */
const ofBeginnings = new WeakSet<Error>()

/** Lets a dialect mark what failed at the beginning of a transaction; for `tryingAgain`. */
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

/** Lets a Kysely try again what had no effect: a statement by itself, a stream before its first rows, the beginning of a transaction. */
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
