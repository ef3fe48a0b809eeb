import type { RawBuilder } from 'kysely'
import type { AnyTable, Column } from './table.ts'

export interface IndexShape {
  readonly name: string
  readonly columns: readonly string[]
  readonly unique: boolean
  readonly isGathered: boolean
}

/** How engines name a type in their catalogue, reduced to what a widening needs to know. */
export interface LiveColumn {
  readonly type: string
  readonly size: number | null
}
export interface LiveTable {
  readonly columns: ReadonlyMap<string, LiveColumn>
  /** Each index as its column names joined by a comma. */
  readonly indexes: ReadonlySet<string>
}

/** The complete list of differences between the engines' SQL. */
export interface Dialect {
  readonly name: 'postgres' | 'mysql'
  quote(identifier: string): string
  columnType(column: Column, table?: AnyTable): string
  /** How an index of ranges is spelled; without it, such columns have an ordinary one. */
  readonly rangeIndex?: { readonly method: string; readonly options: string }
  /** How many characters of a text column an index takes, where it cannot take the whole. */
  readonly indexedTextLength?: number
  /** `indexes` are spelled as parts of it. */
  createTable(table: AnyTable, indexes?: readonly string[]): string
  /** Whether indexes of a new table are made with it: an index that comes later takes as long as the table itself. */
  readonly hasInlineIndexes: boolean
  /** How many statements without values may be sent as one text. They take effect together. */
  readonly statementsAtOnce: number
  /** A table that only this connection sees. It is dropped without ending the transaction under way. */
  readonly temporary: { create(table: AnyTable): string; drop(name: string): string }
  /** Makes the server refuse to change or delete rows of a table, where our user may make triggers. */
  readonly appendOnly: {
    readonly statements: (table: AnyTable) => readonly string[]
    /** Whether they failed for want of a right. */
    readonly isRefused: (error: unknown) => boolean
    /** The schema that tables are in. */
    readonly schema: string
  }
  /** Whether a statement that changes tables failed because that change is there already. */
  readonly isDoneAlready: (error: unknown) => boolean
  /** Changes a column of the live table to the wider type of the definition. */
  /** `isIndexed`: an index of the live table has it alone. It goes if the column becomes a text that is declared without one. */
  widenColumn(table: AnyTable, name: string, isIndexed: boolean): string
  dropIndex(table: string, index: string): string
  /** Selects `table_name`, `columns` (joined by a comma) and `index_name` of every unique index beside primary keys. */
  readonly uniqueIndexes: string
  /** Selects `table_name`, `columns` (joined by a comma) and `key_name` of every primary key. */
  readonly primaryKeys: string
  /** Gives a table the primary key of its definition, in place of the one of that name. */
  replaceKey(table: AnyTable, keyName: string): string
  /** Where text may be compared in other ways than ours: selects `table_name` of tables that do, and makes one like ours. */
  readonly comparison?: { readonly others: string; readonly convert: (table: string) => string }
  /** Makes the numbers that the database gives follow those that are stored, where rows brought their own. */
  continueNumbers?(table: AnyTable, column: string): string
  /** Start of the day, ISO week (Monday) or month that `expression` falls in, as a date. */
  startOf(unit: 'day' | 'week' | 'month', expression: string): string
  /** So many days, weeks or months (an expression) after a date, as a date. */
  later(unit: 'day' | 'week' | 'month', date: string, count: string): string
  /** Whole days from one date to another. */
  daysBetween(start: string, end: string): string
  /** Part `number`, from 1, of a text with commas between its parts; empty where it has fewer, or the last one. */
  partOf(text: string, number: string): string
  /** The month of a moment as `yy/mm`. */
  monthLabel(expression: string): string
  /** Whole and part seconds from `start` to `end`, as a double. */
  secondsBetween(start: string, end: string): string
  /** The server's clock, in milliseconds since 1970. */
  readonly milliseconds: string
  /** A moment as a literal. */
  moment(value: Date): string
  /** The moment so many seconds (an expression) before another. */
  secondsBefore(moment: string, seconds: string): string
  /** Follows an insert in a transaction that reads parts of large tables after it, where fresh ones have no statistics to show how small. */
  readonly preferIndexes?: string
  /** Ends a transaction that must outlive a crash of the server, where bulk writes leave that open. */
  readonly commitDurably?: string
  /** Follows `select` where tables must be joined in the order written: old statistics mislead one engine badly. */
  readonly joinAsWritten: string
  /** As a double; the engines round averages of whole numbers differently. */
  double(expression: string): string
  /** Whether two expressions differ, where two nulls do not. */
  isDistinct(one: string, other: string): string
  /** The first part of a text that matches a POSIX pattern, or null (on one engine an empty text). */
  firstMatch(expression: string, pattern: string): string
  /** Sets a column of the rows of a table (`target`) that meet a row of a subquery (`source`). */
  updateFrom(update: JoinedUpdate): RawBuilder<unknown>
  /** Selects `name`, `bytes` (with its indexes) and `records` (an estimate) of every table. */
  readonly tableSizes: string
  /** What rows are ordered by, so that they come in the order of code points whatever the database's own order is. */
  inCodeOrder(expression: string, kind: Column['kind']): string
  /** Selects `name` and `next` of every table whose rows the database numbers. */
  readonly nextNumbers: { readonly prepare?: string; readonly select: string }
  /** Has the database go on from a number above 1. */
  setNextNumber(table: string, column: string, next: number): string
  /** Makes a user that can read some tables, or gives an existing one these rights and this password. */
  grantReader(reader: Reader): readonly string[]
  /** What follows an `insert … select` whose keys may exist already. */
  onExistingKey(table: AnyTable, names: readonly string[]): string
}

