import type { Database } from '../database/database.ts'
import { migrate } from '../database/migrate.ts'
import { write } from '../database/write.ts'
import { seedRows } from '../domain/seeds.ts'
import { UserError } from '../errors.ts'
import { refuseForeign } from '../import-devlake/recognise.ts'
import { restores } from '../system/state.ts'
import { allTables } from '../tables.ts'

interface Preparation {
  /** The date for seed rows that depend on the calendar. */
  readonly today?: Date
  /** True for a command that continues an interrupted import. Otherwise such an import makes the database unusable. */
  readonly continuesImport?: boolean
}

/** Prepares a database for this version of the code: creates the tables, then the rows that every database has. */
export async function prepareDatabase(
  database: Database,
  { today = new Date(), continuesImport = false }: Preparation = {},
): Promise<void> {
  await migrate(database, allTables, (live) => refuseForeign(database, live, continuesImport))
  await requireWholeData(database)
  await write(database, seedRows(today))
}

async function requireWholeData({ kysely }: Database): Promise<void> {
  const unfinished = await kysely.selectFrom(restores.name).select('id').executeTakeFirst()
  if (!unfinished) return
  throw new UserError(
    'A restore of this database was begun and not finished, or still runs: run `npx weir restore FILE` again, then start.',
  )
}
