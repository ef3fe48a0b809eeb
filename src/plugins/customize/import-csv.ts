/** Imports a CSV file into domain tables. If one line is wrong, nothing is imported. */

import { sql } from 'kysely'
import { byName } from '../../basics/by-name.ts'
import type { AnyTable } from '../../database/table.ts'
import { type Column, defineTable, keyOf, optional, requireWholeText, type TableRow } from '../../database/table.ts'
import { accounts } from '../../domain/people.ts'
import {
  among,
  type Csv,
  type CsvRecord,
  inBatches,
  inPieces,
  lineError,
  onLine,
  openCsv,
  requireColumns,
  retrying,
  write,
} from '../../plugin-kit/index.ts'
import { type CsvFile, csvAccountId, type Values } from './csv-files.ts'
import { type Database, withFields } from './fields.ts'

interface ImportTarget {
  readonly ownerId: string
  /** If a name is given, the row of the owner is written. */
  readonly ownerName?: string | undefined
  /** Adds to earlier imports instead of replacing them. */
  readonly isIncremental: boolean
}

/** Lines of a batch are written together, so that the time for a file depends on its size and not on the number of round trips. */
const BATCH = 10_000

/** Returns the number of imported lines. */
export function importCsv(database: Database, file: CsvFile, bytes: Buffer, target: ImportTarget): Promise<number> {
  return retrying(database, () =>
    database.transaction(async (inside) => {
      const csv = await openCsv(file.name, bytes)
      const { read, people } = await readerOf(inside, file, csv, target.ownerId)
      if (!target.isIncremental || file.isAlwaysWhole) await clear(inside, file, target.ownerId)
      if (target.ownerName) await write(inside, [file.owner.row(target.ownerId, target.ownerName)])
      let lines = 0
      for await (const batch of inBatches(singly(csv.records), BATCH)) {
        await store(inside, file, csv.header, batch.map(read))
        lines += batch.length
      }
      await write(inside, [...people.values()])
      return lines
    }),
  )
}

async function* singly<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item[]> {
  for await (const item of items) yield [item]
}

/** The rows that one line makes. */
interface Made {
  readonly key: string
  readonly id: string
  readonly rows: readonly TableRow[]
}

/** Columns that the import itself fills. A file that was exported from a table may contain them. */
const OWN = ['created_at', 'updated_at', '_raw_data_params', '_raw_data_table', '_raw_data_id', '_raw_data_remark']

async function readerOf(database: Database, file: CsvFile, { header }: Csv, ownerId: string) {
  const { lists = {}, adds = {} } = file
  const whole = await withFields(database, file.tables[0])
  const keys = whole.keys.map((position) => whole.names[position] as string)
  const needed = [...keys, ...(file.needed ?? [])]
  const known = new Set([...whole.names, ...(file.people ?? []).map(({ name }) => name), ...Object.keys(lists)])
  requireColumns(file.name, header, { known: [...known], needed })
  const given = header.filter((name) => !OWN.includes(name))
  const named = (file.people ?? []).filter(({ name }) => given.includes(name))
  const written = new Set([...given, ...named.map(({ id }) => id), ...Object.keys(adds), ...OWN])
  const tables = [whole, ...file.tables.slice(1)].map((table) => narrowed(table, written))
  /** Accounts by name. The same few people occur in many lines, and are written once. */
  const people = new Map<string, TableRow>()

  function read(record: CsvRecord): Made {
    const values: Record<string, Values[string]> = byName()
    for (const name of given) values[name] = cellOf(whole.columns[name], record.cells[name])
    const empty = needed.find((name) => String(values[name] ?? '').trim() === '')
    if (empty) throw lineError(file.name, record.line, `column ${empty}: is empty.`)
    const inColumn = (column: string, row: () => TableRow) => onLine(file.name, record, row, () => column)
    for (const { name, id, when } of named) {
      const person = values[name]
      if (typeof person !== 'string' || person.trim() === '' || when?.(values) === false) continue
      values[id] = csvAccountId(person)
      if (!people.has(person))
        people.set(
          person,
          inColumn(name, () => accountOf(person, ownerId)),
        )
    }
    for (const [name, derive] of Object.entries(adds)) values[name] = derive(values, ownerId)
    const rows = onLine(file.name, record, () => {
      requireWholeText(whole, values)
      return tables.map((table) => table.row({ ...values, _raw_data_params: ownerId }))
    })
    const [main] = rows as [TableRow, ...TableRow[]]
    const id = values[keys[0] as string] as string
    for (const [name, { row }] of Object.entries(lists)) {
      for (const word of wordsOf(values[name])) rows.push(inColumn(name, () => row(id, word, ownerId)))
    }
    if (file.links) rows.push(file.links(values, ownerId))
    return { key: keyOf(main.table, main.cells), id, rows }
  }
  return { read, people }
}

