/** Connections and scope configs of a plugin are stored in tables made from its field descriptions. */
import {
  bigint,
  boolean,
  type Column,
  type Columns,
  defineTable,
  generated,
  indexed,
  json,
  key,
  sealed,
  string,
  type Table,
  text,
  timestamp,
  unique,
  whole,
  written,
} from '../database/table.ts'
import type { Field, Fields, PluginSpec, Settings } from './plugin.ts'

const COLUMN: Record<Field['kind'], (field: Field) => Column<any>> = {
  string: ({ size }) => (size === undefined ? whole(text()) : string(size)),
  secret: () => sealed(text()),
  // One with a password in it is encrypted.
  url: () => sealed(text()),
  integer: () => bigint(),
  boolean: () => boolean(),
  regex: ({ size }) => (size === undefined ? whole(text()) : string(size)),
  choice: ({ size }) => (size === undefined ? whole(text()) : string(size)),
  strings: () => json(),
  json: () => json(),
  time: () => timestamp(),
}

/** `deploymentPattern` → `deployment_pattern`; runs of capitals stay together. */
export const columnName = (field: string): string => field.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
/** `deployment_pattern` → `deploymentPattern`. */
export const fieldName = (column: string): string => column.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase())

const columnsOf = (fields: Fields): Columns =>
  Object.fromEntries(Object.entries(fields).map(([name, field]) => [columnName(name), COLUMN[field.kind](field)]))

/** Whatever has connections: their table. */
export const connectionTable = (plugin: string, title: string, fields: Fields): Table<any> =>
  defineTable(
    `_tool_${plugin}_connections`,
    { id: key(generated(bigint())), name: unique(string(100)), ...written, ...columnsOf(fields) },
    { meaning: `Connections to ${title}; secrets are encrypted.` },
  )

const made = new WeakMap<PluginSpec, SettingsTables>()
export interface SettingsTables {
  readonly connections: Table<any>
  readonly scopeConfigs: Table<any>
  /** Fields of a stored row under their public names. */
  settingsOf(table: Table<any>, row: Record<string, unknown>): Settings
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
        name: unique(string(255), 'of_connection'),
        entities: json(),
        ...written,
        ...columnsOf(plugin.scopeConfig.fields),
      },
      { meaning: `Transformation rules for scopes of ${plugin.title}.` },
    ),
    settingsOf: (table, row) => {
      const fields = table === tables.connections ? plugin.connection.fields : plugin.scopeConfig.fields
      return Object.fromEntries(Object.keys(fields).map((name) => [name, row[columnName(name)]]))
    },
  }
  made.set(plugin, tables)
  return tables
}
