import { createHash } from 'node:crypto'
import { join, relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { keptSeconds } from './file-times.ts'

const ROOT = join(import.meta.dirname, '../..')
/**
 * Starts the longest files first, so that no worker is left alone with one at the end. A new file counts as long.
 * ORDER_SEED=n uses a random order instead, which shows whether files that share a process affect each other.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { ORDER_SEED: seed } = process.env
    const pathOf = ({ moduleId }: TestSpecification) => relative(ROOT, moduleId)
    if (seed) return sortedBy(files, (file) => hashNumber(seed + pathOf(file)))
    const seconds = keptSeconds()
    return sortedBy(files, (file) => -(seconds[pathOf(file)] ?? Number.POSITIVE_INFINITY))
  }
}

const sortedBy = <Item>(items: readonly Item[], rank: (item: Item) => number): Item[] => {
  const ranks = new Map(items.map((item) => [item, rank(item)]))
  // Two new files compare as equal: subtracting one Infinity from the other would give NaN.
  return items.toSorted((left, right) =>
    ranks.get(left)! < ranks.get(right)! ? -1 : Number(ranks.get(left)! > ranks.get(right)!),
  )
}

const hashNumber = (text: string): number => createHash('sha256').update(text).digest().readUInt32BE()
