/**
 * The tables and columns that a database user for dashboards may read. They exclude secrets, connections, raw records, keys
 * and sessions.
 */
import type { ReadableTable } from '../database/dialect.ts'
import type { AnyTable, Column } from '../database/table.ts'
import * as access from '../system/access.ts'
import { sharedDashboards } from '../system/dashboards.ts'
import { allTables } from '../tables.ts'

const closed = new Set<unknown>([...Object.values(access), sharedDashboards])
const isClosed = (table: AnyTable) => closed.has(table) || /^_raw_|_connections$/.test(table.name)

export const readableTables: readonly ReadableTable[] = allTables
  .filter((table) => !isClosed(table))
  .map(({ name, names, columns }) => {
    const open = names.filter((each) => !(columns[each] as Column).isSealed)
    return open.length === names.length ? { name } : { name, columns: open }
  })
