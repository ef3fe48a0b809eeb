/** What queries know of tables: the compiler checks their names, and those of their columns. */
import type { ColumnType, Kysely } from 'kysely'
import type { AnyValue, Columns, NewRow, Row } from './column.ts'
import type { AnyTable, Table } from './table.ts'

/** The tables of one or more rooms, for `Schema`. */
export type SchemaOf<Tables> = {
  [T in Extract<Tables, AnyTable> as T['name']]: T extends Table<infer C> ? Stored<C> : never
}
type Stored<C extends Columns> = {
  [Name in keyof C]: ColumnType<Row<C>[Name], Inserted<C, Name>, Row<C>[Name] | null>
}
type Inserted<C extends Columns, Name extends keyof C> = Name extends keyof NewRow<C> ? NewRow<C>[Name] : undefined

/** Rooms that have tables add them here. */
export interface Schema {
  /** Tables that are named by a variable, such as those of a plugin. */
  [table: string]: AnyValue
}
/** With the columns of these tables, wherever they are defined. */
export type SchemaWith<Tables> = SchemaOf<Tables> & {
  [Name in keyof Schema as string extends Name ? never : Name]: Schema[Name]
}
export type AnyKysely = Kysely<Schema>
