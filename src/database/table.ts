/**
 * One definition of a table gives the DDL of both engines, the row type, and `row()`, which checks and fits every value.
 *
 * fitted    checked and cut so that both engines store it alike; a value that cannot be stored is a RecordError
 * origin    the four columns that name the raw record a row was made from
 */

import type { ColumnType } from 'kysely'
import { RecordError } from '../errors.ts'
import type { AnyValue, Column, Columns, NewRow, Row } from './column.ts'
import { type Cell, type Fitter, fitterOf } from './fit.ts'

export * from './column.ts'

/** A fitted row: cells in the order of `table.names`. */
export interface TableRow {
  readonly table: AnyTable
  readonly cells: Cell[]
}

export interface Table<C extends Columns = Columns, Name extends string = string> {
  readonly name: Name
  readonly columns: C
  readonly names: readonly string[]
  /** Positions of the key columns, in key order. */
  readonly keys: readonly number[]
  readonly meaning: string
  readonly isAppendOnly: boolean
  /** First parts of the domain ids made from rows of this table, e.g. `github:GithubRepo`. */
  readonly idPrefix: string
  /** Positions of the columns that the engine fills, where the table has them. */
  readonly createdAt: number
  readonly updatedAt: number
  readonly origin: number
  /** Checks and fits a value, by position of its column. */
  readonly fitters: readonly Fitter[]
  /** Builds a row. A missing or misnamed column is a compile error; a value that does not fit is a RecordError. */
  row(values: NewRow<C>): TableRow
}
/** A table with any columns. */
// biome-ignore lint/suspicious/noExplicitAny: columns are both read and written, so that no other type fits every table
export type AnyColumns = any
export type AnyTable = Table<AnyColumns>
export type AnyRow = Record<string, AnyValue>
export type RowOf<T> = T extends Table<infer C> ? Row<C> : never

/** The types of these tables in queries. Folders that define tables add it to `Schema`. */
export type SchemaOf<Tables> = {
  [T in Extract<Tables, AnyTable> as T['name']]: T extends Table<infer C> ? Stored<C> : never
}
type Stored<C extends Columns> = {
  [Name in keyof C]: ColumnType<Row<C>[Name], Inserted<C, Name>, Row<C>[Name] | null>
}
type Inserted<C extends Columns, Name extends keyof C> = Name extends keyof NewRow<C> ? NewRow<C>[Name] : undefined

/** InnoDB's longest key; four varchar(255) utf8mb4 columns do not fit. */
const LONGEST_KEY_BYTES = 3072
const keyBytes = ({ kind, size = 0 }: Column) => (kind === 'string' ? size * 4 : 8)

interface TableOptions {
  readonly meaning?: string
  readonly idPrefix?: string
  /** The key columns in key order, if it differs from the order of the columns. */
  readonly keyOrder?: readonly string[]
  /** Rows are only added, never changed or deleted. The database enforces this where it may have triggers. */
  readonly isAppendOnly?: boolean
}

export function defineTable<const C extends Columns, const Name extends string = string>(
  name: Name,
  columns: C,
  options: TableOptions = {},
): Table<C, Name> {
  const names = Object.keys(columns)
  const keyNames = options.keyOrder ?? names.filter((each) => columns[each]?.isKey)
  const total = keyNames.reduce((sum, each) => sum + keyBytes(columns[each] as Column), 0)
  if (total > LONGEST_KEY_BYTES) throw new Error(`${name}: a key of ${total} bytes is wider than ${LONGEST_KEY_BYTES}`)
  const table: Table<C, Name> = {
    name,
    columns,
    names,
    keys: keyNames.map((each) => names.indexOf(each)),
    meaning: options.meaning ?? '',
    isAppendOnly: options.isAppendOnly ?? false,
    idPrefix: options.idPrefix ?? '',
    createdAt: names.indexOf('created_at'),
    updatedAt: names.indexOf('updated_at'),
    origin: names.indexOf('_raw_data_params'),
    fitters: names.map((each) => fitterOf(columns[each] as Column, `${name}.${each}`)),
    row(values) {
      const byName = values as Record<string, unknown>
      return { table, cells: names.map((each, position) => (table.fitters[position] as Fitter)(byName[each])) }
    },
  }
  return table
}

const keyText = (cell: Cell) => (cell instanceof Date ? cell.getTime() : cell)
/** Equal for two rows exactly when the database would call them the same row. */
export const keyOf = (table: AnyTable, cells: readonly Cell[]): string =>
  table.keys.length === 1
    ? String(keyText(cells[table.keys[0] as number] as Cell))
    : table.keys.map((position) => keyText(cells[position] as Cell)).join('\u0000')

/** Sorts rows by key. Writers that lock rows in the same order do not deadlock, and neighbouring index entries are inserted quickly. */
export const inKeyOrder = (table: AnyTable, rows: Iterable<Cell[]>): Cell[][] =>
  [...rows].sort((one, other) => {
    for (const position of table.keys) {
      const left = keyText(one[position] as Cell) as string
      const right = keyText(other[position] as Cell) as string
      if (left !== right) return left < right ? -1 : 1
    }
    return 0
  })

/** Refuses text that would be cut to fit, where no raw record keeps the whole. */
export function requireWholeText({ name, columns }: AnyTable, values: Readonly<Record<string, unknown>>): void {
  for (const [column, value] of Object.entries(values)) {
    const { kind, size = 255 } = (columns[column] ?? {}) as Partial<Column>
    if (kind !== 'string' || typeof value !== 'string' || value.length <= size || [...value].length <= size) continue
    throw new RecordError(`${name}.${column}: longer than ${size} characters`)
  }
}
