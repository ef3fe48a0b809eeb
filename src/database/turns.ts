/**
 * Who holds a connection and needs another one must get it: else all of them may be held by such, and none ever continues.
 * A stream is held while its rows are worked on, so only so many are open at a time that some connections stay for work.
 */

import { FatalError } from '../errors.ts'
import type { AnyValue } from './column.ts'
import type { AnyKysely } from './kysely.ts'

/** For writing, looking up and telling the progress of what is streamed. */
const KEPT_FREE = 2

export interface Turns {
  /** Waits in the order of asking, and no longer than until the signal is given. Gives the function that ends the turn. */
  take(signal?: AbortSignal): Promise<() => void>
  /** Nobody waits any more. */
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
  /** A turn ends once, however often its end is told. */
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

/** Lets the streams of a Kysely take turns; those of its transactions have their connection already. */
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
