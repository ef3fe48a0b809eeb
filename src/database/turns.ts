/**
 * Code that holds a connection for a stream and needs another one must be able to get it. Otherwise streams could hold all
 * connections, and nothing would continue. A stream is held while its rows are processed, so the number of open streams is
 * limited and some connections stay free for work.
 */

import { FatalError } from '../errors.ts'
import type { AnyValue } from './column.ts'
import type { AnyKysely } from './kysely.ts'

/** Connections that streams leave free: for writes, lookups and progress reports. */
const KEPT_FREE = 2

export interface Turns {
  /** Waits in order of the calls, at most until the signal is aborted. Returns the function that ends the turn. */
  take(signal?: AbortSignal): Promise<() => void>
  /** Rejects everything that still waits. */
  close(): void
}

interface Waiting {
  go(): void
  fail(error: unknown): void
}

export function createTurns(connections: number): Turns {
  let free = Math.max(1, connections - KEPT_FREE)
  let isClosed = false
  const waiting = new Set<Waiting>()
  const closed = () => new FatalError('the database was closed')
  const end = () => {
    free++
    const [next] = waiting
    if (!next) return
    waiting.delete(next)
    next.go()
  }
  /** The returned function ends the turn only once, even if it is called several times. */
  function begin(): () => void {
    free--
    let isOver = false
    return () => {
      if (!isOver) end()
      isOver = true
    }
  }
  return {
    async take(signal) {
      signal?.throwIfAborted()
      if (isClosed) throw closed()
      if (free > 0) return begin()
      return new Promise((resolve, reject) => {
        const giveUp = () => waiting.delete(mine) && mine.fail(signal?.reason)
        const mine: Waiting = {
          go() {
            signal?.removeEventListener('abort', giveUp)
            resolve(begin())
          },
          fail(error) {
            signal?.removeEventListener('abort', giveUp)
            reject(error)
          },
        }
        waiting.add(mine)
        signal?.addEventListener('abort', giveUp, { once: true })
      })
    },
    close() {
      isClosed = true
      for (const each of waiting) each.fail(closed())
      waiting.clear()
    },
  }
}

/** Makes the streams of a Kysely take turns. Streams inside a transaction have their connection already. */
export function inTurns(kysely: AnyKysely, turns: Turns, signal?: AbortSignal): AnyKysely {
  const executor = kysely.getExecutor()
  const stream: typeof executor.stream = executor.stream.bind(executor)
  executor.stream = async function* (...query) {
    const end = await turns.take(signal)
    try {
      yield* stream(...query) as AsyncGenerator<AnyValue>
    } finally {
      end()
    }
  }
  return kysely
}
