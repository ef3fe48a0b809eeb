/**
 * One definition of a table gives the DDL of both engines, the row type, and `row()`, which checks and fits every value.
 *
 * column    its SQL kind, and what is stored when the source has no value (`missing`)
 * fitted    checked and cut so that both engines store it alike; a value that cannot be stored is a RecordError
 * origin    the four columns that name the raw record a row was made from
 */
import { RecordError } from '../errors.ts'
import { type Cell, type Fitter, fitterOf } from './fit.ts'

export type Kind =
  | 'string'
  | 'text'
  | 'integer'
  | 'bigint'
  | 'double'
  | 'boolean'
  | 'timestamp'
  | 'date'
  | 'json'
  | 'bytes'

/** What is stored when the source has no value; `empty` is '', 0 or false, `now` the time of writing. */
export type Missing = 'null' | 'empty' | 'zero-time' | 'now'

/** Where a tool column finds its value in a raw record: a path such as `user.login`, or a function. */
export type Source = string | ((record: any, context: any) => unknown)

export interface Column<Value = unknown> {
  readonly kind: Kind
  /** Longest text in characters; `string` only. */
  readonly size?: number
  readonly missing: Missing
  readonly isKey?: boolean
  /** Refused when missing, instead of being filled with `missing`. */
  readonly isRequired?: boolean
  /** Numbered by the database. */
  readonly isGenerated?: boolean
  /** Refused when it is too long, instead of being cut: half of it would be worth nothing, or mean something else. */
  readonly isWhole?: true
  /** May hold ciphertext, which a new key has to be found in. */
  readonly isSealed?: true
  /** Set by calculations alone, by an update: a row that is written again keeps what it has. */
  readonly isCalculated?: true
  /** True, or the name of an index shared by several columns. */
  readonly index?: true | string
  /** Rows with one value are mostly written together: an index of ranges finds them, and costs nothing to keep. */
  readonly isGathered?: true
  readonly unique?: true | string
  readonly source?: Source
  /** Never set: carries the type of the value. */
  readonly value?: Value
}
export type Columns = Readonly<Record<string, Column<any>>>
export type ValueOf<C> = C extends Column<infer Value> ? Value : never
export type Row<C extends Columns> = { -readonly [Name in keyof C]: ValueOf<C[Name]> }

type NeededNames<C extends Columns> = {
  [Name in keyof C]: C[Name] extends { isGenerated: true }
    ? never
    : C[Name] extends { isKey: true } | { isRequired: true }
      ? Name
      : never
}[keyof C]
/** What `row()` takes: keys and required columns must be given, the rest is filled with its `missing` value. */
export type NewRow<C extends Columns> = { [Name in NeededNames<C>]: ValueOf<C[Name]> } & {
  [Name in Exclude<keyof C, NeededNames<C>>]?: ValueOf<C[Name]> | null | undefined
}

/** A fitted row: cells in the order of `table.names`. */
export interface TableRow {
  readonly table: Table<any>
  readonly cells: Cell[]
}

export interface Table<C extends Columns = Columns> {
  readonly name: string
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
  /** Builds a row; a missing or misnamed column is a compile error, a value that does not fit a RecordError. */
  row(values: NewRow<C>): TableRow
}
export type RowOf<T> = T extends Table<infer C> ? Row<C> : never

const column = <Value>(kind: Kind, missing: Missing, source?: Source, size?: number): Column<Value> => ({
  kind,
  missing,
  ...(size === undefined ? {} : { size }),
  ...(source === undefined ? {} : { source }),
})

type Sized = Source | number
/** Text of at most `size` characters (255); longer text is cut, in a key it is refused. */
export const string = (...arguments_: [size?: Sized, source?: Source]): Column<string> => {
  const size = arguments_.find((argument) => typeof argument === 'number') ?? 255
  const source = arguments_.find((argument) => typeof argument !== 'number')
  return column('string', 'empty', source as Source | undefined, size as number)
}
export const text = (source?: Source) => column<string>('text', 'empty', source)
export const integer = (source?: Source) => column<number>('integer', 'empty', source)
/** Past 2^53 it is read as the text of its digits. */
export const bigint = (source?: Source) => column<number>('bigint', 'empty', source)
export const double = (source?: Source) => column<number>('double', 'empty', source)
export const boolean = (source?: Source) => column<boolean>('boolean', 'empty', source)
/** A moment in UTC with milliseconds; null when missing. */
export const timestamp = (source?: Source) => column<Date | null>('timestamp', 'null', source)
export const date = (source?: Source) => column<Date | null>('date', 'null', source)
export const json = (source?: Source) => column<any>('json', 'null', source)
export const bytes = () => column<Buffer>('bytes', 'null')

