/** The data sources among the plugins, and how rows of their settings look from outside. */

import type { Table } from '../database/table.ts'
import { UserError } from '../errors.ts'
import { unknownName } from '../nearest.ts'
import type { Feed } from '../plugin-kit/feed.ts'
import type { Fields, PluginSpec } from '../plugin-kit/plugin.ts'
import { settingsTables } from '../plugin-kit/settings-tables.ts'
import { scopeKey } from '../plugin-kit/source-task.ts'
import type { Plugin } from '../plugin-kit/subtask.ts'
import type { Secrets } from '../secrets.ts'
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

/** Whatever has connections: a source that is asked, or a feed that pushes. */
export interface Connected {
  readonly name: string
  /** Settings of a connection, and where they are stored. */
  readonly fields: Fields
  readonly table: Table<any>
  readonly source?: PluginSpec
  readonly feed?: Feed
}

function connectedOf({ name, source, feed }: Plugin): Connected | undefined {
  if (feed) return { name, fields: {}, table: feed.connections, feed }
  // One that works with the connections of another has none of its own.
  if (!source || source.settingsOf) return undefined
  return { name, fields: source.connection.fields, table: settingsTables(source).connections, source }
}

export const allConnected = (plugins: readonly Plugin[]): Connected[] =>
  plugins.flatMap((plugin) => connectedOf(plugin) ?? [])

export function connectedNamed(plugins: readonly Plugin[], name: string): Connected {
  const sources = plugins.filter((plugin) => connectedOf(plugin))
  const connected = connectedOf(plugins.find((plugin) => plugin.name === name) ?? pluginNamed(sources, name))
  if (!connected) throw new UserError(`${name} has no connections: it is no data source.`, { status: 404 })
  return connected
}

/** The description of a data source with scopes to choose from. */
export function sourceNamed(plugins: readonly Plugin[], name: string): PluginSpec {
  const { source } = connectedNamed(plugins, name)
  if (!source) throw new UserError(`${name} has no scopes: it pushes, and its connections are taken whole.`)
  return source
}

export { scopeKey }

/** Where people look for a scope: its full name, where it has one. */
export const titleColumn = (source: PluginSpec): string =>
  ['full_name', 'name'].find((name) => name in source.scope.table.columns) ?? scopeKey(source)
export const scopeTitle = (source: PluginSpec, row: any): string => String(row[titleColumn(source)] ?? '')

export function publicScope(source: PluginSpec, row: any): Scope {
  const { scopeConfigId, ...scope } = publicRow(source.scope.table, row)
  return { ...scope, ...(scopeConfigId ? { scopeConfigId } : {}) } as unknown as Scope
}

export function publicScopeConfig(source: PluginSpec, row: any, secrets: Secrets): ScopeConfig {
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
