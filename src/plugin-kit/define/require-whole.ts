/** Refuses mistakes in a plugin that compile, but then silently do nothing or fail in the middle of a run. */
import type { Joins } from '../../database/read.ts'
import type { AnyTable } from '../../database/table.ts'
import { FatalError } from '../../errors.ts'
import { extractedTables } from '../raw/descendants.ts'
import { rawName } from '../raw/raw-table.ts'
import type { AnyCollectSpec, AnyForEach } from '../spec/collect.ts'
import type { Entity, Owned } from '../spec/entity.ts'
import type { PluginSpec } from '../spec/plugin.ts'
import { ownerOf } from '../task/family.ts'

export function requireWhole(plugin: PluginSpec): void {
  const problem =
    plugin.entities.map((entity) => problemOf(entity, plugin)).find((each) => each !== undefined) ??
    problemOfScope(plugin)
  if (problem !== undefined) throw new FatalError(`${plugin.name}: ${problem}`)
}

function problemOf(entity: Entity, plugin: PluginSpec): string | undefined {
  const { label } = entity.spec
  // The other checks read the tables, so this one comes first.
  if (tablesNamedBy(entity).includes(undefined))
    return `${label} names a table that does not exist yet, since two files import each other: node scripts/check-rules.ts says which.`
  return (
    problemOfCollect(entity) ??
    problemOfNames(entity, plugin) ??
    problemOfColumns(entity, plugin) ??
    problemOfOwnership(entity, plugin)
  )
}

function problemOfCollect({ spec: { label, raw, collect } }: Entity): string | undefined {
  if (!collect) return undefined
  if (!raw) return `${label} has \`collect\` without \`raw\`: name the raw table that its records are kept in.`
  if (collect.forgets && collect.forEach)
    return `${label} has \`forgets\` beside \`forEach\`: what hangs on an input goes with it.`
  const isFiltered = collect.incremental !== undefined && 'filterBy' in collect.incremental
  if (collect.reconcile && !isFiltered && !collect.reconcile.by)
    return `${label} has \`reconcile\` and no \`filterBy\`: say by \`by\` where a name has its time, so that those from before a start date are told from the rest.`
  return undefined
}

/** Raw tables are named after the plugin or the one that it works for, so that two tools never share one by accident. */
function problemOfNames(entity: Entity, plugin: PluginSpec): string | undefined {
  const { kit } = entity
  const { label, raw } = entity.spec
  const names = [plugin.name, ownerOf(plugin).name]
  if (!names.includes(kit))
    return `${label} is made by the kit of ${kit}, whose tables are not those of this plugin: write pluginKit('${plugin.name}').`
  if (raw && !names.some((name) => raw.slice(0, name.length + 1) === `${name}_`))
    return `${label} keeps its records in ${rawName(raw)}, which is not named after the plugin: begin \`raw\` with ${plugin.name}_.`
  const other = plugin.entities.find((each) => each !== entity && each.spec.raw === raw && each.spec.collect)
  if (raw && other && entity.spec.collect)
    return `${label} and ${other.spec.label} both collect into ${rawName(raw)}: name a raw table for each of them.`
  return undefined
}

function problemOfColumns(entity: Entity, { scopeConfig }: PluginSpec): string | undefined {
  const { label, extract, convert } = entity.spec
  for (const [where, table, column] of columnsNamedBy(entity)) {
    if (column in table.columns) continue
    return `${where} of ${label} names the column ${column}, which ${table.name} does not have.`
  }
  for (const [where, other, columns] of linksOf(entity)) {
    if ('connection_id' in columns || !('connection_id' in other.columns)) continue
    return `${where} of ${label} would find rows of other connections in ${other.name}: add connection_id: 'connection_id'.`
  }
  const field = [...(extract?.dependsOn ?? []), ...(convert?.dependsOn ?? [])].find(
    (each) => !(each in scopeConfig.fields),
  )
  if (field) return `dependsOn of ${label} names the field ${field}, which \`scopeConfig.fields\` does not have.`
  return undefined
}

