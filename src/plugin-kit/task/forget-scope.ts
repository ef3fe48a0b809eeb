import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { AnyTable } from '../../database/table.ts'
import { retrying } from '../../database/write.ts'
import { collectorLatestState, rawMarks, subtaskStates } from '../../system/state.ts'
import { collectTables } from '../raw/collect-tables.ts'
import { quarantine } from '../raw/quarantine.ts'
import { receipts } from '../raw/receipts.ts'
import type { PluginSpec } from '../spec/plugin.ts'
import { familyOf, isOfFamily, ownerOf } from './family.ts'

/** Deletes everything that runs of a scope have remembered, so that the next run asks for everything and processes it again. */
export async function forgetScope(database: Database, plugin: PluginSpec, params: string): Promise<void> {
  const forget = (table: AnyTable, paramsColumn: string, isOwn: ReturnType<typeof sql>) =>
    retrying(database, () =>
      sql`delete from ${sql.table(table.name)} where ${sql.ref(paramsColumn)} = ${params} and ${isOwn}`.execute(
        database.kysely,
      ),
    )
  await forget(collectorLatestState, 'raw_data_params', isOfFamily(plugin, 'raw_data_table'))
  for (const table of [quarantine, receipts, ...collectTables]) {
    await forget(table, 'params', isOfFamily(plugin, 'raw_table'))
  }
  const names = new Set([ownerOf(plugin), ...familyOf(plugin)].map(({ name }) => name))
  for (const table of [subtaskStates, rawMarks]) await forget(table, 'params', sql`plugin in (${sql.join([...names])})`)
}
