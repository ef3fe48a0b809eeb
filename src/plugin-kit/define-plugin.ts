import { FatalError } from '../errors.ts'
import { collect } from './collect.ts'
import type { CollectSpec } from './collect-spec.ts'
import { convert, redriveConvert } from './convert.ts'
import type { Entity, Step } from './entity.ts'
import { extract, redriveExtract } from './extract.ts'
import { inTableOrder } from './order.ts'
import type { ExtraStep, PluginSpec, Spelling } from './plugin.ts'
import type { Place } from './quarantine.ts'
import { rawTable } from './raw.ts'
import { settingsTables } from './settings-tables.ts'
import { prepareSourceTask, type SourceTask } from './source-task.ts'
import type { Plugin, Subtask, SubtaskResult } from './subtask.ts'
import { withClient } from './task-client.ts'

const ENGINES: Record<Step, { run: Engine; redrive?: Engine }> = {
  collect: { run: collect },
  extract: { run: extract, redrive: redriveExtract },
  convert: { run: convert, redrive: redriveConvert },
}

type Engine = (entity: Entity, task: SourceTask, place: Place) => Promise<SubtaskResult>

/** A plugin for a data source: three subtasks an entity, ordered by the tables they read and write. */
export function definePlugin(spec: PluginSpec): Plugin {
  const { entities, extra } = spec
  const nodes = [
    ...(extra?.first ?? []).map((step) => extraSubtask(spec, step)),
    ...entities.flatMap((entity) => stepsOf(entity).map((step) => subtaskOf(spec, entity, step))),
    ...(extra?.last ?? []).map((step) => extraSubtask(spec, step)),
  ]
  const names = nodes.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice) throw new FatalError(`${spec.name}: two subtasks are called ${twice}`)
  const { connections, scopeConfigs } = settingsTables(spec)
  const tables = new Set([connections, scopeConfigs, spec.scope.table])
  for (const { table, spec: each } of entities) {
    for (const own of [
      table,
      ...(each.extract?.writes ?? []),
      ...(each.extract?.owns ?? []).map((owned) => owned.table),
    ])
      tables.add(own)
    if (each.raw) tables.add(rawTable(each.raw))
  }
  return { name: spec.name, title: spec.title, tables: [...tables], subtasks: inTableOrder(nodes), source: spec }
}

const stepsOf = ({ spec }: Entity): Step[] => [
  ...(spec.collect ? (['collect'] as const) : []),
  ...(spec.raw ? (['extract'] as const) : []),
  ...(spec.convert ? (['convert'] as const) : []),
]

function nameOf(spelling: Spelling, step: Step, { spec }: Entity): string {
  const title = `${step[0]?.toUpperCase()}${step.slice(1)} ${spec.label}`
  return spec.names?.[step] ?? (spelling === 'title' ? title : step + spec.label.replaceAll(' ', ''))
}

function subtaskOf(spec: PluginSpec, entity: Entity, step: Step): Subtask & { entity: Entity } {
  const name = nameOf(spec.spelling, step, entity)
  const drive =
    (engine: Engine): Subtask['run'] =>
    async (run) => {
      const task = await prepareSourceTask(spec, run)
      return engine(entity, task, { plugin: spec.name, subtask: name, params: task.params })
    }
  return {
    name,
    step,
    entity,
    ...tablesOf(entity, step),
    domainTypes: entity.spec.domainTypes,
    isDefault: !entity.spec.off?.includes(step),
    run: drive(ENGINES[step].run),
    ...(ENGINES[step].redrive && { redrive: drive(ENGINES[step].redrive) }),
  }
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

function tablesOf({ table, spec }: Entity, step: Step): { reads: string[]; writes: string[] } {
  const { extract: extracting, convert: converting } = spec
  const tableNames = (tables: Iterable<{ name: string }>) => [...tables].map(({ name }) => name)
  const lookedUp = (lookups: Record<string, { table: { name: string } }> = {}) =>
    Object.values(lookups).map((each) => each.table.name)
  if (step === 'collect') {
    const { forEach } = spec.collect as CollectSpec<any, any>
    const reads = forEach ? [forEach.table.name, ...lookedUp(forEach.joins as any)] : []
    return { reads, writes: [rawTable(spec.raw as string).name] }
  }
  if (step === 'extract') {
    const written = [table, ...(extracting?.writes ?? []), ...(extracting?.owns ?? []).map((owned) => owned.table)]
    return { reads: [rawTable(spec.raw as string).name, ...lookedUp(extracting?.lookups)], writes: tableNames(written) }
  }
  return {
    reads: [table.name, ...lookedUp(converting?.joins as any), ...lookedUp(converting?.lookups)],
    writes: tableNames(converting?.to ?? []),
  }
}
