import { createHash } from 'node:crypto'
import { join, relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { keptSeconds } from './file-times.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Pages of one process share a server, which is stopped when it was unused for a while. */
const PAGES = 'tests/web/'

/**
 * Starts the longest files first, so that no worker is left alone with one at the end. A new file counts as long.
 * ORDER_SEED=n uses a random order instead, which shows whether files that share a process affect each other.
 *
 * Projects come one after the other: Vitest ends a process that could be shared as soon as the next file is of another
 * project, and a new one has to load the server again. Pages come together because of their server.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { ORDER_SEED: seed } = process.env
    const seconds = keptSeconds()
    const ranks = new Map(files.map((file) => [file, rankOf(file, seconds, seed)]))
    return files.toSorted((left, right) => compare(ranks.get(left)!, ranks.get(right)!))
  }
}

type Rank = readonly (string | number)[]

function rankOf(
  { moduleId, project }: TestSpecification,
  seconds: Readonly<Record<string, number>>,
  seed: string | undefined,
): Rank {
  const path = relative(ROOT, moduleId)
  if (seed) return [project.name, hashNumber(seed + path)]
  return [project.name, path.startsWith(PAGES) ? 0 : 1, -(seconds[path] ?? Number.POSITIVE_INFINITY)]
}

function compare(left: Rank, right: Rank): number {
  for (const [index, own] of left.entries()) {
    const other = right[index] as string | number
    // Two new files are equal: subtracting one Infinity from the other would give NaN.
    if (own !== other) return own < other ? -1 : 1
  }
  return 0
}

const hashNumber = (text: string): number => createHash('sha256').update(text).digest().readUInt32BE()
