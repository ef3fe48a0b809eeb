import type { RawBuilder } from 'kysely'
import type { AnyTable, Column } from './table.ts'

interface IndexShape {
  readonly name: string
  readonly columns: readonly string[]
  readonly unique: boolean
  readonly isGathered: boolean
}

/** A type from the catalogue of the database, reduced to what is needed to decide whether a column must be widened. */
export interface LiveColumn {
  readonly type: string
  readonly size: number | null
}
export interface LiveTable {
  readonly columns: ReadonlyMap<string, LiveColumn>
  /** Each index as its column names joined by a comma. */
  readonly indexes: ReadonlySet<string>
}

/** The complete list of differences between the SQL of PostgreSQL and MySQL. */
export interface Dialect {
  readonly name: 'postgres' | 'mysql'
  quote(identifier: string): string
  columnType(column: Column, table?: AnyTable): string
  /** The syntax of a range index. Where it is absent, such columns get an ordinary index. */
  readonly rangeIndex?: { readonly method: string; readonly options: string }
  /** The number of characters of a text column that an index can hold, where it cannot hold the whole. */
  readonly indexedTextLength?: number
  /** `indexes` become parts of the statement. */
  createTable(table: AnyTable, indexes?: readonly string[]): string
  /** True when a new table is created together with its indexes, because a later index takes as long as the table itself. */
  readonly hasInlineIndexes: boolean
  /** How many statements without parameters may be sent as one text. They take effect together. */
  readonly statementsAtOnce: number
  /** A table that only this connection sees. Dropping it does not end the current transaction. */
  readonly temporary: { create(table: AnyTable): string; drop(name: string): string }
  /** Makes the server refuse to change or delete rows of a table, if the database user may create triggers. */
  readonly appendOnly: {
    readonly statements: (table: AnyTable) => readonly string[]
    /** True when the statements failed because a permission is missing. */
    readonly isRefused: (error: unknown) => boolean
    /** The schema that tables are in. */
    readonly schema: string
  }
  /** True when a statement that changes tables failed because the change exists already. */
  readonly isDoneAlready: (error: unknown) => boolean
  /**
   * Changes a column of the live table to the wider type of the definition. `isIndexed` says that an index of the live table
   * has only this column. The index is dropped if the column becomes a text that is declared without one.
   */
  widenColumn(table: AnyTable, name: string, isIndexed: boolean): string
  dropIndex(table: string, index: string): string
  /** Selects `table_name`, `columns` (joined by a comma) and `index_name` of every unique index beside primary keys. */
  readonly uniqueIndexes: string
  /** Selects `table_name`, `columns` (joined by a comma) and `key_name` of every primary key. */
  readonly primaryKeys: string
  /** Gives a table the primary key of its definition, replacing the key of that name. */
  replaceKey(table: AnyTable, keyName: string): string
  /** Present where columns may have another collation: selects `table_name` of such tables, and converts one to the right collation. */
  readonly comparison?: { readonly others: string; readonly convert: (table: string) => string }
  /** Makes generated ids continue after the stored ones, when rows brought their own ids. */
  continueNumbers?(table: AnyTable, column: string): string
  /** Start of the day, ISO week (Monday) or month that `expression` falls in, as a date. */
  startOf(unit: 'day' | 'week' | 'month', expression: string): string
  /** The date that is a number (an expression) of days, weeks or months after another. */
  later(unit: 'day' | 'week' | 'month', date: string, count: string): string
  /** Whole days from one date to another. */
  daysBetween(start: string, end: string): string
  /** Part `number`, from 1, of a text with commas between its parts. If there are fewer, it is empty, or the last part on MySQL. */
  partOf(text: string, number: string): string
  /** The month of a time as `yy/mm`. */
  monthLabel(expression: string): string
  /** Whole and part seconds from `start` to `end`, as a double. */
  secondsBetween(start: string, end: string): string
  /** The server's clock, in milliseconds since 1970. */
  readonly milliseconds: string
  /** A time as a literal. */
  moment(value: Date): string
  /** The time that is a number (an expression) of seconds before another. */
  secondsBefore(moment: string, seconds: string): string
  /**
   * Appended to an insert, in a transaction that reads parts of large tables after it. Fresh tables have no statistics, so the
   * planner does not know how small the parts are.
   */
  readonly preferIndexes?: string
  /** Sent in a transaction that must survive a crash of the server, where bulk writes do not guarantee that. */
  readonly commitDurably?: string
  /** Follows `select` where tables must be joined in the written order, because old statistics badly mislead MySQL. */
  readonly joinAsWritten: string
  /** Converts to a double, because the databases round averages of whole numbers differently. */
  double(expression: string): string
  /** True when two expressions differ. Two nulls count as equal. */
  isDistinct(one: string, other: string): string
  /** The first part of a text that matches a POSIX pattern, or null (on MariaDB an empty text). */
  firstMatch(expression: string, pattern: string): string
  /** Sets a column in the rows of a table (`target`) that match a row of a subquery (`source`). */
  updateFrom(update: JoinedUpdate): RawBuilder<unknown>
  /** Selects `name`, `bytes` (with its indexes) and `records` (an estimate) of every table. */
  readonly tableSizes: string
  /** An expression to order rows by, so that they come in the order of code points whatever the collation of the database is. */
  inCodeOrder(expression: string, kind: Column['kind']): string
  /** Selects `name` and `next` (the next id) of every table whose ids the database generates. */
  readonly nextNumbers: { readonly prepare?: string; readonly select: string }
  /** Makes the generated ids continue from a number above 1. */
  setNextNumber(table: string, column: string, next: number): string
  /** Creates a user that can read some tables, or gives an existing one these permissions and this password. */
  grantReader(reader: Reader): readonly string[]
  /** The clause after an `insert … select` whose keys may exist already. */
  onExistingKey(table: AnyTable, names: readonly string[]): string
}

