/** Finds the data sources among the plugins, and converts rows of their settings to their public form. */

import { unknownName } from '../basics/nearest.ts'
import type { AnyTable } from '../database/table.ts'
import { UserError } from '../errors.ts'
import type { Fields } from '../plugin-kit/spec/fields.ts'
import type { Plugin, PluginSpec } from '../plugin-kit/spec/plugin.ts'
import type { PushSource } from '../plugin-kit/spec/push-source.ts'
import { settingsTables } from '../plugin-kit/task/settings-tables.ts'
import { scopeKey } from '../plugin-kit/task/source-task.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { Scope, ScopeConfig } from './records.ts'
import { openSettings } from './settings.ts'
import { publicRow } from './store.ts'

export const unknownPlugin = (plugins: readonly Plugin[], name: string, status = 404): UserError =>
  unknownName(
    'plugin',
    name,
    plugins.map((each) => each.name),
    status,
  )

export function pluginNamed(plugins: readonly Plugin[], name: string): Plugin {
  const plugin = plugins.find((each) => each.name === name)
  if (!plugin) throw unknownPlugin(plugins, name)
  return plugin
}

/** A row of the table of scopes, connections or scope configs of any plugin. */
export type SettingsRow = Readonly<Record<string, unknown>>

/** A plugin with connections: a source that Weir collects from, or a push source that sends data to Weir. */
export interface Connected {
  readonly name: string
  /** Settings of a connection, and where they are stored. */
  readonly fields: Fields
  readonly table: AnyTable
  readonly source?: PluginSpec
  readonly pushSource?: PushSource
}

function connectedOf({ name, source, pushSource }: Plugin): Connected | undefined {
  if (pushSource) return { name, fields: {}, table: pushSource.connections, pushSource }
  // A plugin that uses the connections of another plugin has none of its own.
  if (!source || source.settingsOf) return undefined
  return { name, fields: source.connection.fields, table: settingsTables(source).connections, source }
}

export const allConnected = (plugins: readonly Plugin[]): Connected[] =>
  plugins.flatMap((plugin) => connectedOf(plugin) ?? [])

export function connectedNamed(plugins: readonly Plugin[], name: string): Connected {
  const sources = plugins.filter((plugin) => connectedOf(plugin))
  const connected = connectedOf(plugins.find((plugin) => plugin.name === name) ?? pluginNamed(sources, name))
  if (!connected) throw new UserError(`${name} has no connections: it is not a data source.`, { status: 404 })
  return connected
}

/** The description of a data source with scopes to choose from. */
export function sourceNamed(plugins: readonly Plugin[], name: string): PluginSpec {
  const { source } = connectedNamed(plugins, name)
  if (!source) throw new UserError(`${name} has no scopes: data is pushed to its connections.`)
  return source
}

export { scopeKey }

/** The column by which people look for a scope: the full name where there is one. */
export const titleColumn = (source: PluginSpec): string =>
  source.scope.titleColumn ??
  ['full_name', 'name'].find((name) => name in source.scope.table.columns) ??
  scopeKey(source)
export const scopeTitle = (source: PluginSpec, row: SettingsRow): string => String(row[titleColumn(source)] ?? '')

export function publicScope(source: PluginSpec, row: SettingsRow): Scope {
  const { scopeConfigId, ...scope } = publicRow(source.scope.table, row)
  return { ...scope, ...(scopeConfigId ? { scopeConfigId } : {}) } as unknown as Scope
}

export function publicScopeConfig(source: PluginSpec, row: SettingsRow, secrets: Secrets): ScopeConfig {
  const base = {
    id: row.id,
    connectionId: row.connection_id,
    name: row.name,
    entities: Array.isArray(row.entities) ? row.entities : [],
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }
  return { ...base, ...openSettings(source.scopeConfig.fields, row, secrets) } as ScopeConfig
}
