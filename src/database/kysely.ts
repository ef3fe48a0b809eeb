/** The types of tables in queries: the compiler checks the names of tables and columns. */
import type { Kysely } from 'kysely'
import type { AnyTable, SchemaOf } from './table.ts'

/** Folders that define tables for everybody add them here. */
// biome-ignore lint/suspicious/noEmptyInterface: other modules fill it
export interface Schema {}
/** A schema that also has the columns of these tables. */
export type SchemaWith<Tables> = SchemaOf<Tables> & Schema
export type AnyKysely = Kysely<Schema>

/**
 * The same queries, which also know `table`: for tables of plugins, and for tables that are in a variable. The compiler checks
 * the columns if it knows the table.
 */
export const knowing = <T extends AnyTable>(kysely: AnyKysely, _table: T) => kysely as unknown as Kysely<SchemaWith<T>>