const accountOf = (name: string, ownerId: string): TableRow =>
  accounts.row({ id: csvAccountId(name), full_name: name, user_name: name, _raw_data_params: ownerId })

/** Limits a table to the columns of the file. Other columns of existing rows stay as they are, and NULL is stored as null. */
function narrowed(table: AnyTable, written: ReadonlySet<string>): AnyTable {
  const names = table.names.filter((name) => written.has(name))
  const columns = names.map((name) => {
    const column = table.columns[name] as Column
    return [name, column.isKey ? column : optional(column)]
  })
  return defineTable(table.name, Object.fromEntries(columns), {
    keyOrder: table.keys.map((position) => table.names[position] as string),
  })
}

/** Reads a cell. Only text can be empty; an empty number or time is missing. Spreadsheets write TRUE and FALSE. */
function cellOf(column: Column | undefined, cell = ''): string | null {
  if (cell === 'NULL') return null
  if (!column || column.kind === 'string' || column.kind === 'text') return cell
  return cell.trim() === '' ? null : column.kind === 'boolean' ? cell.toLowerCase() : cell
}

const wordsOf = (cell: Values[string] | undefined): Set<string> =>
  new Set(
    String(cell ?? '')
      .split(',')
      .map((word) => word.trim())
      .filter((word) => word !== ''),
  )

async function store(database: Database, file: CsvFile, header: readonly string[], batch: readonly Made[]) {
  // If two lines have the same key, the later one counts, together with its labels and other lists.
  const made = [...new Map(batch.map((each) => [each.key, each])).values()]
  for (const [name, { table, by }] of Object.entries(file.lists ?? {})) {
    if (header.includes(name))
      await deleteWhere(
        database,
        table,
        by,
        made.map(({ id }) => id),
      )
  }
  await write(
    database,
    made.flatMap(({ rows }) => rows),
  )
}

async function clear(database: Database, { clears: { parts, links } }: CsvFile, ownerId: string): Promise<void> {
  if (!links) {
    for (const [table, column] of parts) await deleteWhere(database, table, column, [ownerId])
    return
  }
  const member = sql.ref(links.member)
  const board = sql.table(links.table.name)
  for (const [table, column] of parts) {
    // Includes rows of an earlier import for this board whose members are no longer on any board.
    const { rows } = await sql<{ id: string }>`select mine.id as id from (
        select ${member} as id from ${board} where board_id = ${ownerId}
        union select ${sql.ref(column)} from ${sql.table(table.name)} where _raw_data_params = ${ownerId}) as mine
      left join (select distinct ${member} as id from ${board} where board_id <> ${ownerId}) as others
        on others.id = mine.id where others.id is null`.execute(database.kysely)
    await deleteWhere(
      database,
      table,
      column,
      rows.map(({ id }) => id),
    )
  }
  if (links.isReplaced) await deleteWhere(database, links.table, 'board_id', [ownerId])
}

async function deleteWhere({ kysely }: Database, table: AnyTable, column: string, values: readonly string[]) {
  for (const piece of inPieces(values)) {
    await sql`delete from ${sql.table(table.name)} where ${among(sql`${sql.ref(column)}`, piece)}`.execute(kysely)
  }
}
