import { hintOf, shortName } from '../../basics/nearest.ts'
import { UserError } from '../../errors.ts'
import type { Plugin } from '../../plugin-kit/spec/plugin.ts'
import type { DomainType, Subtask } from '../../plugin-kit/spec/subtask.ts'

/** Recognises collectors by their public name, as DevLake does. */
export const isCollectorName = (name: string): boolean => /collect/i.test(name)
/** A git clone reads from the source like a collector, but it runs even when collectors are skipped. */
export const countsAsCollector = (name: string): boolean => isCollectorName(name) || /clone git repo/i.test(name)

/** Returns the subtasks that a task runs, in the order of the plugin: the named ones, or those that run by default. */
export function selectSubtasks(
  plugin: Plugin,
  named: readonly string[] | null,
  { skipCollectors = false }: { skipCollectors?: boolean } = {},
): readonly Subtask[] {
  const unknown = (named ?? []).filter((name) => !plugin.subtasks.some((subtask) => subtask.name === name))
  if (unknown.length > 0) {
    const known = plugin.subtasks.map(({ name }) => name)
    const name = String(unknown[0])
    throw new UserError(`${plugin.name} has no subtask ${shortName(name)}${hintOf(name, known)}`)
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

/** Switches subtasks on or off by default, as an operator wishes: `jira:collectIssues:true`. */
export function withSubtaskDefaults(plugins: readonly Plugin[], wishes: readonly string[]): readonly Plugin[] {
  const byName = new Map(
    wishes.map((wish) => {
      const end = wish.lastIndexOf(':')
      return [wish.slice(0, end), wish.slice(end + 1) === 'true']
    }),
  )
  if (byName.size === 0) return plugins
  const known = new Set(plugins.flatMap(({ name, subtasks }) => subtasks.map((subtask) => `${name}:${subtask.name}`)))
  // Lists made for DevLake may name plugins that Weir does not have.
  const isHere = (name: string) => plugins.some((plugin) => name.startsWith(`${plugin.name}:`))
  const unknown = [...byName.keys()].find((name) => isHere(name) && !known.has(name))
  if (unknown) throw new UserError(`ENABLE_SUBTASKS_BY_DEFAULT names ${unknown}, but there is no such subtask.`)
  return plugins.map((plugin) => ({
    ...plugin,
    subtasks: plugin.subtasks.map((subtask) => ({
      ...subtask,
      isDefault: byName.get(`${plugin.name}:${subtask.name}`) ?? subtask.isDefault,
    })),
  }))
}
