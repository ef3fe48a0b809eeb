/** The types of tables in queries: the compiler checks the names of tables and columns. */
import type { Kysely } from 'kysely'
import type { AnyValue } from './column.ts'
import type { SchemaOf } from './table.ts'

/** Folders that define tables add them here. */
export interface Schema {
  /** Tables whose name is in a variable, such as those of a plugin. */
  [table: string]: AnyValue
}
/** A schema with the columns of these tables, wherever they are defined. */
export type SchemaWith<Tables> = SchemaOf<Tables> & {
  [Name in keyof Schema as string extends Name ? never : Name]: Schema[Name]
}
export type AnyKysely = Kysely<Schema>
