import { write } from '../../database/write.ts'
import { UserError } from '../../errors.ts'
import { requireLogin } from '../../plugin-kit/define/required-fields.ts'
import { requireOpenEndpoint } from '../../plugin-kit/http/index.ts'
import type { Settings } from '../../plugin-kit/spec/fields.ts'
import type { PluginSpec } from '../../plugin-kit/spec/plugin.ts'
import { holdingTokens, withTokenStore } from '../../plugin-kit/task/rotating-tokens.ts'
import { settingsTables } from '../../plugin-kit/task/settings-tables.ts'
import { blueprintConnections, scopeSelectors } from '../../system/projects.ts'
import { requireNothingRuns, requireUnused } from '../guards.ts'
import type { Connection } from '../records.ts'
import type { ConnectionService, ServiceContext } from '../services.ts'
import { checkSettings, maskSettings, openSettings, pickNames, requireReadable, sealSettings } from '../settings.ts'
import type { SettingsRow } from '../sources.ts'
import { type Connected, connectedNamed } from '../sources.ts'
import { deleteRows, findRow, insertRow, selectRows, updateRows } from '../store.ts'
import { ChangedError, holdRow, isStale, laterThan } from '../versions.ts'
import { forgetUse } from './connection-states.ts'
import { forgetDeliveries } from './deliveries.ts'

const LONGEST_NAME = 100

/** Checks and trims a name that users will see. */
export function checkName(value: unknown, longest: number): string {
  const name = typeof value === 'string' ? value.trim() : ''
  if (name === '') throw new UserError('name is missing: give it one.')
  // As part of a URL path these names would lead to another page.
  if (name === '.' || name === '..') throw new UserError('name must not be . or ..: choose another.')
  if ([...name].length > longest) throw new UserError(`name must be at most ${longest} characters.`)
  return name
}

const unknownConnection = (plugin: string, id: number) =>
  new UserError(`There is no ${plugin} connection ${id}.`, { status: 404 })

/** Columns that the connections of all plugins have. */
interface ConnectionRow extends SettingsRow {
  readonly id: number
  readonly name: string
  readonly created_at: Date
  readonly updated_at: Date
}

export function connectionService({ database, plugins, secrets }: ServiceContext): ConnectionService {
  const { kysely } = database
  const connected = (plugin: string) => connectedNamed(plugins, plugin)

  const open = ({ fields }: Connected, row: SettingsRow): Connection => {
    const { id, name, created_at: createdAt, updated_at: updatedAt } = row as ConnectionRow
    return { id, name, createdAt, updatedAt, ...openSettings(fields, row, secrets) }
  }
  const masked = (owner: Connected, row: SettingsRow): Connection =>
    maskSettings(owner.fields, open(owner, row)) as Connection

  async function stored(plugin: string, id: number, find = findRow) {
    const owner = connected(plugin)
    const row = await find(kysely, owner.table, { id })
    if (!row) throw unknownConnection(plugin, id)
    return open(owner, row)
  }

  async function save(plugin: string, input: Settings, before?: Connection): Promise<Connection> {
    const owner = connected(plugin)
    const { fields, table, pushSource } = owner
    const name = checkName(pickNames(['name'], input).name ?? before?.name, LONGEST_NAME)
    if (before) requireReadable(fields, before, input)
    const values = checkSettings(fields, input, before)
    requireLogin(fields, values)
    for (const [field, { kind }] of Object.entries(fields)) {
      if (kind === 'url' && values[field]) await requireOpenEndpoint(values[field])
    }
    const row = { name, ...sealSettings(fields, values, secrets) }
    const namesake = await findRow(kysely, table, { name })
    if (namesake && namesake.id !== before?.id) {
      throw new UserError(`name is taken: a ${plugin} connection is already called ${name}. Choose another name.`)
    }
    const id = await database.transaction(async (inside) => {
      const saved = before?.id ?? (await insertRow(inside.kysely, table, row))
      if (before) {
        await updateRows(inside.kysely, table, { id: saved }, { ...row, updated_at: laterThan(before.updatedAt) })
      }
      if (pushSource) await write(inside, pushSource.scopes({ id: saved, name }))
      return saved
    })
    return masked(owner, (await findRow(kysely, table, { id })) as SettingsRow)
  }

  async function requireFree(source: PluginSpec, { id, name }: Connection): Promise<void> {
    await requireUnused(kysely, `Connection ${name}`, { plugin_name: source.name, connection_id: id })
    const scope = await findRow(kysely, source.scope.table, { connection_id: id })
    if (scope) throw new UserError(`Connection ${name} has scopes: delete them first.`, { status: 409 })
    await requireNothingRuns(kysely)
  }

  return {
    async list(plugin) {
      const owner = connected(plugin)
      const rows = await selectRows(kysely, owner.table, (query) => query.orderBy('id'))
      return rows.map((row) => masked(owner, row))
    },
    create: (plugin, values) => save(plugin, values),
    async get(plugin, id) {
      return maskSettings(connected(plugin).fields, await stored(plugin, id)) as Connection
    },
    update(plugin, id, values, seen) {
      const { source, fields } = connected(plugin)
      const change = async () => {
        const before = await stored(plugin, id, holdRow)
        if (isStale(before.updatedAt, seen)) {
          throw new ChangedError(`Connection ${before.name}`, maskSettings(fields, before))
        }
        return save(plugin, values, before)
      }
      // A running task may be about to replace the tokens that are saved here.
      return source ? holdingTokens(database, source, id, change) : change()
    },
    async remove(plugin, id) {
      const { source, table, fields } = connected(plugin)
      const connection = await stored(plugin, id)
      if (source) await requireFree(source, connection)
      await kysely.transaction().execute(async (transaction) => {
        if (source) await deleteRows(transaction, settingsTables(source).scopeConfigs, { connection_id: id })
        // A push source is not collected from, so blueprints can lose its connection without missing anything.
        else await deleteRows(transaction, blueprintConnections, { plugin_name: plugin, connection_id: id })
        await deleteRows(transaction, scopeSelectors, { plugin, connection_id: id })
        // When several requests delete it at once, only one of them still finds the row.
        if ((await deleteRows(transaction, table, { id })) === 0) throw unknownConnection(plugin, id)
        await forgetUse(transaction, plugin, id)
        await forgetDeliveries(transaction, { plugin, connectionId: id })
      })
      return maskSettings(fields, connection) as Connection
    },
    async reveal(plugin, id, overrides = {}) {
      const connection = await stored(plugin, id)
      const { source, fields } = connected(plugin)
      requireReadable(fields, connection, overrides)
      const revealed = { ...connection, ...checkSettings(fields, overrides, connection) }
      // Values that are only being tried must neither use up a refresh token nor replace the stored one.
      const isStored = JSON.stringify(revealed) === JSON.stringify(connection)
      return source && isStored ? withTokenStore(source, revealed, { ...secrets, database, id }) : revealed
    },
    check: (plugin, values) => checkSettings(connected(plugin).fields, values),
    mask: (plugin, values) => maskSettings(connected(plugin).fields, values),
  }
}
