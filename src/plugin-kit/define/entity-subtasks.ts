/** Makes the subtasks of entities: one for each step, named after the entity's label. */

import type { Joins } from '../../database/read.ts'
import { rawTable } from '../raw/raw-table.ts'
import type { AnyCollectSpec } from '../spec/collect.ts'
import type { Entity, EntityTask } from '../spec/entity.ts'
import { subtaskName } from '../spec/entity.ts'
import type { Spelling, Step, Subtask, SubtaskKey, SubtaskResult, TaskRun } from '../spec/subtask.ts'

type Engine<Task> = (entity: Entity, task: Task, subtaskKey: SubtaskKey) => Promise<SubtaskResult>
export type Engines<Task> = { readonly [S in Step]?: { readonly run: Engine<Task>; readonly redrive?: Engine<Task> } }

interface Plugged {
  readonly name: string
  readonly spelling: Spelling
  readonly entities: readonly Entity[]
}
/** Prepares a task, runs `body` with it, and may clean up afterwards. */
type WithTask<Task> = (run: TaskRun, body: (task: Task) => Promise<SubtaskResult>) => Promise<SubtaskResult>

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

const stepsOf = ({ spec }: Entity): Step[] => [
  ...(spec.collect ? (['collect'] as const) : []),
  ...(spec.raw ? (['extract'] as const) : []),
  ...(spec.convert ? (['convert'] as const) : []),
]

function tablesOf({ table, spec }: Entity, step: Step): { reads: string[]; writes: string[] } {
  const { extract: extracting, convert: converting } = spec
  const tableNames = (tables: Iterable<{ name: string }>) => [...tables].map(({ name }) => name)
  const lookedUp = (lookups: Record<string, { table: { name: string } }> = {}) =>
    Object.values(lookups).map((each) => each.table.name)
  if (step === 'collect') {
    const { forEach } = spec.collect as AnyCollectSpec
    const reads = forEach ? [forEach.table.name, ...lookedUp(forEach.joins as Joins)] : []
    return { reads, writes: [rawTable(spec.raw as string).name] }
  }
  if (step === 'extract') {
    const written = [table, ...(extracting?.writes ?? []), ...(extracting?.owns ?? []).map((owned) => owned.table)]
    const writes = tableNames(written)
    // It need not wait for a table that it also writes itself, although another extraction writes it too.
    const others = lookedUp(extracting?.lookups).filter((name) => !writes.includes(name))
    return { reads: [rawTable(spec.raw as string).name, ...others], writes }
  }
  return {
    reads: [table.name, ...lookedUp(converting?.joins as Joins | undefined), ...lookedUp(converting?.lookups)],
    writes: tableNames(converting?.to ?? []),
  }
}
