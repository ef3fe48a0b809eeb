import type { KyselyPlugin } from 'kysely'
import type { Database } from '../../../src/database/database.ts'

class Killed extends Error {
  override message = 'killed'
}

/**
 * A database as a killed process sees it: after this many statements no other statement arrives, whoever sends it, and an
 * open transaction is rolled back.
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
