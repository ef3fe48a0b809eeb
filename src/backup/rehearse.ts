/**
 * Restores a backup into a database that serves nothing else, compares every table with its checksum, and removes everything
 * again. So it is known that the backup can be restored before anybody needs it.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { startEmbedded } from '../database/embedded/embedded.ts'
import { openDatabase } from '../database/open.ts'
import { messageOf, UnavailableError, UserError } from '../errors.ts'
import { type CheckedBackup, prepareForRestore, type RestorePlace, restoreBackup } from './restore.ts'

/** This table exists while a rehearsal runs. If one was killed, the table shows that everything it left may be removed. */
const MARK = '_weir_rehearsal'

/** Without an address, uses a new embedded database in the folder for temporary files. */
export async function rehearse(backup: CheckedBackup, place: RestorePlace, url?: string): Promise<void> {
  if (url !== undefined) return rehearseIn(url, backup, place).catch(nameOption)
  const folder = await mkdtemp(join(tmpdir(), 'weir-rehearsal-'))
  try {
    const embedded = await startEmbedded(folder)
    try {
      await rehearseIn(embedded.url, backup, place)
    } finally {
      await embedded.stop()
    }
  } catch (error) {
    // This database is in another place than the one that messages about databases name.
    if (!(error instanceof UserError || error instanceof UnavailableError)) throw error
    throw new UserError(
      `The backup is there, but the temporary database of its rehearsal in ${folder} failed: set TMPDIR to a folder with more room, or name an empty database with --database. It said: ${messageOf(error)}`,
      { cause: error },
    )
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Messages about a database name DB_URL, but this one was named in another way. */
function nameOption(error: unknown): never {
  if (!(error instanceof UserError || error instanceof UnavailableError)) throw error
  throw new UserError(messageOf(error).replaceAll('DB_URL', '--database'), { cause: error })
}

async function rehearseIn(url: string, backup: CheckedBackup, place: RestorePlace): Promise<void> {
  const database = await openDatabase(url)
  try {
    await database.locked('rehearsal', () => inScratch(database, backup, place))
  } catch (error) {
    throw database.explain(error) ?? error
  } finally {
    await database.close()
  }
}

async function inScratch(database: Database, backup: CheckedBackup, place: RestorePlace): Promise<void> {
  const there = await database.describe()
  if (there.size > 0 && !there.has(MARK)) {
    throw new UserError(
      `The database of --database is not empty: it has ${there.size} tables. A rehearsal needs one that serves nothing else, because it empties it. Nothing was changed.`,
    )
  }
  await dropAll(database)
  await sql`create table ${sql.table(MARK)} (id integer)`.execute(database.kysely)
  try {
    await prepareForRestore(database)
    await restoreBackup(database, backup, place)
  } finally {
    await dropAll(database)
  }
}

/** Removes the mark last: if this is killed, the next rehearsal continues with the removal. */
async function dropAll(database: Database): Promise<void> {
  const tables = [...(await database.describe()).keys()].filter((name) => name !== MARK)
  for (const name of [...tables, MARK]) {
    await sql`drop table if exists ${sql.table(name)}`.execute(database.kysely)
  }
}
