import { createHash } from 'node:crypto'
import { join, relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { keptSeconds } from './file-times.ts'

const ROOT = join(import.meta.dirname, '../..')
/**
 * The longest file begins first, so that no worker is left alone with it at the end. A new file counts as a long one.
 * ORDER_SEED=n takes an order of chance instead, which shows whether files that share a process see each other.
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
  // Two new files are equal: their difference would not be a number.
  return items.toSorted((left, right) =>
    ranks.get(left)! < ranks.get(right)! ? -1 : Number(ranks.get(left)! > ranks.get(right)!),
  )
}

const hashNumber = (text: string): number => createHash('sha256').update(text).digest().readUInt32BE()
