/** What queries know of tables: the compiler checks their names, and those of their columns. */
import type { Kysely } from 'kysely'
import type { AnyValue } from './column.ts'
import type { SchemaOf } from './table.ts'

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
