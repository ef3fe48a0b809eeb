/** Finds out whether a database is DevLake's, and one that this code can read. */
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { LiveTable } from '../database/dialect.ts'
import { schemaVersions } from '../database/migrate.ts'
import type { RowOf } from '../database/table.ts'
import { UserError } from '../errors.ts'
import { imports, migrationHistory } from '../system/state.ts'

export type Live = ReadonlyMap<string, LiveTable>
export type ImportRow = RowOf<typeof imports>

/** The newest migration of the DevLake with which Weir's tables were compared. */
const NEWEST_KNOWN = 20_260_426_000_001

const CONTINUE = 'run the same `npx weir import devlake` again, which continues it, or set DB_URL to another database.'

/** The import into this database, or its adoption; undefined if there was none. */
export async function readImport({ kysely }: Database, live: Live): Promise<ImportRow | undefined> {
  if (!live.has(imports.name)) return undefined
  const { rows } = await sql<ImportRow>`select * from ${sql.table(imports.name)}`.execute(kysely)
  return rows[0]
}

/** A database of Weir has the table too, but it is empty there. */
export async function isDevLake({ kysely }: Database, live: Live): Promise<boolean> {
  if (!live.has(migrationHistory.name)) return false
  if (!live.has(schemaVersions.name)) return true
  const { rows } = await sql`select 1 as one from ${sql.table(migrationHistory.name)} limit 1`.execute(kysely)
  return rows.length > 0
}

/** Called before anything is written to a database: refuses one of DevLake, and one whose import was interrupted. */
export async function refuseForeign(database: Database, live: Live, continuesImport = false): Promise<void> {
  const begun = await readImport(database, live)
  if (begun?.finished_at) return
  if (begun && !continuesImport) {
    throw new UserError(
      `The ${begun.is_in_place ? 'adoption' : 'import'} of a DevLake database was interrupted: ${CONTINUE}`,
    )
  }
  if (begun?.is_in_place || !(await isDevLake(database, live))) return
  throw new UserError(
    'DB_URL is a database of DevLake. Nothing was changed in it. Set DB_URL to another database and copy this one with `npx weir import devlake --from URL`, or make a backup and adopt it with `npx weir import devlake --in-place`.',
  )
}

/** Only migrations of `owners` count: those of plugins that Weir does not have change nothing that it reads. */
export async function requireKnownVersion(
  { kysely }: Database,
  live: Live,
  owners: readonly string[],
  needed: readonly { readonly table: string; readonly columns: readonly string[] }[],
): Promise<void> {
  const { rows } = await sql<{ version: number; name: string }>`
    select script_version as version, script_name as name from ${sql.table(migrationHistory.name)}
    where comment in (${sql.join(['Framework', ...owners])}) order by script_version desc limit 1`.execute(kysely)
  const [newest] = rows
  if (!newest) {
    throw new UserError('This DevLake database is not complete: its list of migrations is empty. Start DevLake once.')
  }
  if (newest.version > NEWEST_KNOWN) {
    throw new UserError(
      `This DevLake database is of a newer version than this Weir knows: its last migration is ${newest.version} (${newest.name}), the newest known one ${NEWEST_KNOWN}. Update Weir. Nothing was changed.`,
    )
  }
  for (const { table, columns } of needed) {
    const missing = columns.find((column) => !live.get(table)?.columns.has(column))
    if (missing === undefined && live.has(table)) continue
    const what = live.has(table) ? `the column ${missing} of ${table}` : `the table ${table}`
    throw new UserError(
      `This DevLake database is of an older version than Weir can read: ${what} is missing. Update DevLake first, start it once, then try again. Nothing was changed.`,
    )
  }
}
