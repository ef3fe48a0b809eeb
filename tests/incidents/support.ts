/** Connects to a fake of an on-call tool, runs its subtasks, and reads what it offers. */
import { testConnection } from '../../src/control-plane/connections/test-connection.ts'
import type { Database } from '../../src/database/database.ts'
import type { Plugin, PluginSpec } from '../../src/plugin-kit/spec/plugin.ts'
import type { RemoteEntry } from '../../src/plugin-kit/spec/remote-scopes.ts'
import { connectionSettings, openAwaitedClient } from '../../src/plugin-kit/task/connection.ts'
import { allTables } from '../../src/tables.ts'
import { runTask } from '../convergence/support/run-task.ts'
import { anyTable } from '../support/any-table.ts'
import { emptyTables } from '../support/empty-tables.ts'

export async function connect(database: Database, { name }: Plugin, endpoint: string, token: string): Promise<void> {
  await emptyTables(database, allTables)
  const row = { id: 1, name: 'on call', endpoint, token, proxy: '', rate_limit_per_hour: 0 }
  await anyTable(database.kysely).insertInto(`_tool_${name}_connections`).values(row).execute()
}

export async function addService(database: Database, { name }: Plugin, id: string, title: string): Promise<void> {
  await anyTable(database.kysely)
    .insertInto(`_tool_${name}_services`)
    .values({ connection_id: 1, id, name: title })
    .execute()
}

export const runService = (database: Database, plugin: Plugin, serviceId: string) =>
  runTask(database, plugin, { connectionId: 1, serviceId })

export const rowsOf = (database: Database, table: string, ...columns: string[]): Promise<any[]> =>
  anyTable(database.kysely)
    .selectFrom(table)
    .select(columns)
    .orderBy(columns[0] as string)
    .execute()

const signal = AbortSignal.timeout(600_000)

export async function testOf(database: Database, { source }: Plugin) {
  const spec = source as PluginSpec
  const settings = await connectionSettings(spec, 1, { database })
  return testConnection(spec, settings, { mask: () => ({}) }, { isSaved: true, signal })
}

/** Returns all pages of the list, and one page of a search. */
export async function offered(database: Database, { source }: Plugin, search: string) {
  const spec = source as PluginSpec
  const settings = await connectionSettings(spec, 1, { database })
  const client = openAwaitedClient(spec, settings)
  const question = { client, settings, signal }
  const listed: RemoteEntry[] = []
  let page: object | undefined
  do {
    const found = await spec.scope.remote?.list({ ...question, ...(page && { page }) })
    listed.push(...(found?.children ?? []))
    page = found?.next
  } while (page)
  const found = await spec.scope.remote?.search?.({ ...question, search, page: 1, pageSize: 10 })
  await client.close()
  return { listed, found: found?.children ?? [], count: found?.count }
}
