/**
 * Restores a backup into an empty database. The whole file is checked before anything is written. What was written is read back
 * and compared with the checksums. A restore that was killed is repeated, because the database knows that it holds only a part.
 */

import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { knowing } from '../database/kysely.ts'
import { migrate } from '../database/migrate.ts'
import { wholeRows } from '../database/rows.ts'
import type { AnyTable, Column } from '../database/table.ts'
import { retrying } from '../database/write.ts'
import { seedRows } from '../domain/seeds.ts'
import { FatalError, UserError } from '../errors.ts'
import { refuseForeign } from '../import-devlake/recognise.ts'
import { findKey, type KeyPlace, readKeyFile } from '../secrets/encryption-key.ts'
import { rotateKey } from '../secrets/rotate-key.ts'
import { createSecrets } from '../secrets/secrets.ts'
import { restores } from '../system/state.ts'
import { allTables } from '../tables.ts'
import type { BackupSource } from './backup-place.ts'
import { fileSource } from './folder-place.ts'
import { decodeCell, type EndLine, type Header, type TableLine } from './format.ts'
import { readBackup } from './read-backup.ts'
import { backedUpTables, generatedColumn, rowLines, withAdded } from './stored-tables.ts'

export interface RestorePlace extends KeyPlace {
  readonly oldEncryptionSecret?: string | undefined
  /** A file with the key of the backup, if that is no longer the current key. */
  readonly oldKeyFile?: string | undefined
}

/** A backup that was read to its end, and the key that opens its secrets. */
export interface CheckedBackup {
  readonly file: string
  readonly source: BackupSource
  readonly header: Header
  readonly tables: number
  readonly rows: number
  /** Set if it is not the current key. */
  readonly oldKey?: string
}

/** Reads only the file: no database is needed to find out that a backup cannot be restored. */
export async function checkBackup(from: string | BackupSource, place: RestorePlace): Promise<CheckedBackup> {
  const source = typeof from === 'string' ? fileSource(from) : from
  let header: Header | undefined
  const { tables, rows } = await readBackup(source, { header: (line) => (header = line) })
  if (!header) throw new FatalError('a backup has a header')
  const oldKey = oldKeyFor(header, place)
  return { file: source.name, source, header, tables, rows, ...(oldKey !== undefined && { oldKey }) }
}

function oldKeyFor({ key }: Header, place: RestorePlace): string | undefined {
  const fits = (candidate: string | undefined) =>
    candidate !== undefined && createSecrets(candidate).fingerprint === key
  const current = findKey(place)
  if (key === '' || fits(current?.key)) return undefined
  const old = place.oldKeyFile === undefined ? place.oldEncryptionSecret : readKeyFile(place.oldKeyFile)?.key
  if (!fits(old)) {
    const found = current
      ? `The backup was made with another encryption key than the one ${current.origin}`
      : 'There is no encryption key here, and the backup cannot be opened without the one that it was made with'
    throw new UserError(
      `${found}: put that key back, or name the file that holds it with --old-key, or set OLD_ENCRYPTION_SECRET. Nothing was changed.`,
    )
  }
  if (!current) {
    throw new UserError(
      'There is no encryption key here yet: set ENCRYPTION_SECRET, or copy the key of the backup to DATA_FOLDER/encryption-key. Nothing was changed.',
    )
  }
  return old
}

const MARK = { id: 'current' } as const

/** Makes the tables, but no rows. */
export const prepareForRestore = (database: Database): Promise<void> =>
  migrate(database, allTables, (live) => refuseForeign(database, live, false))

export const restoreBackup = (database: Database, backup: CheckedBackup, place: KeyPlace): Promise<void> =>
  database.locked('restore', async () => {
    const { kysely } = database
    if (await kysely.selectFrom(restores.name).select('id').executeTakeFirst()) await emptyAll(database)
    else {
      await requireEmpty(database)
      await kysely
        .insertInto(restores.name)
        .values({ ...MARK, started_at: new Date() })
        .execute()
      // A server that was started in between has left a row.
      await requireEmpty(database).catch(async (error) => {
        await kysely.deleteFrom(restores.name).execute()
        throw error
      })
      for (const table of seedTables()) await knowing(kysely, table).deleteFrom(table.name).execute()
    }
    const ends = await load(database, backup.source)
    await compare(database, ends)
    if (backup.oldKey !== undefined) {
      await rotateKey(database, { ...place, encryptionSecret: backup.oldKey }, findKey(place)?.key)
    }
    await kysely.deleteFrom(restores.name).execute()
  })

