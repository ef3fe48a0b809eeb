import type { Kysely } from 'kysely'
import type { AnyKysely, Schema } from '../../src/database/kysely.ts'
import type { AnyRow } from '../../src/database/table.ts'

export type AnyTables = Kysely<Schema & { readonly [table: string]: AnyRow }>
/** For tables whose columns the types of `Schema` do not have: those of plugins, and those that only a test has. */
export const anyTable = (kysely: AnyKysely) => kysely as AnyTables
