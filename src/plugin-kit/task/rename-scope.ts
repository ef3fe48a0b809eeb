import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { AnyTable } from '../../database/table.ts'
import { retrying } from '../../database/write.ts'
import { domainTables } from '../../domain/index.ts'
import { entityTables } from '../raw/descendants.ts'
import { isRawTable } from '../raw/raw-table.ts'
import type { PluginSpec } from '../spec/plugin.ts'
import { familyEntities, isOfFamily } from './family.ts'

/**
 * The marker of a scope's rows may contain its name. If the name changes, this gives the rows their new marker. The memory of
 * runs under the old name is deleted elsewhere.
 */
export async function renameScope(
  database: Database,
  plugin: PluginSpec,
  { from, to }: { readonly from: string; readonly to: string },
): Promise<void> {
  const rename = (table: AnyTable, column: string, isOwn = sql`1 = 1`) =>
    retrying(database, () =>
      sql`update ${sql.table(table.name)} set ${sql.ref(column)} = ${to} where ${sql.ref(column)} = ${from} and ${isOwn}`.execute(
        database.kysely,
      ),
    )
  const shared = new Set<AnyTable>(domainTables)
  for (const table of new Set([...entityTables(familyEntities(plugin)), ...domainTables])) {
    if (isRawTable(table.name)) await rename(table, 'params')
    else if (table.origin < 0) continue
    else if (shared.has(table)) await rename(table, '_raw_data_params', isOfFamily(plugin, '_raw_data_table'))
    else await rename(table, '_raw_data_params')
  }
}
