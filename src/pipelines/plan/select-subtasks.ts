import { UserError } from '../../errors.ts'
import type { DomainType } from '../../plugin-kit/entity.ts'
import type { Plugin, Subtask } from '../../plugin-kit/subtask.ts'

/** By its public name, as the reference does it. */
export const isCollectorName = (name: string): boolean => /collect/i.test(name)
/** A clone asks the source as collectors do, but runs even when collectors are skipped. */
export const countsAsCollector = (name: string): boolean => isCollectorName(name) || /clone git repo/i.test(name)

/** What a task runs, in the plugin's own order: the named subtasks, or those that run by default. */
export function selectSubtasks(
  plugin: Plugin,
  named: readonly string[] | null,
  { skipCollectors = false }: { skipCollectors?: boolean } = {},
): readonly Subtask[] {
  const unknown = (named ?? []).filter((name) => !plugin.subtasks.some((subtask) => subtask.name === name))
  if (unknown.length > 0) {
    const known = plugin.subtasks.map(({ name }) => name).join(', ')
    throw new UserError(`${plugin.name} has no subtask ${unknown.join(', ')}. It has: ${known}.`)
  }
  const wanted = named?.length
    ? plugin.subtasks.filter(({ name }) => named.includes(name))
    : plugin.subtasks.filter(({ isDefault }) => isDefault)
  return skipCollectors ? wanted.filter(({ name }) => !isCollectorName(name)) : wanted
}

/** Names of the subtasks that a scope with these entities needs. */
export const subtasksFor = ({ subtasks }: Plugin, entities: ReadonlySet<DomainType>): string[] =>
  subtasks
    .filter(
      ({ isDefault, domainTypes }) =>
        isDefault && (!domainTypes.length || domainTypes.some((each) => entities.has(each))),
    )
    .map(({ name }) => name)
