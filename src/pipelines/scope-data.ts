/** Everything that was collected for a scope: raw records, tool and domain rows, and what subtasks remember. */
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { retrying } from '../database/write.ts'
import { domainTables } from '../domain/index.ts'
import type { PluginSpec } from '../plugin-kit/plugin.ts'
import { quarantine } from '../plugin-kit/quarantine.ts'
import type { Plugin } from '../plugin-kit/subtask.ts'
import { collectorLatestState, subtaskStates } from '../system/state.ts'

/** What marks the rows of a scope. */
export const scopeParams = ({ scope }: PluginSpec, connectionId: number, row: unknown): string =>
  JSON.stringify(scope.params(connectionId, row))

export async function deleteScopeData(
  database: Database,
  plugins: readonly Plugin[],
  source: PluginSpec,
  connectionId: number,
  row: unknown,
): Promise<void> {
  const params = scopeParams(source, connectionId, row)
  // Two plugins may mark their scopes alike; the raw table says whose rows they are. github_graphql works for github.
  const prefix = `_raw_${source.name}_`
  const isOwn = (column: string) => sql`substr(${sql.ref(column)}, 1, ${prefix.length}) = ${prefix}`
  const run = (statement: ReturnType<typeof sql>) => retrying(database, () => statement.execute(database.kysely))

  const own = plugins.filter(({ name }) => name === source.name || name.startsWith(`${source.name}_`))
  const tables = new Set([...domainTables, ...own.flatMap((plugin) => plugin.tables)])
  tables.delete(source.scope.table)
  for (const table of tables) {
    const from = sql`delete from ${sql.table(table.name)}`
    if (table.name.startsWith('_raw_')) await run(sql`${from} where params = ${params}`)
    else if (table.origin >= 0)
      await run(sql`${from} where _raw_data_params = ${params} and ${isOwn('_raw_data_table')}`)
  }
  const states = sql`delete from ${sql.table(collectorLatestState.name)}`
  await run(sql`${states} where raw_data_params = ${params} and ${isOwn('raw_data_table')}`)
  const names = sql.join(own.map(({ name }) => name))
  for (const { name } of [subtaskStates, quarantine]) {
    await run(sql`delete from ${sql.table(name)} where params = ${params} and plugin in (${names})`)
  }
}
