import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { AnyTable } from '../../database/table.ts'
import { retrying } from '../../database/write.ts'
import { domainTables } from '../../domain/index.ts'

/**
 * What marks the rows of a scope may hold its name. When that changes, its rows stay its rows; `tables` are the raw and
 * tool tables of its plugin. What runs remember under the old name is forgotten elsewhere.
 */
export async function renameScope(
  database: Database,
  tables: Iterable<AnyTable>,
  { name, from, to }: { readonly name: string; readonly from: string; readonly to: string },
): Promise<void> {
  const prefix = `_raw_${name}_`
  const startsWith = (column: string, start: string) =>
    sql`substr(${sql.ref(column)}, 1, ${sql.lit(start.length)}) = ${start}`
  const rename = (table: AnyTable, column: string, isOwn = sql`1 = 1`) =>
    retrying(database, () =>
      sql`update ${sql.table(table.name)} set ${sql.ref(column)} = ${to} where ${sql.ref(column)} = ${from} and ${isOwn}`.execute(
        database.kysely,
      ),
    )
  for (const table of new Set([...tables, ...domainTables])) {
    if (table.name.startsWith('_raw_')) await rename(table, 'params')
    else if (table.origin >= 0) await rename(table, '_raw_data_params', startsWith('_raw_data_table', prefix))
  }
}