/** Rows of other scopes must not be taken for rows of this one. */
function problemOfOwnership({ table, spec, scopeColumnOf }: Entity, { referred = [] }: PluginSpec): string | undefined {
  const { label, collect, convert } = spec
  const { forEach }: { forEach?: AnyForEach } = collect ?? {}
  const read = [
    ...(convert && !convert.where && !referred.some((each) => each.table === table)
      ? [['convert', table] as const]
      : []),
    ...(forEach && !forEach.where ? [['forEach', forEach.table] as const] : []),
  ]
  const [place, from] = read.find(([, each]) => scopeColumnOf(each) === undefined) ?? []
  if (!from) return undefined
  return `${place} of ${label} reads ${from.name}, and nothing says which of its rows belong to a scope: add the column \`scopeColumn\` of kit.ts to it, or \`where\` to \`${place}\`.`
}

function problemOfScope({ scope, entities }: PluginSpec): string | undefined {
  const { table, title, options, toldBy } = scope
  const unknown = Object.entries({ ...options, ...toldBy }).find(([, column]) => !(column in table.columns))
  if (unknown) return `the option ${unknown[0]} names the column ${unknown[1]}, which ${table.name} does not have.`
  if (!('scope_config_id' in table.columns))
    return `${table.name} has no column scope_config_id, so that no ${title.toLowerCase()} could have rules: add it.`
  if (entities.some((each) => each.table === table && each.spec.convert)) return undefined
  return `no entity converts ${table.name}, so that a ${title.toLowerCase()} would never reach a project: add an entity of that table with \`convert\`.`
}

/** Tables may be undefined if files import each other: the file that runs first does not see the others. */
const tablesNamedBy = ({ table, spec: { collect, extract, convert } }: Entity): (AnyTable | undefined)[] => [
  table,
  ...(collect?.forEach ? [collect.forEach.table] : []),
  ...(extract?.writes ?? []),
  ...(convert?.to ?? []),
  ...[...(extract?.owns ?? []), ...(convert?.owns ?? [])].map((owned) => owned.table),
]

type Link = readonly [where: string, other: AnyTable, columns: Readonly<Record<string, string>>, table: AnyTable]

/** Other tables whose rows an entity finds by its own rows, and the columns that it uses. */
function linksOf({ table, spec }: Entity): Link[] {
  const { forEach }: Partial<AnyCollectSpec> = spec.collect ?? {}
  const joined = (joins: Joins = {}, to: AnyTable) =>
    Object.values(joins).map((join): Link => ['joins', join.table, join.on, to])
  const owned = (owns: readonly Owned[] = [], by: AnyTable | undefined) =>
    by ? owns.map((each): Link => ['owns', each.table, each.by, by]) : []
  return [
    ...(forEach ? joined(forEach.joins, forEach.table) : []),
    ...joined(spec.convert?.joins, table),
    ...owned(spec.extract?.owns, table),
    ...owned(spec.convert?.owns, spec.convert?.to[0]),
  ]
}

function columnsNamedBy(entity: Entity): (readonly [where: string, table: AnyTable, column: string])[] {
  const { table, spec, scopeColumnOf } = entity
  const { forEach, windows, knownBy, incremental }: Partial<AnyCollectSpec> = spec.collect ?? {}
  const named = (where: string, of: AnyTable, columns: object = {}) =>
    Object.keys(columns).map((column) => [where, of, column] as const)
  const { where, having } = forEach?.again ?? {}
  const scopeColumns = extractedTables(entity).flatMap((each) => {
    const column = scopeColumnOf(each)
    return column === undefined ? [] : [['scopeColumn', each, column] as const]
  })
  const linked = linksOf(entity).flatMap(([where, other, columns, to]) =>
    Object.entries(columns).flatMap(([own, its]) => [
      [where, other, own] as const,
      // A name with a dot is a column of a table that is joined before.
      ...(its.includes('.') ? [] : [[where, to, its] as const]),
    ]),
  )
  return [
    ...(forEach?.changedBy ? [['changedBy', forEach.table, forEach.changedBy] as const] : []),
    ...(windows?.by ? [['windows.by', table, windows.by] as const] : []),
    ...(knownBy ? [['knownBy', table, knownBy.column] as const] : []),
    ...(incremental && 'refetch' in incremental ? named('refetch', table, incremental.refetch?.where) : []),
    ...(forEach ? named('again', forEach.table, where) : []),
    ...(forEach && having ? named('having', having.table, { ...having.by, ...having.where }) : []),
    ...(forEach && having ? Object.values(having.by).map((of) => ['having', forEach.table, of] as const) : []),
    ...scopeColumns,
    ...linked,
  ]
}
