import type { Joins } from '../../database/read.ts'
import type { AnyTable } from '../../database/table.ts'
import { FatalError } from '../../errors.ts'
import { collect } from '../collect/collect.ts'
import { entityTables } from '../raw/descendants.ts'
import type { AnyCollectSpec } from '../spec/collect.ts'
import type { Entity, Owned } from '../spec/entity.ts'
import type { CompletionStep, ExtraStep, Plugin, PluginSpec, SourceTask } from '../spec/plugin.ts'
import type { Subtask } from '../spec/subtask.ts'
import { withClient } from '../task/client.ts'
import { joinFamily } from '../task/family.ts'
import { settingsTables } from '../task/settings-tables.ts'
import { prepareSourceTask } from '../task/source-task.ts'
import { convert, redriveConvert } from '../transform/convert.ts'
import { extractWithKin, redriveExtract } from '../transform/extract.ts'
import { openWindow } from '../transform/window.ts'
import { type Engines, entitySubtasks } from './entity-subtasks.ts'
import { inTableOrder } from './order.ts'

const ENGINES: Engines<SourceTask> = {
  collect: { run: collect },
  extract: { run: extractWithKin, redrive: redriveExtract },
  convert: { run: convert, redrive: redriveConvert },
}

/** Makes the plugin of a data source: up to three subtasks for each entity, ordered by the tables they read and write. */
export function definePlugin(spec: PluginSpec): Plugin {
  requireWhole(spec)
  joinFamily(spec)
  const { entities, extra } = spec
  const nodes = [
    ...(extra?.first ?? []).map((step) => extraSubtask(spec, step)),
    ...entitySubtasks(spec, ENGINES, async (run, body) => body(await prepareSourceTask(spec, run))),
    ...(spec.completions ?? []).map((step) => completionSubtask(spec, step)),
    ...(extra?.last ?? []).map((step) => extraSubtask(spec, step)),
  ]
  const names = nodes.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice) throw new FatalError(`${spec.name}: two subtasks are called ${twice}`)
  const { connections, scopeConfigs } = settingsTables(spec)
  const tables = new Set([connections, scopeConfigs, spec.scope.table, ...entityTables(entities)])
  return {
    name: spec.name,
    title: spec.title,
    tables: [...tables],
    subtasks: inTableOrder(nodes),
    source: spec,
    ...(spec.routes && { routes: spec.routes }),
  }
}

/** Refuses mistakes that compile, but then silently do nothing or fail in the middle of a run. */
function requireWhole({ name, scope, entities }: PluginSpec): void {
  const refuse = (what: string) => {
    throw new FatalError(`${name}: ${what}`)
  }
  for (const entity of entities) {
    const { label, raw, collect } = entity.spec
    if (tablesNamedBy(entity).includes(undefined))
      refuse(
        `${label} names a table that does not exist yet, since two files import each other: node scripts/check-rules.ts says which.`,
      )
    if (collect && !raw)
      refuse(`${label} has \`collect\` without \`raw\`: name the raw table that its records are kept in.`)
    if (collect?.forgets && collect.forEach)
      refuse(`${label} has \`forgets\` beside \`forEach\`: what hangs on an input goes with it.`)
    const isFiltered = collect?.incremental !== undefined && 'filterBy' in collect.incremental
    if (collect?.reconcile && !isFiltered && !collect.reconcile.by)
      refuse(
        `${label} has \`reconcile\` and no \`filterBy\`: say by \`by\` where a name has its time, so that those from before a start date are told from the rest.`,
      )
    for (const [where, table, column] of columnsNamedBy(entity)) {
      if (column in table.columns) continue
      refuse(`${where} of ${label} names the column ${column}, which ${table.name} does not have.`)
    }
    for (const [where, other, columns] of linksOf(entity)) {
      if ('connection_id' in columns || !('connection_id' in other.columns)) continue
      refuse(
        `${where} of ${label} would find rows of other connections in ${other.name}: add connection_id: 'connection_id'.`,
      )
    }
  }
  if (entities.some(({ table, spec }) => table === scope.table && spec.convert)) return
  refuse(
    `no entity converts ${scope.table.name}, so that a ${scope.title.toLowerCase()} would never reach a project: add an entity of that table with \`convert\`.`,
  )
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
  const { table, spec } = entity
  const { forEach, windows, knownBy }: Partial<AnyCollectSpec> = spec.collect ?? {}
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
    ...linked,
  ]
}

const extraSubtask = (spec: PluginSpec, extra: ExtraStep): Subtask & { entity: unknown } => ({
  name: extra.name,
  step: 'collect',
  entity: extra,
  reads: [],
  writes: [],
  domainTypes: extra.domainTypes,
  isDefault: true,
  async run(run) {
    const task = await prepareSourceTask(spec, run)
    const records = await withClient(task, (client) => extra.run(task, client))
    return { records, rows: 0, quarantined: 0 }
  },
})

const completionSubtask = (spec: PluginSpec, completion: CompletionStep): Subtask & { entity: unknown } => ({
  name: completion.name,
  step: 'extract',
  entity: completion,
  reads: [completion.table, ...completion.reads].map(({ name }) => name),
  writes: [],
  completes: [completion.table.name],
  domainTypes: completion.domainTypes,
  isDefault: true,
  async run(run) {
    const task = await prepareSourceTask(spec, run)
    const place = { plugin: spec.name, subtask: completion.name, params: task.params }
    const window = await openWindow(task.database, place, { fullSync: task.fullSync, config: '' })
    const rows = await completion.run(task, window.stamp)
    await window.succeeded()
    return { records: rows, rows, quarantined: 0 }
  },
})
