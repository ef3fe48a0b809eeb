/**
 * A server that was frozen for longer than others wait for it must not continue as if nothing had happened: they may have
 * taken over its tasks. What its tasks ask of the database is refused from then on until it has told that it lives.
 */
import type { Database } from '../database/database.ts'
import { UnavailableError } from '../errors.ts'

export interface Fence {
  /** Shared with the threads that tasks run in. */
  readonly memory: SharedArrayBuffer
  /** Until so long after `from` nobody takes over. */
  open(from: bigint, forMs: number): void
  check(): void
}

/** One clock for all threads, that nobody sets. */
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

/** The database for what may be asked of it only while the fence is open. Others continue with the one that was handed in. */
export function behindFence(database: Database, fence: Fence): Database {
  const open = database.kysely.getExecutor()
  // A copy with an executor of its own: no plugin is in use.
  const kysely = database.kysely.withoutPlugins()
  const fenced = kysely.getExecutor()
  fenced.provideConnection = async (consumer) => {
    fence.check()
    return open.provideConnection(consumer)
  }
  // Not its own: streams take turns, which only the executor that was handed in knows of.
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
        // Nothing of it stays when the server was frozen in the middle.
        fence.check()
        return result
      })
    },
    until: (signal) => behindFence(database.until(signal), fence),
  }
}
