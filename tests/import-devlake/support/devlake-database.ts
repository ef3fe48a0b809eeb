/** A small database in the form that DevLake leaves: its types, its ciphertexts, and its own tables besides those that Weir knows. */

import { createCipheriv, createHash, createHmac } from 'node:crypto'
import { sql } from 'kysely'
import type { Database } from '../../../src/database/database.ts'
import type { AnyTable, Column, Kind, TableRow } from '../../../src/database/table.ts'
import { domainTables } from '../../../src/domain/index.ts'
import { systemTables } from '../../../src/system/index.ts'
import { allTables } from '../../../src/tables.ts'
import { anyTable } from '../../support/any-table.ts'
import type { Engine } from '../../support/servers.ts'

export const OLD_SECRET = 'A'.repeat(120)
export const API_KEY = 'a key of DevLake that a pipeline still sends'

/** Encrypts a text as DevLake does. */
export function encryptOld(plain: string, secret = OLD_SECRET): string {
  const key = createHash('sha256').update(secret).digest()
  const cipher = createCipheriv('aes-256-cbc', key, key.subarray(0, 16))
  return Buffer.concat([cipher.update(`${plain}{nddtf}`), cipher.final()]).toString('base64')
}
export const digestOld = (apiKey: string): string => createHmac('sha256', OLD_SECRET).update(apiKey).digest('hex')

const TYPES: Record<Engine, Record<Kind, string>> = {
  mysql: {
    string: 'varchar',
    text: 'longtext',
    integer: 'bigint',
    bigint: 'bigint unsigned',
    double: 'double',
    boolean: 'tinyint(1)',
    timestamp: 'datetime(3)',
    date: 'date',
    json: 'json',
    bytes: 'longblob',
  },
  postgres: {
    string: 'varchar',
    text: 'text',
    integer: 'bigint',
    bigint: 'bigint',
    double: 'numeric',
    boolean: 'boolean',
    timestamp: 'timestamptz',
    date: 'date',
    json: 'json',
    bytes: 'bytea',
  },
}
const NUMBERED: Record<Engine, string> = { mysql: 'bigint unsigned auto_increment', postgres: 'bigserial' }
/** Columns that only Weir has. */
const OWN_COLUMNS = ['input_key', 'record_key']
const SOURCES = /^_(tool|raw)_(github|jira|webhook|refdiff|customized)_/
const names = new Set([...systemTables, ...domainTables].map(({ name }) => name))
const tables = allTables.filter(({ name }) => !name.startsWith('_weir_') && (names.has(name) || SOURCES.test(name)))

function createTable({ dialect }: Database, engine: Engine, table: AnyTable): string {
  const quote = dialect.quote
  const keys = table.keys.map((position) => table.names[position] as string)
  const columns = table.names
    .filter((name) => !OWN_COLUMNS.includes(name))
    .map((name) => {
      const { kind, size, isGenerated } = table.columns[name] as Column
      // On MySQL, DevLake stores paths as bytes.
      const isPath = engine === 'mysql' && table.name === 'commit_files' && name === 'file_path'
      const type = isPath ? 'varbinary(1024)' : kind === 'string' ? `varchar(${size})` : TYPES[engine][kind]
      return `${quote(name)} ${isGenerated ? NUMBERED[engine] : type}${keys.includes(name) ? ' not null' : ''}`
    })
  const primary = keys.length > 0 ? [`primary key (${keys.map(quote).join(', ')})`] : []
  return `create table ${quote(table.name)} (${[...columns, ...primary].join(', ')})`
}

const run = ({ kysely }: Database, statement: string) => sql.raw(statement).execute(kysely)

export const insert = async ({ kysely }: Database, table: string, rows: readonly Record<string, unknown>[]) => {
  for (let at = 0; at < rows.length; at += 200) {
    await anyTable(kysely)
      .insertInto(table)
      .values(rows.slice(at, at + 200))
      .execute()
  }
}

