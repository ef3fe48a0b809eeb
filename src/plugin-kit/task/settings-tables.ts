/** Makes the tables for connections and scope configs of a plugin from its field descriptions. */

import type { AnyTable } from '../../database/table.ts'
import {
  bigint,
  type Columns,
  defineTable,
  generated,
  indexed,
  json,
  key,
  named,
  string,
  unique,
  written,
} from '../../database/table.ts'
import { FIELD_KINDS } from '../spec/field-kinds.ts'
import { columnOf, type Fields, type Settings } from '../spec/fields.ts'
import type { PluginSpec } from '../spec/plugin.ts'

const columnsOf = (fields: Fields): Columns =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [columnOf(name, field), FIELD_KINDS[field.kind].column(field)]),
  )

/** The table of connections, for anything that has connections. */
export const connectionTable = (plugin: string, title: string, fields: Fields): AnyTable =>
  defineTable(
    `_tool_${plugin}_connections`,
    { id: key(generated(bigint())), name: named(unique(string(100))), ...written, ...columnsOf(fields) },
    { meaning: `Connections to ${title}; secrets are encrypted.` },
  )

const made = new WeakMap<PluginSpec, SettingsTables>()
interface SettingsTables {
  readonly connections: AnyTable
  readonly scopeConfigs: AnyTable
  /** The fields of a stored row under their public names. */
  settingsOf(table: AnyTable, row: Record<string, unknown>): Settings
}

export function settingsTables(plugin: PluginSpec): SettingsTables {
  if (plugin.settingsOf) return settingsTables(plugin.settingsOf)
  const existing = made.get(plugin)
  if (existing) return existing
  const tables: SettingsTables = {
    connections: connectionTable(plugin.name, plugin.title, plugin.connection.fields),
    scopeConfigs: defineTable(
      `_tool_${plugin.name}_scope_configs`,
      {
        id: key(generated(bigint())),
        connection_id: indexed(unique(bigint(), 'of_connection')),
        name: named(unique(string(255), 'of_connection')),
        entities: json(),
        ...written,
        ...columnsOf(plugin.scopeConfig.fields),
      },
      { meaning: `Transformation rules for scopes of ${plugin.title}.` },
    ),
    settingsOf: (table, row) => {
      const fields = table === tables.connections ? plugin.connection.fields : plugin.scopeConfig.fields
      return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, row[columnOf(name, field)]]))
    },
  }
  made.set(plugin, tables)
  return tables
}
