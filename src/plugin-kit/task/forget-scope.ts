import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { AnyTable } from '../../database/table.ts'
import { retrying } from '../../database/write.ts'
import { collectorLatestState, rawMarks, subtaskStates } from '../../system/state.ts'
import { collectTables } from '../raw/collect-tables.ts'
import { quarantine } from '../raw/quarantine.ts'
import { receipts } from '../raw/receipts.ts'

/** Forgets what runs of a scope remember, so that the next one asks for everything and does it all again. */
export async function forgetScope(database: Database, plugin: string, params: string): Promise<void> {
  const startsWith = (column: string, prefix: string) =>
    sql`substr(${sql.ref(column)}, 1, ${prefix.length}) = ${prefix}`
  const forget = (table: AnyTable, paramsColumn: string, isOwn: ReturnType<typeof sql>) =>
    retrying(database, () =>
      sql`delete from ${sql.table(table.name)} where ${sql.ref(paramsColumn)} = ${params} and ${isOwn}`.execute(
        database.kysely,
      ),
    )
  // Two plugins may mark their scopes alike; the raw table says whose they are. github_graphql works for github.
  const raw = `_raw_${plugin}_`
  await forget(collectorLatestState, 'raw_data_params', startsWith('raw_data_table', raw))
  for (const table of [quarantine, receipts, ...collectTables])
    await forget(table, 'params', startsWith('raw_table', raw))
  const isOwn = sql`(plugin = ${plugin} or ${startsWith('plugin', `${plugin}_`)})`
  for (const table of [subtaskStates, rawMarks]) await forget(table, 'params', isOwn)
}
