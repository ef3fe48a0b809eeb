/** A thread cannot share the server's database connections, so it opens its own for one job. */
import type { Database } from '../../database/database.ts'
import { openDatabase } from '../../database/open.ts'

/** One for a transaction, and one for queries outside it. */
const CONNECTIONS = 2

export async function onOwnDatabase<Result>(url: string, act: (database: Database) => Promise<Result>) {
  const database = await openDatabase(url, CONNECTIONS)
  try {
    return await act(database)
  } catch (error) {
    throw database.explain(error) ?? error
  } finally {
    await database.close()
  }
}
