/** Every table that `migrate` makes. */
import type { Table } from './database/table.ts'
import { domainTables } from './domain/index.ts'
import { systemTables } from './system/index.ts'

export const allTables: readonly Table<any>[] = [...domainTables, ...systemTables]
