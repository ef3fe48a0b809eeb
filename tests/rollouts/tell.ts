import { sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'
import { write } from '../../src/database/write.ts'
import { projectMapping } from '../../src/domain/crossdomain.ts'
import { rawTable } from '../../src/plugin-kit/raw/raw-table.ts'
import type { PluginSpec } from '../../src/plugin-kit/spec/plugin.ts'
import { settingsTables } from '../../src/plugin-kit/task/settings-tables.ts'
import { allTables } from '../../src/tables.ts'
import { emptyTables } from '../support/empty-tables.ts'
import { runSubtask } from '../support/run-subtask.ts'
import type { Told } from './seen-twice.ts'

export const PROJECT = 'shop'
const CONNECTION = 1

export const empty = (database: Database): Promise<void> =>
  emptyTables(
    database,
    allTables.filter(({ isAppendOnly }) => !isAppendOnly),
  )

/** Converts the collected raw records to domain rows. */
export async function tell(database: Database, { plugin, scope, options, scopeConfig, raw }: Told): Promise<void> {
  const spec = plugin.source as PluginSpec
  const { connections } = settingsTables(spec)
  const { table, params } = spec.scope
  await write(database, [
    connections.row({ id: CONNECTION, name: 'test', endpoint: 'https://code.example/' }),
    table.row({ connection_id: CONNECTION, ...scope }),
  ])
  for (const [name, records] of Object.entries(raw)) {
    const rows = records.map(({ record, input = null }) =>
      rawTable(name).row({
        params: JSON.stringify(params(CONNECTION, scope)),
        data: Buffer.from(JSON.stringify(record)),
        input,
      }),
    )
    await write(database, rows)
  }
  for (const { name, step, isDefault } of plugin.subtasks) {
    if (!isDefault || step === 'collect' || step === 'calculate') continue
    await runSubtask(database, plugin, name, { connectionId: CONNECTION, ...options, scopeConfig })
  }
}

/** Maps everything that deploys to the project. */
export async function mapAll(database: Database): Promise<void> {
  const { rows } = await sql<{ id: string }>`select distinct cicd_scope_id as id from cicd_pipelines
    union select cicd_scope_id from cicd_deployment_commits`.execute(database.kysely)
  await write(
    database,
    rows.map(({ id }) => projectMapping.row({ project_name: PROJECT, table: 'cicd_scopes', row_id: id })),
  )
}
