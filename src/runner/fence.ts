/**
 * Other servers take over the tasks of a server that is silent for too long. If it was only frozen, it must not continue as if
 * nothing had happened. The fence refuses all database queries of its tasks until it has reported that it is alive.
 */
import type { Database } from '../database/database.ts'
import { UnavailableError } from '../errors.ts'

export interface Fence {
  /** Memory shared with the threads that run tasks. */
  readonly memory: SharedArrayBuffer
  /** Allows queries until `forMs` after `from`. Before then no other server takes over. */
  open(from: bigint, forMs: number): void
  check(): void
}

/** A clock that all threads share and that nobody can adjust. */
export const now = (): bigint => process.hrtime.bigint()
const NS = 1_000_000n

export function createFence(memory = new SharedArrayBuffer(8)): Fence {
  const openUntil = new BigInt64Array(memory)
  return {
    memory,
    open: (from, forMs) => void Atomics.store(openUntil, 0, from + BigInt(forMs) * NS),
    check() {
      const end = Atomics.load(openUntil, 0)
      if (end !== 0n && now() > end) {
        throw new UnavailableError(
          'This server could not reach the database for too long; another server may have taken over.',
        )
      }
    },
  }
}

/** Wraps a database so that it can be used only while the fence is open. The original database is not restricted. */
export function behindFence(database: Database, fence: Fence): Database {
  const open = database.kysely.getExecutor()
  // Creates a copy with a separate executor. Nothing is lost, because no plugin is in use.
  const kysely = database.kysely.withoutPlugins()
  const fenced = kysely.getExecutor()
  fenced.provideConnection = async (consumer) => {
    fence.check()
    return open.provideConnection(consumer)
  }
  // Streams must use the original executor, because only that one makes them take turns.
  fenced.stream = (...query) => {
    fence.check()
    return open.stream(...query)
  }
  return {
    ...database,
    kysely,
    async sendRows(rows, mode, before) {
      fence.check()
      return database.sendRows(rows, mode, before?.then(fence.check))
    },
    async transaction(body) {
      fence.check()
      return database.transaction(async (inside) => {
        const result = await body(inside)
        // Rolls the transaction back if the server was frozen in the middle of it.
        fence.check()
        return result
      })
    },
    until: (signal) => behindFence(database.until(signal), fence),
  }
}
