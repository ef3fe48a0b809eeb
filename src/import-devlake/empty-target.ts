/** An import keeps ids, so it needs a database without rows that have ids already. */
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { AnyTable } from '../database/table.ts'
import { seedRows } from '../domain/seeds.ts'
import { UserError } from '../errors.ts'
import { findLiving } from '../runner/servers.ts'
import { auditEntries, authSessions, encryptionKeys, sessionOrigins, usedSignIns } from '../system/access.ts'
import { servers } from '../system/runs.ts'
import { importedTables, imports, store } from '../system/state.ts'
import { allTables } from '../tables.ts'

/** Tables that a server fills when it was started and people only looked at it. */
const HARMLESS: ReadonlySet<AnyTable> = new Set<AnyTable>([
  auditEntries,
  authSessions,
  encryptionKeys,
  sessionOrigins,
  usedSignIns,
  servers,
  imports,
  importedTables,
  store,
  ...seedRows(new Date()).map(({ table }) => table),
])
const MOST_NAMES = 3

export async function requireEmpty({ kysely }: Database): Promise<void> {
  const found: string[] = []
  for (const table of allTables) {
    if (HARMLESS.has(table)) continue
    const { rows } = await sql`select 1 as one from ${sql.table(table.name)} limit 1`.execute(kysely)
    if (rows.length > 0 && found.push(table.name) === MOST_NAMES) break
  }
  if (found.length === 0) return
  throw new UserError(
    `The database of DB_URL already holds data (${found.join(', ')}), and an import keeps the ids of DevLake: set DB_URL to an empty database. Nothing was changed.`,
  )
}

export async function requireNoServer(database: Database): Promise<void> {
  const living = await findLiving(database)
  if (living === 0) return
  throw new UserError(`Running servers of the database of DB_URL: ${living}. Stop them, then import.`)
}
