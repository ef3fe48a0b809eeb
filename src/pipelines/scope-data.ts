/** Everything that was collected for a scope: raw records, tool and domain rows, and what subtasks remember. */
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { retrying } from '../database/write.ts'
import { domainTables } from '../domain/index.ts'
import { forgetScope } from '../plugin-kit/forget-scope.ts'
import type { PluginSpec } from '../plugin-kit/plugin.ts'
import { quarantine } from '../plugin-kit/quarantine.ts'
import type { Plugin } from '../plugin-kit/subtask.ts'

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
  // First: whatever a crash leaves undeleted is then replaced by the next run.
  await forgetScope(database, source.name, params)
  // Two plugins may mark their scopes alike; the raw table says whose rows they are. github_graphql works for github.
  const prefix = `_raw_${source.name}_`
  const isOwn = sql`substr(_raw_data_table, 1, ${prefix.length}) = ${prefix}`
  const run = (statement: ReturnType<typeof sql>) => retrying(database, () => statement.execute(database.kysely))

  const own = plugins.filter(({ name }) => name === source.name || name.startsWith(`${source.name}_`))
  const tables = new Set([...domainTables, ...own.flatMap((plugin) => plugin.tables)])
  tables.delete(source.scope.table)
  for (const table of tables) {
    const from = sql`delete from ${sql.table(table.name)}`
    if (table.name.startsWith('_raw_')) await run(sql`${from} where params = ${params}`)
    else if (table.origin >= 0) await run(sql`${from} where _raw_data_params = ${params} and ${isOwn}`)
  }
  const names = sql.join(own.map(({ name }) => name))
  await run(sql`delete from ${sql.table(quarantine.name)} where params = ${params} and plugin in (${names})`)
}
