/** Reads a backup and trusts nothing in it: a line or a checksum that does not fit ends the reading. */
import { createHash } from 'node:crypto'
import { createGunzip } from 'node:zlib'
import type { z } from 'zod'
import { codeVersion } from '../database/migrate.ts'
import { messageOf, UserError } from '../errors.ts'
import type { BackupSource } from './backup-place.ts'
import {
  type EndLine,
  endLine,
  FORMAT,
  type Header,
  headerLine,
  type TableLine,
  type Trailer,
  tableLine,
  trailerLine,
} from './format.ts'
import { backedUpTables, schemaChecksum } from './stored-tables.ts'

interface BackupReader {
  header?(header: Header): void
  table?(table: TableLine): Promise<void> | void
  row?(cells: readonly unknown[]): Promise<void> | void
  end?(end: EndLine): Promise<void> | void
}

/** Reads the whole file in order, and returns its trailer. Nothing undoes what the reader did if a later line is wrong. */
export async function readBackup(source: BackupSource, reader: BackupReader): Promise<Trailer> {
  const file = source.name
  const broken = (why: string) =>
    new UserError(`${file} is not a whole backup: ${why}. Nothing was restored from it; use another copy.`)
  const parse = <Line>(schema: z.ZodType<Line>, line: string, what: string): Line => {
    const result = schema.safeParse(tryParse(line))
    if (result.success) return result.data
    throw broken(`${what} is missing or damaged`)
  }
  const all = createHash('sha256')
  const count = { tables: 0, rows: 0 }
  let own = createHash('sha256')
  let table: TableLine | undefined
  let rows = 0
  let isStarted = false
  let trailer: Trailer | undefined
  for await (const line of linesOf(source)) {
    if (trailer) throw broken('something follows its end')
    if (!isStarted) {
      const header = parse(headerLine, line, 'its first line')
      requireKnown(file, header)
      reader.header?.(header)
      isStarted = true
    } else if (table && line.startsWith('[')) {
      own.update(line).update('\n')
      rows++
      const cells = tryParse(line)
      if (!Array.isArray(cells) || cells.length !== table.columns.length)
        throw broken(`a row of ${table.table} is damaged`)
      await reader.row?.(cells)
    } else if (table) {
      const end = parse(endLine, line, `the end of ${table.table}`)
      if (end.end !== table.table || end.rows !== rows || end.sha256 !== own.digest('hex')) {
        throw broken(`the checksum of ${table.table} is another`)
      }
      await reader.end?.(end)
      count.tables++
      count.rows += rows
      table = undefined
    } else if (count.tables < backedUpTables.length) {
      table = parse(tableLine, line, `the table ${backedUpTables[count.tables]?.name}`)
      requireTable(table, count.tables, broken)
      own = createHash('sha256')
      rows = 0
      await reader.table?.(table)
    } else {
      trailer = parse(trailerLine, line, 'its last line')
      if (trailer.tables !== count.tables || trailer.rows !== count.rows || trailer.sha256 !== all.digest('hex')) {
        throw broken('its checksum is another')
      }
      continue
    }
    all.update(line).update('\n')
  }
  if (!trailer) throw broken('it ends in the middle')
  return trailer
}

/** Another version has other tables, and those that it left out or added cannot be guessed. */
function requireKnown(file: string, { format, schema, version, schemaVersion }: Header): void {
  if (format === FORMAT && schema === schemaChecksum) return
  const which =
    schemaVersion === undefined ? version : `${version}, schema ${schemaVersion}; this one has ${codeVersion}`
  throw new UserError(
    `${file} was made by another version of Weir (${which}), which has other tables: restore it with that version, then update. Nothing was changed.`,
  )
}

/** Reads the first line; undefined if the file is no backup that can be read. */
export async function readHeader(source: BackupSource): Promise<Header | undefined> {
  try {
    for await (const line of linesOf(source)) return headerLine.safeParse(tryParse(line)).data
  } catch (error) {
    if (!(error instanceof UserError)) throw error
  }
  return undefined
}

function requireTable(line: TableLine, position: number, broken: (why: string) => Error): void {
  const known = backedUpTables[position]
  const columns = [...(known?.names ?? []), ...line.added.map(({ name }) => name)]
  if (line.table !== known?.name || columns.join() !== line.columns.join())
    throw broken(`${line.table} is not as expected`)
}

function tryParse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

const NEWLINE = 10

async function* linesOf({ name, open }: BackupSource): AsyncGenerator<string> {
  const packed = open()
  const bytes = createGunzip()
  packed.on('error', (error) => bytes.destroy(error))
  packed.pipe(bytes)
  let rest: Buffer[] = []
  try {
    for await (const chunk of bytes as AsyncIterable<Buffer>) {
      let from = 0
      for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
        yield Buffer.concat([...rest, chunk.subarray(from, at)]).toString()
        rest = []
        from = at + 1
      }
      if (from < chunk.length) rest.push(chunk.subarray(from))
    }
  } catch (error) {
    throw explain(name, error as NodeJS.ErrnoException)
  } finally {
    packed.destroy()
  }
  if (rest.length > 0) yield Buffer.concat(rest).toString()
}

function explain(file: string, error: NodeJS.ErrnoException): Error {
  if (error.code === 'ENOENT') return new UserError(`${file} does not exist.`)
  if (error.code === 'Z_BUF_ERROR') {
    return new UserError(`${file} ends in the middle: it was cut. Nothing was restored from it; use another copy.`)
  }
  if (error.code?.startsWith('Z_')) {
    return new UserError(`${file} is damaged, or is not a backup (${messageOf(error)}). Nothing was restored from it.`)
  }
  if (error.syscall) return new UserError(`${file} cannot be read: ${messageOf(error)}.`, { cause: error })
  return error
}