type With<C, Extra> = C & Extra
export const key = <C extends Column<any>>(inner: C): With<C, { isKey: true }> => ({ ...inner, isKey: true })
/** Not part of the key, yet refused when missing. */
export const required = <C extends Column<any>>(inner: C): With<C, { isRequired: true }> => ({
  ...inner,
  isRequired: true,
})
/** Null when missing, instead of '' or 0. */
export const optional = <Value>(inner: Column<Value>): Column<Value | null> => ({ ...inner, missing: 'null' })
/** A moment that the reference never leaves null: year 1 when missing. */
export const zeroTime = (inner: Column<Date | null>): Column<Date> =>
  ({ ...inner, missing: 'zero-time' }) as Column<Date>
export const now = (): Column<Date> => column('timestamp', 'now')
export const indexed = <C extends Column<any>>(inner: C, name?: string): C => ({ ...inner, index: name ?? true })
export const gathered = <C extends Column<any>>(inner: C): C => ({ ...inner, index: true, isGathered: true })
export const calculated = <C extends Column<any>>(inner: C): C => ({ ...inner, isCalculated: true })
/** Settings and documents, which are read again by programs. */
export const whole = <C extends Column<any>>(inner: C): C => ({ ...inner, isWhole: true })
export const sealed = <C extends Column<any>>(inner: C): C => ({ ...inner, isWhole: true, isSealed: true })
export const unique = <C extends Column<any>>(inner: C, name?: string): C => ({ ...inner, unique: name ?? true })
export const generated = <C extends Column<any>>(inner: C): With<C, { isGenerated: true }> => ({
  ...inner,
  isGenerated: true,
})

/** When the row was written; business times are `*_date`. */
export const written = { created_at: now(), updated_at: now() }
export const origin = {
  _raw_data_params: indexed(string(255)),
  _raw_data_table: string(255),
  _raw_data_id: bigint(),
  _raw_data_remark: text(),
}
export const common = { ...written, ...origin }
/** Of tables that take a whole history at once. */
export const commonInBulk = { ...common, _raw_data_params: gathered(string(255)) }

/** InnoDB's longest key; four varchar(255) utf8mb4 columns do not fit. */
const LONGEST_KEY_BYTES = 3072
const keyBytes = ({ kind, size = 0 }: Column) => (kind === 'string' ? size * 4 : 8)

export interface TableOptions {
  readonly meaning?: string
  readonly idPrefix?: string
  /** Key columns in key order, where it is not the order of the columns. */
  readonly keyOrder?: readonly string[]
  /** Rows are added, and never changed or deleted; the database refuses it where it may have triggers. */
  readonly isAppendOnly?: boolean
}

export function defineTable<const C extends Columns>(name: string, columns: C, options: TableOptions = {}): Table<C> {
  const names = Object.keys(columns)
  const keyNames = options.keyOrder ?? names.filter((each) => columns[each]?.isKey)
  const total = keyNames.reduce((sum, each) => sum + keyBytes(columns[each] as Column), 0)
  if (total > LONGEST_KEY_BYTES) throw new Error(`${name}: a key of ${total} bytes is wider than ${LONGEST_KEY_BYTES}`)
  const table: Table<C> = {
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
      const given = values as Record<string, unknown>
      return { table, cells: names.map((each, position) => (table.fitters[position] as Fitter)(given[each])) }
    },
  }
  return table
}

const keyText = (cell: Cell) => (cell instanceof Date ? cell.getTime() : cell)
/** Equal for two rows exactly when the database would call them the same row. */
export const keyOf = (table: Table<any>, cells: readonly Cell[]): string =>
  table.keys.length === 1
    ? String(keyText(cells[table.keys[0] as number] as Cell))
    : table.keys.map((position) => keyText(cells[position] as Cell)).join('\u0000')

/** Writers that lock rows in one order do not deadlock, and neighbours in an index are quickly put there together. */
export const inKeyOrder = (table: Table<any>, rows: Iterable<Cell[]>): Cell[][] =>
  [...rows].sort((one, other) => {
    for (const position of table.keys) {
      const left = keyText(one[position] as Cell) as string
      const right = keyText(other[position] as Cell) as string
      if (left !== right) return left < right ? -1 : 1
    }
    return 0
  })

/** Refuses text that would be cut to fit, where no raw record keeps the whole. */
export function requireWholeText({ name, columns }: Table<any>, values: Readonly<Record<string, unknown>>): void {
  for (const [column, value] of Object.entries(values)) {
    const { kind, size = 255 } = (columns[column] ?? {}) as Partial<Column>
    if (kind !== 'string' || typeof value !== 'string' || value.length <= size || [...value].length <= size) continue
    throw new RecordError(`${name}.${column}: longer than ${size} characters`)
  }
}
