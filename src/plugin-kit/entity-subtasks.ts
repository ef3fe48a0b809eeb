/** The subtasks of entities: one a step, named by its label. */
import type { Table } from '../database/table.ts'
import type { CollectSpec } from './collect-spec.ts'
import type { Entity, Step } from './entity.ts'
import type { Spelling } from './plugin.ts'
import type { Place } from './quarantine.ts'
import { rawTable } from './raw.ts'
import type { EntityTask } from './source-task.ts'
import type { Subtask, SubtaskResult, TaskRun } from './subtask.ts'

export type Engine<Task> = (entity: Entity, task: Task, place: Place) => Promise<SubtaskResult>
export type Engines<Task> = { readonly [S in Step]?: { readonly run: Engine<Task>; readonly redrive?: Engine<Task> } }

interface Plugged {
  readonly name: string
  readonly spelling: Spelling
  readonly entities: readonly Entity[]
}
/** Prepares a task for `body`, and may look after it. */
export type WithTask<Task> = (run: TaskRun, body: (task: Task) => Promise<SubtaskResult>) => Promise<SubtaskResult>

export const entitySubtasks = <Task extends EntityTask>(
  plugin: Plugged,
  engines: Engines<Task>,
  withTask: WithTask<Task>,
): (Subtask & { entity: Entity })[] =>
  plugin.entities.flatMap((entity) =>
    stepsOf(entity).flatMap((step) => {
      const engine = engines[step]
      if (!engine) return []
      const name = subtaskName(plugin.spelling, step, entity)
      const drive =
        (act: Engine<Task>): Subtask['run'] =>
        (run) =>
          withTask(run, (task) => act(entity, task, { plugin: plugin.name, subtask: name, params: task.params }))
      return [
        {
          name,
          step,
          entity,
          ...tablesOf(entity, step),
          domainTypes: entity.spec.domainTypes,
          isDefault: !entity.spec.off?.includes(step),
          run: drive(engine.run),
          ...(engine.redrive && { redrive: drive(engine.redrive) }),
        },
      ]
    }),
  )

/** Raw and tool tables that entities need. */
export function entityTables(entities: readonly Entity[]): ReadonlySet<Table<any>> {
  const tables = new Set<Table<any>>()
  for (const { table, spec } of entities) {
    const owned = (spec.extract?.owns ?? []).map((each) => each.table)
    for (const each of [table, ...(spec.extract?.writes ?? []), ...owned]) tables.add(each)
    if (spec.raw) tables.add(rawTable(spec.raw))
  }
  return tables
}

const stepsOf = ({ spec }: Entity): Step[] => [
  ...(spec.collect ? (['collect'] as const) : []),
  ...(spec.raw ? (['extract'] as const) : []),
  ...(spec.convert ? (['convert'] as const) : []),
]

export function subtaskName(spelling: Spelling, step: Step, { spec }: Entity): string {
  const title = `${step[0]?.toUpperCase()}${step.slice(1)} ${spec.label}`
  return spec.names?.[step] ?? (spelling === 'title' ? title : step + spec.label.replaceAll(' ', ''))
}

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
