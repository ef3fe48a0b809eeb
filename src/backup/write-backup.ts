/** Writes everything that the database holds, as it was at one moment. Servers may run meanwhile. */
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { codeVersion } from '../database/migrate.ts'
import type { AnyTable } from '../database/table.ts'
import { UserError } from '../errors.ts'
import { storedKey } from '../secrets/encryption-key.ts'
import type { Take } from './backup-place.ts'
import { writeFileAt } from './folder-place.ts'
import { type EndLine, FORMAT, type Header, type TableLine, type Trailer } from './format.ts'
import { addedColumns, backedUpTables, generatedColumn, rowLines, schemaChecksum, withAdded } from './stored-tables.ts'

interface Making {
  readonly version: string
  readonly madeAt?: Date
  /** If this is aborted, nothing of the backup is left. */
  readonly signal?: AbortSignal
}
export interface Written {
  readonly tables: number
  readonly rows: number
  /** Fingerprint of the encryption key that it needs. */
  readonly key: string
}

/** A statement that takes longer than a day will not end by itself. */
const LONGEST_SECONDS = 86_400

/** Writes to a new file, whole or not at all. */
export const writeBackup = (
  database: Database,
  file: string,
  { force = false, ...making }: Making & { readonly force?: boolean },
): Promise<Written> => writeFileAt(file, force, (take) => streamBackup(database, take, making))

export async function streamBackup(
  database: Database,
  take: Take,
  { version, madeAt = new Date(), signal }: Making,
): Promise<Written> {
  const count = { tables: 0, rows: 0 }
  return database.reading(LONGEST_SECONDS, async (inside) => {
    const stored = await storedKey(inside)
    if (stored?.next_fingerprint) {
      throw new UserError(
        'The encryption key of this database is being replaced: run `npx weir secrets rotate` to its end, then make the backup.',
      )
    }
    const key = stored?.fingerprint ?? ''
    const header: Header = {
      weir: 'backup',
      format: FORMAT,
      madeAt: madeAt.toISOString(),
      version,
      schemaVersion: codeVersion,
      schema: schemaChecksum,
      key,
    }
    const lines = Readable.from(inChunks(backupLines(inside, header, count)))
    let taken: Promise<void> | undefined
    const end = (packed: AsyncIterable<Buffer>) => {
      taken = take(packed)
      return taken
    }
    try {
      await pipeline(lines, createGzip(), end, ...(signal ? [{ signal }] : []))
    } catch (error) {
      // All bytes were taken already when the abort came.
      const isWhole = await taken?.then(
        () => true,
        () => false,
      )
      if (isWhole) return { ...count, key }
      if (signal?.aborted) throw new UserError('The backup was interrupted. Nothing is left of it: run it again.')
      throw error
    }
    return { ...count, key }
  })
}

/** All lines of a backup, without line ends; `count` receives the numbers of tables and rows. */
async function* backupLines(
  database: Database,
  header: Header,
  count: { tables: number; rows: number },
): AsyncGenerator<string> {
  const all = createHash('sha256')
  const whole = (line: string) => {
    all.update(line).update('\n')
    return line
  }
  yield whole(JSON.stringify(header))
  const live = await database.describe()
  const numbers = await nextNumbers(database)
  for (const defined of backedUpTables) {
    const added = addedColumns(defined, live.get(defined.name))
    const table = withAdded(defined, added)
    const line: TableLine = {
      table: table.name,
      columns: [...table.names],
      added,
      next: await nextOf(database, table, numbers),
    }
    yield whole(JSON.stringify(line))
    const own = createHash('sha256')
    let rows = 0
    for await (const line of rowLines(database, table)) {
      own.update(line).update('\n')
      rows++
      yield whole(line)
    }
    yield whole(JSON.stringify({ end: table.name, rows, sha256: own.digest('hex') } satisfies EndLine))
    count.tables++
    count.rows += rows
  }
  yield JSON.stringify({ ...count, sha256: all.digest('hex') } satisfies Trailer)
}

/** Rows that were stored with a given number may be ahead of the database's counter. */
async function nextOf({ kysely }: Database, table: AnyTable, numbers: ReadonlyMap<string, number>) {
  const column = generatedColumn(table)
  if (column === undefined) return null
  const { rows } = await sql<{ last: number | null }>`select max(${sql.id(column)}) as last
    from ${sql.table(table.name)}`.execute(kysely)
  return Math.max(numbers.get(table.name) ?? 1, Number(rows[0]?.last ?? 0) + 1)
}

async function nextNumbers({ kysely, dialect }: Database): Promise<Map<string, number>> {
  const { prepare, select } = dialect.nextNumbers
  if (prepare) await sql.raw(prepare).execute(kysely)
  const { rows } = await sql.raw<{ name: string; next: number }>(select).execute(kysely)
  return new Map(rows.map(({ name, next }) => [name, Number(next)]))
}

const CHUNK = 1 << 16

/** Sends many lines at once, because a step through the streams costs more than a short line. */
async function* inChunks(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let chunk = ''
  for await (const line of lines) {
    chunk += `${line}\n`
    if (chunk.length < CHUNK) continue
    yield chunk
    chunk = ''
  }
  yield chunk
}
