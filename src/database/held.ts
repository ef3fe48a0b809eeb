/**
 * Code that holds a connection must not wait for another one of the same pool: if every connection were held that way, all
 * would wait for ever. Such code is refused at once, even if connections are free at that moment.
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

/** Runs `body`, which holds a connection of the pool. */
export async function holding<Result>(pool: object, body: () => Promise<Result>): Promise<Result> {
  const hold: Hold = { pool, isOver: false, outer: current.getStore() }
  try {
    return await current.run(hold, body)
  } finally {
    // Work that `body` started but did not wait for continues without the connection.
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

/** Makes the transactions of a Kysely count as holding a connection of the pool. */
export function holdingOn(kysely: AnyKysely, pool: object): AnyKysely {
  const executor = kysely.getExecutor()
  const provide: typeof executor.provideConnection = executor.provideConnection.bind(executor)
  executor.provideConnection = (consumer) => provide((connection) => holding(pool, () => consumer(connection)))
  return kysely
}

/** Wraps a function that runs later on its own, such as by a timer. No holder of a connection waits for it. */
export const byItself =
  <Parameters extends unknown[]>(body: (...parameters: Parameters) => void) =>
  (...parameters: Parameters): void =>
    current.run(undefined, () => body(...parameters))
