/**
 * A family is a plugin together with the plugins that work for it. Two plugins are related only if one of them says so:
 * `settingsOf` names the plugin that it works for, as GitHub over GraphQL works for GitHub. Names show nothing:
 * bitbucket_server is another tool than bitbucket. Nor does the beginning of a raw table's name: the plugins of a family declare
 * which raw tables mark their rows.
 */
import { type RawBuilder, sql } from 'kysely'
import { FatalError } from '../../errors.ts'
import { rawName } from '../raw/raw-table.ts'
import type { Entity } from '../spec/entity.ts'
import type { Plugin, PluginSpec } from '../spec/plugin.ts'

/** The plugin whose connections and scopes this plugin uses: itself, or the one that it works for. */
export const ownerOf = (plugin: PluginSpec): PluginSpec => plugin.settingsOf ?? plugin

const families = new Map<string, Set<PluginSpec>>()
/** Raw table → name of the family that fills it. */
const fillers = new Map<string, string>()

export function joinFamily(plugin: PluginSpec): void {
  const { name } = ownerOf(plugin)
  families.set(name, (families.get(name) ?? new Set()).add(plugin))
  for (const raw of declaredRaws(plugin)) {
    const other = fillers.get(raw) ?? name
    if (other !== name) {
      throw new FatalError(`${plugin.name}: ${raw} is a raw table of ${other}, which is another source: choose a name.`)
    }
    fillers.set(raw, name)
  }
}

/** The plugin itself and its related plugins. */
export const familyOf = (plugin: PluginSpec): readonly PluginSpec[] => [
  ...new Set([plugin, ...(families.get(ownerOf(plugin).name) ?? [])]),
]

export const familyEntities = (plugin: PluginSpec): Entity[] => familyOf(plugin).flatMap(({ entities }) => entities)

/** The name that marks rows made from a scope itself, which a user chose and no collector brought. */
export const scopeOrigin = (plugin: PluginSpec): string => rawName(`${ownerOf(plugin).name}_scopes`)

const declaredRaws = (plugin: PluginSpec): string[] => [
  scopeOrigin(plugin),
  ...[
    ...plugin.entities.flatMap(({ spec }) => [...(spec.raw ? [spec.raw] : []), ...(spec.convert?.replaces ?? [])]),
    ...(plugin.formerRaws ?? []),
  ].map(rawName),
]

/** Every raw table that marks rows of the family. */
export const rawsOfFamily = (plugin: PluginSpec): string[] => [...new Set(familyOf(plugin).flatMap(declaredRaws))]

/** A condition that a row belongs to the family. Two plugins may mark their scopes alike; the raw table in the column decides. */
export const isOfFamily = (plugin: PluginSpec, column: string): RawBuilder<boolean> =>
  sql<boolean>`${sql.ref(column)} in (${sql.join(rawsOfFamily(plugin))})`

/** The plugin of this name and all plugins that work for it. */
export const pluginsOfFamily = (plugins: readonly Plugin[], name: string): Plugin[] =>
  plugins.filter((plugin) => ownerNameOf(plugin) === name)

/** Name of the plugin whose connections it uses; for a plugin that is not a source, its own name. */
export const ownerNameOf = ({ name, source }: Plugin): string => (source ? ownerOf(source).name : name)
