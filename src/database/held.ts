/**
 * Nobody waits for a connection while holding one of the same pool: when all are held by such, none ever continues. Code
 * that would is refused at once, however many connections are free just then.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { FatalError } from '../errors.ts'
import type { AnyKysely } from './kysely.ts'

interface Hold {
  readonly pool: object
  isOver: boolean
  readonly outer: Hold | undefined
}
const current = new AsyncLocalStorage<Hold | undefined>()

/** Runs `body`, which has a connection of the pool for itself. */
export async function holding<Result>(pool: object, body: () => Promise<Result>): Promise<Result> {
  const hold: Hold = { pool, isOver: false, outer: current.getStore() }
  try {
    return await current.run(hold, body)
  } finally {
    // What it has begun and left behind continues without the connection.
    hold.isOver = true
  }
}

export function requireNoneHeld(pool: object): void {
  for (let hold = current.getStore(); hold; hold = hold.outer) {
    if (hold.pool === pool && !hold.isOver) {
      throw new FatalError('a database connection was asked for while one is held: use the one of the transaction')
    }
  }
}

/** Lets the transactions of a Kysely hold a connection of the pool. */
export function holdingOn(kysely: AnyKysely, pool: object): AnyKysely {
  const executor = kysely.getExecutor()
  const provide: typeof executor.provideConnection = executor.provideConnection.bind(executor)
  executor.provideConnection = (consumer) => provide((connection) => holding(pool, () => consumer(connection)))
  return kysely
}

/** What runs later by itself, such as by a timer: nobody who holds a connection waits for it. */
export const byItself =
  <Parameters extends unknown[]>(body: (...parameters: Parameters) => void) =>
  (...parameters: Parameters): void =>
    current.run(undefined, () => body(...parameters))
