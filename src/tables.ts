/** Every table that `migrate` makes. */
import type { Table } from './database/table.ts'
import { domainTables } from './domain/index.ts'
import { quarantine } from './plugin-kit/quarantine.ts'
import { plugins } from './plugins/index.ts'
import { systemTables } from './system/index.ts'

export const allTables: readonly Table<any>[] = [
  ...new Set([...domainTables, ...systemTables, quarantine, ...plugins.flatMap(({ tables }) => tables)]),
]
