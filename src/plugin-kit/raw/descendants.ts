/** Finds the tables whose rows are made from a raw table: tool tables, and domain tables made from those. */
import type { AnyTable } from '../../database/table.ts'
import type { Entity } from '../spec/entity.ts'
import type { PluginSpec } from '../spec/plugin.ts'
import type { Descendants } from './raw-mirror.ts'
import { type RawTable, rawTable } from './raw-table.ts'

/** Columns in keys of domain tables that identify a scope. */
const SCOPE_COLUMNS = ['board_id', 'repo_id', 'cicd_scope_id']

/** The tool tables that the extraction of an entity writes. */
export const extractedTables = ({ table, spec }: Entity): AnyTable[] => [
  ...new Set([table, ...(spec.extract?.writes ?? []), ...(spec.extract?.owns ?? []).map((each) => each.table)]),
]
/** The domain tables that the conversion of an entity writes. */
export const convertedTables = ({ spec }: Entity): AnyTable[] => [
  ...new Set([...(spec.convert?.to ?? []), ...(spec.convert?.owns ?? []).map((each) => each.table)]),
]

/** True if each row of the table belongs to only one scope. */
export const isScoped = (table: AnyTable, { scopeWhere }: Entity, scope: unknown): boolean =>
  'connection_id' in table.columns
    ? Object.keys(scopeWhere(table, scope)).length > 0
    : table.keys.some((position) => SCOPE_COLUMNS.includes(table.names[position] as string))

export function entityTables(entities: readonly Entity[]): ReadonlySet<AnyTable> {
  const tables = new Set<AnyTable>()
  for (const { table, spec } of entities) {
    const owned = (spec.extract?.owns ?? []).map((each) => each.table)
    for (const each of [table, ...(spec.extract?.writes ?? []), ...owned]) tables.add(each)
    if (spec.raw) tables.add(rawTable(spec.raw))
  }
  return tables
}

export function descendantsOf(
  { entities, referred = [] }: Pick<PluginSpec, 'entities' | 'referred'>,
  entity: Entity,
  scope: unknown,
): Descendants {
  const isReferred = new Set(referred.map(({ table }) => table))
  const related = new Set<RawTable>([rawTable(entity.spec.raw as string)])
  const tables = new Set<AnyTable>()
  for (const each of entities) {
    if (each.table === entity.table && each.spec.raw) related.add(rawTable(each.spec.raw))
    if (each.spec.raw === entity.spec.raw) for (const table of extractedTables(each)) tables.add(table)
  }
  for (const each of entities) {
    if (tables.has(each.table)) for (const table of convertedTables(each)) tables.add(table)
  }
  const all = [...tables].filter((table) => table.origin >= 0 && !isReferred.has(table))
  return { related: [...related], tables: all, scoped: new Set(all.filter((table) => isScoped(table, entity, scope))) }
}