/** Inserts rows made by Weir's code into tables of DevLake. */
export async function insertRows(database: Database, rows: readonly TableRow[]): Promise<void> {
  for (const [table, own] of Map.groupBy(rows, (row) => row.table)) {
    const values = own.map(({ cells }) =>
      Object.fromEntries(table.names.map((name, position) => [name, cells[position]])),
    )
    await insert(database, table.name, values)
  }
}

export interface DevLakeOptions {
  readonly endpoint?: string
  readonly token?: string
  readonly repositoryId?: number
}

const WRITTEN = new Date('2026-05-01T10:00:00.000Z')
const stamps = { created_at: WRITTEN, updated_at: WRITTEN }
export const PARAMS = '{"ConnectionId":1,"Name":"acme/web"}'
const PLAN = [[{ plugin: 'github', subtasks: ['Collect Issues'], options: { connectionId: 1, name: 'acme/web' } }]]

/** Creates the tables, and one record of everything that belongs to the configuration. */
export async function makeDevLake(database: Database, engine: Engine, options: DevLakeOptions = {}): Promise<void> {
  for (const table of tables) await run(database, createTable(database, engine, table))
  const quote = database.dialect.quote
  await run(database, `create table ${quote('_tool_zentao_bugs')} (id bigint primary key, title varchar(255))`)
  await run(database, `alter table issues add column x_team varchar(255)`)
  await run(database, `alter table ${quote('_tool_jira_connections')} add column epic_key_field varchar(50)`)
  await run(database, `create unique index idx_name_github on ${quote('_tool_github_scope_configs')} (name)`)
  await insertSettings(database, options)
  await insertRuns(database)
}

async function insertSettings(database: Database, options: DevLakeOptions): Promise<void> {
  const { endpoint = 'http://127.0.0.1:9/', token = 'gh-token', repositoryId = 700 } = options
  const migration = { script_name: 'the newest one that is known', comment: 'Framework', created_at: WRITTEN }
  await insert(database, '_devlake_migration_history', [{ script_version: 20_260_426_000_001, ...migration }])
  await insert(database, '_tool_github_connections', [
    {
      id: 1,
      name: 'main',
      endpoint,
      proxy: 'http://ada:pass-word@127.0.0.1:9',
      auth_method: 'AccessToken',
      token: encryptOld(token),
      secret_key: encryptOld(''),
      refresh_token: encryptOld(''),
      ...stamps,
    },
  ])
  if (options.endpoint)
    await run(database, `update ${database.dialect.quote('_tool_github_connections')} set proxy = ''`)
  await insert(database, '_tool_jira_connections', [
    {
      id: 4,
      name: 'board',
      endpoint: 'http://127.0.0.1:9/',
      auth_method: 'BasicAuth',
      username: 'ada',
      password: encryptOld('jira-password'),
      token: encryptOld(''),
      epic_key_field: 'customfield_1',
      ...stamps,
    },
  ])
  await insert(database, '_tool_webhook_connections', [{ id: 2, name: 'pushes', ...stamps }])
  await insert(database, '_tool_github_scope_configs', [
    { id: 1, connection_id: 1, name: 'rules', entities: '["CODEREVIEW","TICKET","CICD"]', ...stamps },
  ])
  await insert(database, '_tool_github_repos', [
    {
      connection_id: 1,
      github_id: repositoryId,
      name: 'web',
      full_name: 'acme/web',
      scope_config_id: 1,
      html_url: 'https://github.com/acme/web',
      _raw_data_params: PARAMS,
      _raw_data_table: '_raw_github_scopes',
    },
  ])
  await insert(database, '_tool_zentao_bugs', [{ id: 1, title: 'a bug' }])
  await insert(database, '_devlake_api_keys', [
    { id: 3, name: 'ci', api_key: digestOld(API_KEY), allowed_path: '.*', type: 'devlake', ...stamps },
  ])
  await insert(database, 'projects', [{ name: 'shop', description: 'the shop', ...stamps }])
  await insert(
    database,
    'project_metric_settings',
    ['dora', 'zentao'].map((plugin_name) => ({ project_name: 'shop', plugin_name, plugin_option: '{}', enable: true })),
  )
}