export interface Reader {
  readonly user: string
  readonly password: string
  readonly tables: readonly ReadableTable[]
}
export interface ReadableTable {
  readonly name: string
  /** All, unless said. */
  readonly columns?: readonly string[]
}
/** What a right to select is granted on. */
export const readableOf = (dialect: Dialect, { name, columns }: ReadableTable) => ({
  columns: columns ? ` (${quoteAll(dialect, columns)})` : '',
  table: dialect.quote(name),
})

export interface JoinedUpdate {
  readonly table: string
  readonly source: RawBuilder<unknown>
  readonly on: string
  readonly column: string
  readonly value: string
}

/** Columns that an upsert sets: all that it brings, but for the key, the time of the first writing and what is calculated. */
export const updatedNames = (table: AnyTable, names: readonly string[]): string[] =>
  names.filter((name) => {
    const { isKey, isCalculated } = table.columns[name] as Column
    return !isKey && !isCalculated && name !== 'created_at'
  })

/** What rows of `source` bring to those of `target` that have their key; `own` qualifies the columns that are set. */
export function broughtBy(dialect: Dialect, table: AnyTable, own: string): { on: string; set: string } {
  const pair = (side: string, name: string) => `${side}${dialect.quote(name)} = source.${dialect.quote(name)}`
  return {
    on: table.keys.map((position) => pair('target.', table.names[position] as string)).join(' and '),
    set: updatedNames(table, table.names)
      .map((name) => pair(own, name))
      .join(', '),
  }
}

/** Kinds in the order of what they can hold; a live column is widened when the definition stands further right. */
export const WIDENING: readonly (readonly string[])[] = [
  ['string', 'text'],
  ['integer', 'bigint'],
]

/** Identifiers are at most 63 bytes on one engine and 64 on the other. */
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

/** `part` is a column, or what an index of several is called. */
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

/** A new table with its indexes. */
export function createWhole(dialect: Dialect, table: AnyTable): string[] {
  const indexes = indexesOf(table)
  if (!dialect.hasInlineIndexes) {
    return [dialect.createTable(table), ...indexes.map((index) => createIndex(dialect, table, index))]
  }
  const inline = indexes.map((index) => `${startOfIndex(dialect, index)} ${indexedColumns(dialect, table, index)}`)
  return [dialect.createTable(table, inline)]
}

/** The same words but for the kind of table; also where an earlier one of that name was left behind. */
export const createTemporary = (dialect: Dialect, table: AnyTable): string =>
  dialect.createTable(table).replace(/^create table/, 'create temporary table')

export const quoteAll = (dialect: Dialect, names: readonly string[]): string =>
  names.map((name) => dialect.quote(name)).join(', ')
