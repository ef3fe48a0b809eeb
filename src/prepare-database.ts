import type { Database } from './database/database.ts'
import { migrate } from './database/migrate.ts'
import { write } from './database/write.ts'
import { seedRows } from './domain/seeds.ts'
import { allTables } from './tables.ts'

/** Makes a database fit for this code: tables, then the rows that every database holds. */
export async function prepareDatabase(database: Database, today = new Date()): Promise<void> {
  await migrate(database, allTables)
  await write(database, seedRows(today))
}
