/** All tables that `migrate` creates. */
import type { AnyTable } from './database/table.ts'
import { domainTables } from './domain/index.ts'
import { kitTables } from './plugin-kit/define/tables.ts'
import { plugins } from './plugins/index.ts'
import { systemTables } from './system/index.ts'

export const allTables: readonly AnyTable[] = [
  ...new Set([...domainTables, ...systemTables, ...kitTables, ...plugins.flatMap(({ tables }) => tables)]),
]
