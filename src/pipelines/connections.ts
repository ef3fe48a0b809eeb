import { UserError } from '../errors.ts'
import { requireOpenEndpoint } from '../plugin-kit/http/index.ts'
import type { PluginSpec } from '../plugin-kit/plugin.ts'
import { requireLogin } from '../plugin-kit/required-fields.ts'
import { settingsTables } from '../plugin-kit/settings-tables.ts'
import { requireNothingRuns, requireUnused } from './guards.ts'
import type { Connection, Settings } from './records.ts'
import type { ConnectionService, ServiceContext } from './services.ts'
import { checkSettings, maskSettings, openSettings, pickNames, sealSettings } from './settings.ts'
import { sourceNamed } from './sources.ts'
import { deleteRows, findRow, insertRow, selectRows, updateRows } from './store.ts'

const LONGEST_NAME = 100

/** A name that people can see and find again. */
export function checkName(value: unknown, longest: number): string {
  const name = typeof value === 'string' ? value.trim() : ''
  if (name === '') throw new UserError('name is missing: give it one.')
  if ([...name].length > longest) throw new UserError(`name must be at most ${longest} characters.`)
  return name
}

export function connectionService({ database, plugins, secrets }: ServiceContext): ConnectionService {
  const { kysely } = database
  const sourceOf = (plugin: string) => {
    const source = sourceNamed(plugins, plugin)
    return { source, fields: source.connection.fields, table: settingsTables(source).connections }
  }

  const open = (source: PluginSpec, row: any): Connection => ({
    id: row.id,
    name: row.name,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...openSettings(source.connection.fields, row, secrets),
  })
  const masked = (source: PluginSpec, row: any): Connection =>
    maskSettings(source.connection.fields, open(source, row)) as Connection

  async function stored(plugin: string, id: number) {
    const { table, source } = sourceOf(plugin)
    const row = await findRow(kysely, table, { id })
    if (!row) throw new UserError(`There is no ${plugin} connection ${id}.`, { status: 404 })
    return open(source, row)
  }

  async function save(plugin: string, sent: Settings, before?: Connection): Promise<Connection> {
    const { source, fields, table } = sourceOf(plugin)
    const name = checkName(pickNames(['name'], sent).name ?? before?.name, LONGEST_NAME)
    const values = checkSettings(fields, sent, before)
    requireLogin(fields, values)
    if (values.endpoint) await requireOpenEndpoint(values.endpoint)
    const row = { name, ...sealSettings(fields, values, secrets) }
    const namesake = await findRow(kysely, table, { name })
    if (namesake && namesake.id !== before?.id) {
      throw new UserError(`A ${plugin} connection is already called ${name}: choose another name.`)
    }
    const id = before?.id ?? (await insertRow(kysely, table, row))
    if (before) await updateRows(kysely, table, { id }, row)
    return masked(source, await findRow(kysely, table, { id }))
  }

  return {
    async list(plugin) {
      const { source, table } = sourceOf(plugin)
      const rows = await selectRows(kysely, table, (query) => query.orderBy('id'))
      return rows.map((row) => masked(source, row))
    },
    create: (plugin, values) => save(plugin, values),
    async get(plugin, id) {
      return maskSettings(sourceOf(plugin).fields, await stored(plugin, id)) as Connection
    },
    update: async (plugin, id, values) => save(plugin, values, await stored(plugin, id)),
    async remove(plugin, id) {
      const { source, table, fields } = sourceOf(plugin)
      const connection = await stored(plugin, id)
      await requireUnused(kysely, `Connection ${connection.name}`, { plugin_name: plugin, connection_id: id })
      const scope = await findRow(kysely, source.scope.table, { connection_id: id })
      if (scope) throw new UserError(`Connection ${connection.name} has scopes: delete them first.`, { status: 409 })
      await requireNothingRuns(kysely)
      await kysely.transaction().execute(async (transaction) => {
        await deleteRows(transaction, settingsTables(source).scopeConfigs, { connection_id: id })
        await deleteRows(transaction, table, { id })
      })
      return maskSettings(fields, connection) as Connection
    },
    async reveal(plugin, id, overrides = {}) {
      const connection = await stored(plugin, id)
      return { ...connection, ...checkSettings(sourceOf(plugin).fields, overrides, connection) }
    },
    check: (plugin, values) => checkSettings(sourceOf(plugin).fields, values),
    mask: (plugin, values) => maskSettings(sourceOf(plugin).fields, values),
  }
}