async function insertRuns(database: Database): Promise<void> {
  const plan = encryptOld(JSON.stringify(PLAN))
  const none = Buffer.from(encryptOld('null'))
  const blueprint = { enable: true, is_manual: true, before_plan: none, after_plan: none, ...stamps }
  const schedule = { cron_config: 'manual', skip_on_fail: true, full_sync: false, skip_collectors: false, priority: 0 }
  await insert(database, '_devlake_blueprints', [
    { id: 5, name: 'shop-Blueprint', project_name: 'shop', mode: 'NORMAL', plan, ...blueprint, ...schedule },
    {
      id: 6,
      name: 'by hand',
      project_name: '',
      mode: 'ADVANCED',
      plan,
      ...blueprint,
      ...schedule,
      // Tasks alone, without the list of their stage.
      before_plan: Buffer.from(encryptOld(JSON.stringify(PLAN.flat()))),
    },
  ])
  const links = ['github', 'zentao'].map((plugin_name) => ({ blueprint_id: 5, plugin_name, connection_id: 1 }))
  await insert(database, '_devlake_blueprint_connections', links)
  const [repository] = await anyTable(database.kysely).selectFrom('_tool_github_repos').select('github_id').execute()
  const scope_id = String(repository?.github_id)
  await insert(
    database,
    '_devlake_blueprint_scopes',
    links.map((link) => ({ ...link, scope_id })),
  )
  const pipeline = { blueprint_id: 5, name: 'shop-Blueprint', plan, total_tasks: 1, ...stamps }
  await insert(database, '_devlake_pipelines', [
    { id: 8, ...pipeline, status: 'TASK_COMPLETED', finished_tasks: 1, began_at: WRITTEN, finished_at: WRITTEN },
    { id: 9, ...pipeline, status: 'TASK_RUNNING', finished_tasks: 0, began_at: WRITTEN },
  ])
  const options = encryptOld(JSON.stringify(PLAN[0]?.[0]?.options))
  const task = {
    plugin: 'github',
    options,
    subtasks: '["Collect Issues"]',
    pipeline_row: 1,
    pipeline_col: 1,
    ...stamps,
  }
  await insert(database, '_devlake_tasks', [
    { id: 11, pipeline_id: 8, status: 'TASK_COMPLETED', ...task },
    { id: 12, pipeline_id: 9, status: 'TASK_RUNNING', ...task },
    { id: 13, pipeline_id: 8, status: 'TASK_FAILED', ...task, plugin: 'zentao', pipeline_col: 2 },
  ])
  const state = { raw_data_params: PARAMS, raw_data_table: '_raw_github_api_issues', latest_success_start: WRITTEN }
  await insert(database, '_devlake_collector_latest_state', [state])
  const record = { params: PARAMS, data: Buffer.from('{"id":1}'), url: 'http://127.0.0.1:9/issues', input: 'null' }
  await insert(database, '_raw_github_api_issues', [{ id: 21, ...record, created_at: WRITTEN }])
}

/** Returns the whole database: tables, columns, and every row. */
export async function wholeOf(database: Database): Promise<unknown> {
  const live = await database.describe()
  const contents = []
  for (const name of [...live.keys()].sort()) {
    const rows = await anyTable(database.kysely).selectFrom(name).selectAll().execute()
    const columns = [...(live.get(name)?.columns ?? [])].sort(([one], [other]) => (one < other ? -1 : 1))
    contents.push([name, columns, rows.map((row) => JSON.stringify(row)).sort()])
  }
  return contents
}
