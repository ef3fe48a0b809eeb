/** Plans in files contain the names of connections, because their ids differ between servers. */

import { hintOf } from '../basics/nearest.ts'
import type { Services } from '../control-plane/services.ts'
import { allConnected, type Connected } from '../control-plane/sources.ts'
import { UserError } from '../errors.ts'
import { rawName } from '../plugin-kit/raw/raw-table.ts'
import type { Plan, PlanTask } from '../plugin-kit/spec/plan.ts'
import type { Plugin } from '../plugin-kit/spec/plugin.ts'
import { ownerNameOf, rawsOfFamily } from '../plugin-kit/task/family.ts'

type Options = PlanTask['options']

export interface ConnectionNames {
  readonly plugins: readonly Plugin[]
  /** `plugin/name` → id. */
  readonly ids: ReadonlyMap<string, number>
  /** `plugin id` → `plugin/name`. */
  readonly references: ReadonlyMap<string, string>
}

export async function connectionNames(plugins: readonly Plugin[], services: Services): Promise<ConnectionNames> {
  const ids = new Map<string, number>()
  const references = new Map<string, string>()
  for (const { name: plugin } of allConnected(plugins)) {
    for (const { id, name } of await services.connections.list(plugin)) {
      ids.set(`${plugin}/${name}`, id)
      references.set(`${plugin} ${id}`, `${plugin}/${name}`)
    }
  }
  return { plugins, ids, references }
}

/** Replaces ids by names. An id without a connection stays as it is. */
export const planForFile = (plan: Plan, { plugins, references }: ConnectionNames): Plan =>
  mapped(plan, plugins, {
    option: (plugin, id) => references.get(`${plugin} ${id}`),
    mark: (plugin, text) => {
      const reference = /^\d+$/.test(text) ? references.get(`${plugin} ${text}`) : undefined
      return reference && JSON.stringify(reference)
    },
  })

/** Replaces names by ids. A name without a connection is refused. */
export const planFromFile = (plan: Plan, { plugins, ids }: ConnectionNames): Plan => {
  const idOf = (reference: string) => {
    const id = ids.get(reference)
    if (id === undefined) throw new UserError(`There is no connection ${reference}${hintOf(reference, ids.keys())}`)
    return id
  }
  return mapped(plan, plugins, {
    option: (_plugin, reference) =>
      typeof reference === 'string' && reference.includes('/') ? idOf(reference) : undefined,
    mark: (_plugin, text) => (text.startsWith('"') ? String(idOf(JSON.parse(text))) : undefined),
  })
}

/** Returns the replacement for an id or name, or undefined if it stays as it is. */
interface Swap {
  readonly option: (plugin: string, value: unknown) => unknown
  readonly mark: (plugin: string, text: string) => string | undefined
}

const mapped = (plan: Plan, plugins: readonly Plugin[], swap: Swap): Plan =>
  plan.map((stage) =>
    stage.map((task) => {
      const options = withMarks(withOption(task, plugins, swap), rawOwners(plugins), swap)
      return { ...task, options: options as Options }
    }),
  )

function withOption({ plugin: name, options }: PlanTask, plugins: readonly Plugin[], { option }: Swap): Options {
  const plugin = plugins.find((each) => each.name === name)
  const swapped = plugin?.source && option(ownerNameOf(plugin), options.connectionId)
  return swapped === undefined ? options : { ...options, connectionId: swapped as number }
}

/** The plugin of the connections through which the records of each raw table came. */
function rawOwners(plugins: readonly Plugin[]): ReadonlyMap<string, string> {
  const rawsOf = ({ source, pushSource }: Connected) =>
    source
      ? rawsOfFamily(source)
      : (pushSource?.entities ?? []).flatMap(({ spec }) => (spec.raw ? [rawName(spec.raw)] : []))
  return new Map(allConnected(plugins).flatMap((owner) => rawsOf(owner).map((raw) => [raw, owner.name])))
}

/** Rules that fill fields from raw records name the connection of the records, as in `{"ConnectionId":1,…`, anywhere in the options. */
const CONNECTION = /("[cC]onnectionId"\s*:\s*)(\d+|"(?:[^"\\]|\\.)*")/

function withMarks(value: unknown, owners: ReadonlyMap<string, string>, swap: Swap): unknown {
  if (Array.isArray(value)) return value.map((each) => withMarks(each, owners, swap))
  if (value === null || typeof value !== 'object') return value
  const { rawDataTable, rawDataParams } = value as { rawDataTable?: unknown; rawDataParams?: unknown }
  const plugin = typeof rawDataTable === 'string' ? owners.get(rawDataTable) : undefined
  const entries = Object.entries(value).map(([name, each]) => [name, withMarks(each, owners, swap)])
  if (plugin === undefined || typeof rawDataParams !== 'string') return Object.fromEntries(entries)
  const params = rawDataParams.replace(
    CONNECTION,
    (all, name: string, text: string) => `${name}${swap.mark(plugin, text) ?? all.slice(name.length)}`,
  )
  return { ...Object.fromEntries(entries), rawDataParams: params }
}
