/** Every table that `migrate` makes. */
import type { Table } from './database/table.ts'
import { domainTables } from './domain/index.ts'
import { kitTables } from './plugin-kit/tables.ts'
import { plugins } from './plugins/index.ts'
import { systemTables } from './system/index.ts'
import * as trafficTables from './traffic/tables.ts'

export const allTables: readonly Table<any>[] = [
  ...new Set([
    ...domainTables,
    ...systemTables,
    ...kitTables,
    ...plugins.flatMap(({ tables }) => tables),
    ...Object.values<Table<any>>(trafficTables),
  ]),
]
