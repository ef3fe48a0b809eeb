import type { Scope } from '../control-plane/records.ts'
import type { Services } from '../control-plane/services.ts'
import { fitted, publicName } from '../control-plane/store.ts'
import type { Database } from '../database/database.ts'
import type { Settings } from '../plugin-kit/spec/fields.ts'
import type { PluginSpec } from '../plugin-kit/spec/plugin.ts'
import { scopeKey } from '../plugin-kit/task/source-task.ts'
import { blueprintScopes, blueprints } from '../system/projects.ts'

const PAGE = 1000

/** Reads every scope of a connection. */
export async function scopesOf(services: Services, plugin: string, connectionId: number): Promise<Scope[]> {
  const all: Scope[] = []
  for (let page = 1; ; page++) {
    const { items } = await services.scopes.list(plugin, connectionId, { page, pageSize: PAGE })
    all.push(...items.map(({ scope }) => scope))
    if (items.length < PAGE) return all
  }
}

/** Returns the id in its stored form, however it was written. */
export function idOfScope(source: PluginSpec, scope: Settings): string {
  const key = scopeKey(source)
  return String(fitted(source.scope.table, { [key]: scope[publicName(key)] })[key])
}

/** Returns the names of projects that collect a scope. */
export async function projectsOfScope(
  { kysely }: Database,
  {
    plugin,
    connectionId,
    scopeId,
  }: { readonly plugin: string; readonly connectionId: number; readonly scopeId: string },
): Promise<string[]> {
  const rows = await kysely
    .selectFrom(`${blueprintScopes.name} as scope`)
    .innerJoin(`${blueprints.name} as blueprint`, 'blueprint.id', 'scope.blueprint_id')
    .select('blueprint.project_name')
    .where('scope.plugin_name', '=', plugin)
    .where('scope.connection_id', '=', connectionId)
    .where('scope.scope_id', '=', scopeId)
    .execute()
  return [...new Set(rows.map(({ project_name }) => String(project_name ?? '')))].filter((name) => name !== '').sort()
}
