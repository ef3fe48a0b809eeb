/** Requests that can only follow one another: their least possible time is not divided by the number that may be under way. */

import { rawTable } from '../../src/plugin-kit/raw/raw-table.ts'
import { pagingOf } from '../../src/plugin-kit/spec/collect.ts'
import type { Plugin, PluginSpec } from '../../src/plugin-kit/spec/plugin.ts'
import type { Subtask } from '../../src/plugin-kit/spec/subtask.ts'

/**
 * Tells whether the requests of a collector form a chain, according to the spec of its entity. It does if the entity has one
 * list, not one for each row of another table (`forEach`), and the paging of that list cannot tell from a page which other
 * pages there are (`ahead`). That holds for cursors, and for numbered pages without a total. SonarQube's issues have no total
 * on purpose, because the ids of code blocks depend on the order.
 */
export function isChain({ source }: Plugin, { step, writes }: Subtask): boolean {
  if (step !== 'collect') return false
  const { entities } = source as PluginSpec
  const spec = entities.find((each) => each.spec.raw && writes.includes(rawTable(each.spec.raw).name))?.spec.collect
  return spec !== undefined && !spec.forEach && pagingOf(spec, {}, {}).ahead === undefined
}

/** Seconds: requests of chains go one after the other, the rest `atOnce` at a time. */
export const leastPossible = (requests: number, chained: number, latency: number, atOnce: number): number =>
  ((chained + (requests - chained) / atOnce) * latency) / 1000