const seedTables = () => new Set<AnyTable>(seedRows(new Date()).map(({ table }) => table))

/** Rows that every database holds do not count. */
async function requireEmpty({ kysely }: Database): Promise<void> {
  const known = seedTables()
  const filled: string[] = []
  for (const table of allTables) {
    if (table === restores || known.has(table)) continue
    const row = await sql`select 1 from ${sql.table(table.name)} limit 1`.execute(kysely)
    if (row.rows.length > 0) filled.push(table.name)
  }
  if (filled.length === 0) return
  throw new UserError(
    `This database is not empty: ${filled.length} tables hold rows, such as ${filled.slice(0, 3).join(', ')}. Restore into an empty one: name another in DB_URL, or another DATA_FOLDER. Nothing was changed.`,
  )
}

/** Removes what an earlier attempt has left. All tables are made again, because some refuse to lose rows. */
async function emptyAll(database: Database): Promise<void> {
  for (const table of backedUpTables) await sql`drop table if exists ${sql.table(table.name)}`.execute(database.kysely)
  await migrate(database, allTables)
}

const ROWS_AT_ONCE = 500

type LoadedTable = TableLine & EndLine

async function load(database: Database, source: BackupSource): Promise<LoadedTable[]> {
  const loaded: LoadedTable[] = []
  let line: TableLine | undefined
  let table: AnyTable | undefined
  let batch: (readonly unknown[])[] = []
  const flush = async () => {
    if (table && batch.length > 0) await send(database, table, batch)
    batch = []
  }
  await readBackup(source, {
    async table(next) {
      line = next
      const defined = backedUpTables.find(({ name }) => name === next.table) as AnyTable
      table = withAdded(defined, next.added)
      await addColumns(database, defined, table, next)
    },
    async row(cells) {
      if (batch.push(cells) === ROWS_AT_ONCE) await flush()
    },
    async end(end) {
      await flush()
      loaded.push({ ...(line as TableLine), ...end })
      const column = table && generatedColumn(table)
      const { next } = line as TableLine
      if (table && column && next !== null && next > 1) {
        await sql.raw(database.dialect.setNextNumber(table.name, column, next)).execute(database.kysely)
      }
    },
  })
  return loaded
}

async function addColumns({ kysely, dialect }: Database, defined: AnyTable, table: AnyTable, { added }: TableLine) {
  for (const { name } of added) {
    const type = dialect.columnType(table.columns[name] as Column, table)
    await sql
      .raw(`alter table ${dialect.quote(defined.name)} add column ${dialect.quote(name)} ${type}`)
      .execute(kysely)
  }
}

function send(database: Database, table: AnyTable, batch: readonly (readonly unknown[])[]): Promise<void> {
  const kinds = table.names.map((name) => (table.columns[name] as Column).kind)
  const rows = batch.map((cells) => cells.map((cell, position) => decodeCell(kinds[position] as Column['kind'], cell)))
  const all = wholeRows(table, rows)
  // A batch is written whole or not at all, so a batch that is sent again never meets its own rows.
  return retrying(database, () => database.transaction((inside) => inside.sendRows(all, 'insert')))
}

/** Compares what is in the database now with what the backup says. */
async function compare(database: Database, ends: readonly LoadedTable[]): Promise<void> {
  for (const { end, added, rows, sha256 } of ends) {
    const table = withAdded(backedUpTables.find(({ name }) => name === end) as AnyTable, added)
    const own = createHash('sha256')
    let count = 0
    for await (const line of rowLines(database, table)) {
      own.update(line).update('\n')
      count++
    }
    if (count !== rows || own.digest('hex') !== sha256) {
      throw new FatalError(
        `${end} was not restored as it was: ${count} of ${rows} rows arrived, or some of them changed. Run the command again on an empty database.`,
      )
    }
  }
}
