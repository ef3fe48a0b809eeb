/** Requests that can only follow one another: their least possible time is not divided by how many may be under way. */

import { rawTable } from '../../src/plugin-kit/raw/raw-table.ts'
import { pagingOf } from '../../src/plugin-kit/spec/collect.ts'
import type { Plugin, PluginSpec } from '../../src/plugin-kit/spec/plugin.ts'
import type { Subtask } from '../../src/plugin-kit/spec/subtask.ts'

/**
 * Whether the requests of a collector are a chain. Its entity's spec says so: it has one list and not one for each row of another
 * table (`forEach`), and the paging of that list cannot tell from a page which others there are (`ahead`). So it is with cursors,
 * and with numbered pages without a total: SonarQube's issues have none on purpose, since the ids of code blocks depend on the order.
 */
export function isChain({ source }: Plugin, { step, writes }: Subtask): boolean {
  if (step !== 'collect') return false
  const { entities } = source as PluginSpec
  const spec = entities.find((each) => each.spec.raw && writes.includes(rawTable(each.spec.raw).name))?.spec.collect
  return spec !== undefined && !spec.forEach && pagingOf(spec, {}, {}).ahead === undefined
}

/** In seconds: those of chains one after the other, the rest so many at a time. */
export const leastPossible = (requests: number, chained: number, latency: number, atOnce: number): number =>
  ((chained + (requests - chained) / atOnce) * latency) / 1000
