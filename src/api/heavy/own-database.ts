/** A thread cannot share the connections of the server: it opens some of its own, for one job. */
import type { Database } from '../../database/database.ts'
import { openDatabase } from '../../database/open.ts'

/** What is done within a transaction, and what is asked beside it. */
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
