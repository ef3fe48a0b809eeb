import type { Database } from '../database/database.ts'
import type { TableRow } from '../database/table.ts'
import { retrying, write } from '../database/write.ts'

/** Stores a page: its records, the checkpoint that counts them, and the tags that may spare asking again, or nothing. */
export type StorePage = (rows: readonly TableRow[]) => Promise<void>

interface Waiting {
  readonly rows: readonly TableRow[]
  readonly done: PromiseWithResolvers<void>
}

/** Pages that arrive while a transaction is under way share the next one: most are small, and commits are not. */
export function createPageStore(database: Database): StorePage {
  let waiting: Waiting[] = []
  let isWriting = false

  async function drain() {
    isWriting = true
    while (waiting.length > 0) {
      const group = waiting
      waiting = []
      const rows = group.flatMap((page) => page.rows)
      try {
        await retrying(database, () => database.transaction((transaction) => write(transaction, rows)))
        for (const { done } of group) done.resolve()
      } catch (error) {
        for (const { done } of group) done.reject(error)
      }
    }
    isWriting = false
  }

  return (rows) => {
    const done = Promise.withResolvers<void>()
    waiting.push({ rows, done })
    if (!isWriting) void drain()
    return done.promise
  }
}