interface Reader {
  readonly user: string
  readonly password: string
  readonly tables: readonly ReadableTable[]
}
export interface ReadableTable {
  readonly name: string
  /** All columns when absent. */
  readonly columns?: readonly string[]
}
/** The parts of a statement that grants the right to select. */
export const readableOf = (dialect: Dialect, { name, columns }: ReadableTable) => ({
  columns: columns ? ` (${quoteAll(dialect, columns)})` : '',
  table: dialect.quote(name),
})

interface JoinedUpdate {
  readonly table: string
  readonly source: RawBuilder<unknown>
  readonly on: string
  readonly column: string
  readonly value: string
}

/** The columns that an upsert sets: all given ones except the key, `created_at` and calculated columns. */
export const updatedNames = (table: AnyTable, names: readonly string[]): string[] =>
  names.filter((name) => {
    const { isKey, isCalculated } = table.columns[name] as Column
    return !isKey && !isCalculated && name !== 'created_at'
  })

/** The parts of an update of `target` from the rows of `source` with the same key. `own` qualifies the columns that are set. */
export function broughtBy(dialect: Dialect, table: AnyTable, own: string): { on: string; set: string } {
  const pair = (side: string, name: string) => `${side}${dialect.quote(name)} = source.${dialect.quote(name)}`
  return {
    on: table.keys.map((position) => pair('target.', table.names[position] as string)).join(' and '),
    set: updatedNames(table, table.names)
      .map((name) => pair(own, name))
      .join(', '),
  }
}

/** Kinds in order of capacity. A live column is widened when the kind in the definition is further to the right. */
export const WIDENING: readonly (readonly string[])[] = [
  ['string', 'text'],
  ['integer', 'bigint'],
]

/** Identifiers have at most 63 bytes on PostgreSQL and 64 on MySQL. */
const LONGEST_IDENTIFIER = 63

export function indexesOf(table: AnyTable): IndexShape[] {
  const shapes = new Map<string, { columns: string[]; unique: boolean; isGathered: boolean }>()
  for (const name of table.names) {
    const { index, unique, isGathered = false } = table.columns[name] as Column
    for (const [mark, isUnique] of [
      [index, false],
      [unique, true],
    ] as const) {
      if (!mark) continue
      const indexName = nameOfIndex(table.name, mark === true ? name : mark)
      const shape = shapes.get(indexName) ?? { columns: [], unique: isUnique, isGathered }
      shape.columns.push(name)
      shapes.set(indexName, shape)
    }
  }
  return [...shapes].map(([name, shape]) => ({ name, ...shape }))
}

/** `part` is a column, or the name of an index with several columns. */
export const nameOfIndex = (table: string, part: string): string => shortName(`idx_${table}_${part}`)

function shortName(name: string): string {
  if (name.length <= LONGEST_IDENTIFIER) return name
  let hash = 5381
  for (const character of name) hash = (hash * 33 + character.charCodeAt(0)) >>> 0
  return `${name.slice(0, LONGEST_IDENTIFIER - 9)}_${hash.toString(16)}`
}

function indexedColumns(dialect: Dialect, table: AnyTable, { columns }: IndexShape): string {
  const parts = columns.map((each) =>
    dialect.indexedTextLength && table.columns[each].kind === 'text'
      ? `${dialect.quote(each)}(${dialect.indexedTextLength})`
      : dialect.quote(each),
  )
  return `(${parts.join(', ')})`
}

const startOfIndex = (dialect: Dialect, { name, unique }: IndexShape): string =>
  `${unique ? 'unique ' : ''}index ${dialect.quote(name)}`

export function createIndex(dialect: Dialect, table: AnyTable, index: IndexShape): string {
  const { method, options } = (index.isGathered && dialect.rangeIndex) || { method: '', options: '' }
  return `create ${startOfIndex(dialect, index)} on ${dialect.quote(table.name)}${method} ${indexedColumns(dialect, table, index)}${options}`
}

/** Statements that create a table with its indexes. */
export function createWhole(dialect: Dialect, table: AnyTable): string[] {
  const indexes = indexesOf(table)
  if (!dialect.hasInlineIndexes) {
    return [dialect.createTable(table), ...indexes.map((index) => createIndex(dialect, table, index))]
  }
  const inline = indexes.map((index) => `${startOfIndex(dialect, index)} ${indexedColumns(dialect, table, index)}`)
  return [dialect.createTable(table, inline)]
}

/** The same statement for a temporary table. It also works where an earlier one of that name was left behind. */
export const createTemporary = (dialect: Dialect, table: AnyTable): string =>
  dialect.createTable(table).replace(/^create table/, 'create temporary table')

export const quoteAll = (dialect: Dialect, names: readonly string[]): string =>
  names.map((name) => dialect.quote(name)).join(', ')
