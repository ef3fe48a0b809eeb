import { decimalOf } from '../../basics/decimal.ts'
import type { Database } from '../../database/database.ts'
import { missingCell } from '../../database/fit.ts'
import { knowing } from '../../database/kysely.ts'
import { readAll } from '../../database/read.ts'
import type { AnyTable, Column } from '../../database/table.ts'
import { messageOf, UserError } from '../../errors.ts'
import type { AnyScope, Settings } from '../spec/fields.ts'
import { idMaker } from '../spec/id-of.ts'
import type { PluginSpec, SourceTask } from '../spec/plugin.ts'
import type { TaskRun } from '../spec/subtask.ts'
import { rulesOfScope } from './assumed-rules.ts'
import { oncePerTask } from './known-of-task.ts'
import { settingsTables } from './settings-tables.ts'

export async function prepareSourceTask(plugin: PluginSpec, run: TaskRun): Promise<SourceTask> {
  const { options } = run
  const connectionId = decimalOf(options.connectionId)
  if (!connectionId) {
    throw new UserError(`${plugin.name}: the option connectionId is missing or not a number`)
  }
  // Read again for each subtask: a subtask may change the scope, such as its name, and a user may remove it.
  const scope = await findScope(plugin, connectionId, run)
  const connection = await oncePerTask(run, 'connection', () => findConnection(plugin, connectionId, run))
  const settings = options.scopeConfig ?? (await findRules(plugin, scope, run, connection.isStored))
  return {
    ...run,
    plugin,
    settings,
    params: JSON.stringify(plugin.scope.params(connectionId, scope, options)),
    context: {
      connectionId,
      connection: connection.facts,
      scope,
      scopeConfig: plugin.scopeConfig.prepare(settings),
      idOf: idMaker(connectionId),
    },
  }
}

/** The column that identifies a scope within its connection. */
export function scopeKey({ scope: { table } }: PluginSpec): string {
  const names = table.keys.map((position) => table.names[position] as string)
  return names.find((name) => name !== 'connection_id') as string
}

/**
 * The stored scope that options name. Its key takes precedence, because a task may contain an old name of a repository.
 * A plan that someone wrote by hand may use a connection without any scope. Then the options are all that is known about the
 * scope. The same applies to tasks whose options contain everything.
 */
export async function findScope(
  plugin: PluginSpec,
  connectionId: number,
  { database, options, log }: Pick<TaskRun, 'database' | 'options' | 'log'>,
): Promise<AnyScope> {
  const { table, toldBy = {} } = plugin.scope
  const columns = { ...plugin.scope.options, ...toldBy }
  const namedBy = Object.entries(columns).filter(([option]) => isGiven(options[option]))
  if (namedBy.length === 0 && !plugin.scope.isOptional)
    throw new UserError(`${plugin.name}: name the scope by ${Object.keys(columns).join(' or ')}`)
  const named = namedBy.map(([option]) => `${option} ${JSON.stringify(options[option])}`).join(' and ')
  const known = valuesOf(plugin, namedBy, options)
  const key = scopeKey(plugin)
  const where = { connection_id: connectionId, ...(key in known ? { [key]: known[key] } : known) }
  const [stored] = namedBy.length > 0 ? await readAll(database, { table, where }) : []
  if (stored) {
    const before = Object.entries(known).find(([column, value]) => stored[column] !== value)
    if (before) log?.(`The task names its scope ${before[1]}; it is ${stored[before[0]]} now.`)
    return stored
  }
  const isTold = namedBy.some(([option, column]) => option in toldBy && column === key)
  if (namedBy.length > 0 && !isTold && (await readAny(database, table, connectionId))) {
    throw new UserError(
      `${plugin.name}: connection ${connectionId} has no scope with ${named}. It may have been renamed or removed: add it to the connection, or run its project again.`,
    )
  }
  const empty = Object.entries(table.columns as Record<string, Column>).map(([column, spec]) => [
    column,
    missingCell(spec),
  ])
  return { ...Object.fromEntries(empty), connection_id: connectionId, ...known }
}

/** Some clients send an empty text or zero instead of no value. */
const isGiven = (value: unknown) => value !== undefined && value !== null && value !== '' && value !== 0

/** The values of the options by column. Throws for a value that the column cannot have. */
function valuesOf(
  { name, scope: { table } }: PluginSpec,
  namedBy: readonly (readonly [option: string, column: string])[],
  options: TaskRun['options'],
): Record<string, unknown> {
  const values = namedBy.map(([option, column]) => {
    try {
      return [column, table.fitters[table.names.indexOf(column)]?.(options[option])]
    } catch (error) {
      throw new UserError(`${name}: the option ${option} names no scope: ${messageOf(error)}`)
    }
  })
  return Object.fromEntries(values)
}

async function readAny({ kysely }: Database, table: AnyTable, connectionId: number): Promise<boolean> {
  const query = knowing(kysely, table)
    .selectFrom(table.name)
    .select('connection_id')
    .where('connection_id', '=', connectionId)
  return (await query.limit(1).execute()).length > 0
}

/** The rules of the scope config that the options name, or else of the one that the scope names. */
async function findRules(plugin: PluginSpec, scope: AnyScope, run: TaskRun, isStored: boolean): Promise<Settings> {
  const id = run.options.scopeConfigId || scope.scope_config_id
  // A task for a connection that is not stored has only its options.
  if (!id) return isStored ? rulesOfScope(plugin, undefined) : {}
  return oncePerTask(run, `scope config ${id}`, async () => {
    const { scopeConfigs, settingsOf } = settingsTables(plugin)
    const [row] = await readAll(run.database, { table: scopeConfigs, where: { id } })
    if (!row) throw new UserError(`${plugin.name}: there is no scope config ${id}: choose another one, or none.`)
    return rulesOfScope(plugin, settingsOf(scopeConfigs, row))
  })
}

/** `timeZone` is a field that plugins declare if their source writes times without a zone. */
async function findConnection(plugin: PluginSpec, id: number, { database, options }: TaskRun) {
  const { connections, settingsOf } = settingsTables(plugin)
  const [row] = await readAll(database, { table: connections, where: { id } })
  const endpoint = String(row?.endpoint || options.endpoint || plugin.connection.endpoint)
  const { time_zone } = (row ?? {}) as { readonly time_zone?: string }
  const told = (plugin.connection.facts ?? []).map((field) => [field, row ? settingsOf(connections, row)[field] : ''])
  const facts = { endpoint, ...(time_zone && { timeZone: time_zone }), ...Object.fromEntries(told) }
  return { facts, isStored: row !== undefined }
}
