import type { KyselyPlugin } from 'kysely'
import type { Database } from '../../../src/database/database.ts'

class Killed extends Error {
  override message = 'killed'
}

/**
 * The database as a process sees it that is killed: after so many statements no other arrives, whoever sends it, and a
 * transaction under way is rolled back.
 */
export function dyingAfter(database: Database, statements: number): Database {
  let left = statements
  const tick = () => {
    if (left-- <= 0) throw new Killed()
  }
  const plugin: KyselyPlugin = {
    transformQuery: ({ node }) => {
      tick()
      return node
    },
    transformResult: async ({ result }) => result,
  }
  const mortal = (alive: Database): Database => ({
    ...alive,
    kysely: alive.kysely.withPlugin(plugin),
    async sendRows(rows, mode) {
      tick()
      await alive.sendRows(rows, mode)
    },
    async transaction(body) {
      tick()
      return alive.transaction(async (inner) => {
        const result = await body(mortal(inner))
        tick()
        return result
      })
    },
  })
  return mortal(database)
}
