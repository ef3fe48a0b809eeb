import { missingCell } from '../database/fit.ts'
import { readAll } from '../database/read.ts'
import type { Column } from '../database/table.ts'
import { UserError } from '../errors.ts'
import type { EntityContext } from './entity.ts'
import { idMaker } from './id-of.ts'
import type { PluginSpec, Settings } from './plugin.ts'
import { settingsTables } from './settings-tables.ts'
import type { TaskRun } from './subtask.ts'

/** A run on stored records, with everything entities may look at. */
export interface EntityTask extends TaskRun {
  readonly context: EntityContext<any, any>
  readonly settings: Settings
  /** JSON text that marks the raw rows it is about. */
  readonly params: string
}
/** A run on one scope of a connection. */
export interface SourceTask extends EntityTask {
  readonly plugin: PluginSpec
}

export async function prepareSourceTask(plugin: PluginSpec, run: TaskRun): Promise<SourceTask> {
  const { options } = run
  const connectionId = Number(options.connectionId)
  if (!Number.isSafeInteger(connectionId) || connectionId < 1) {
    throw new UserError(`${plugin.name}: the option connectionId is missing or no number`)
  }
  const scope = await findScope(plugin, connectionId, run)
  const settings =
    options.scopeConfig ?? (await findSettings(plugin, options.scopeConfigId ?? scope.scope_config_id, run))
  return {
    ...run,
    plugin,
    settings,
    params: JSON.stringify(plugin.scope.params(connectionId, scope)),
    context: {
      connectionId,
      connection: { endpoint: await findEndpoint(plugin, connectionId, run) },
      scope,
      scopeConfig: plugin.scopeConfig.prepare(settings),
      idOf: idMaker(connectionId),
    },
  }
}

/** The stored scope, or for one that is not stored yet a row with what the options say of it. */
async function findScope({ scope, name }: PluginSpec, connectionId: number, { database, options }: TaskRun) {
  const given = Object.entries(scope.options).filter(
    ([option]) => options[option] !== undefined && options[option] !== '',
  )
  if (given.length === 0) throw new UserError(`${name}: name the scope by ${Object.keys(scope.options).join(' or ')}`)
  const known = Object.fromEntries(given.map(([option, column]) => [column, options[option]]))
  const [stored] = await readAll(database, { table: scope.table, where: { connection_id: connectionId, ...known } })
  const empty = Object.entries(scope.table.columns as Record<string, Column>).map(([column, spec]) => [
    column,
    missingCell(spec),
  ])
  return stored ?? { ...Object.fromEntries(empty), connection_id: connectionId, ...known }
}

async function findSettings(plugin: PluginSpec, id: unknown, { database }: TaskRun): Promise<Settings> {
  if (!id) return {}
  const { scopeConfigs, settingsOf } = settingsTables(plugin)
  const [row] = await readAll(database, { table: scopeConfigs, where: { id } })
  return row ? settingsOf(scopeConfigs, row) : {}
}

async function findEndpoint(plugin: PluginSpec, id: number, { database, options }: TaskRun): Promise<string> {
  const { connections } = settingsTables(plugin)
  const [row] = await readAll(database, { table: connections, where: { id } })
  return String(row?.endpoint || options.endpoint || plugin.connection.endpoint)
}
