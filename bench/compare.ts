/**
 * The quick benchmarks on another commit and on the files as they are now, in turns: the clock, the time of processors, and the
 * ratio of each figure to its floor. A row that is slower by more than a tenth is measured again before it counts, because
 * other work can slow one run.
 *
 *   npm run bench -- compare main
 *   npm run bench -- compare v0.1.0 --only git,workers
 */
import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { copyOfRevision } from '../scripts/copy-of-revision.ts'
import { UserError } from '../src/errors.ts'
import { benchmarksNamed } from './list.ts'
import { best, isSlower, rowsOf, timesAsLong } from './support/compared.ts'
import { type Measured, measured, tableText, titleOf } from './support/measured.ts'

const TRIES = 3

export async function run(rest: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: rest,
    options: { only: { type: 'string' } },
    allowPositionals: true,
  })
  const [revision] = positionals
  if (!revision) throw new UserError('name the commit to compare with: npm run bench -- compare main')
  const benchmarks = benchmarksNamed(values.only)
  const folder = copyOfRevision(revision)
  const table = [['benchmark', 'figure', revision, 'now', 'times as long', '']]
  let slow = 0
  try {
    for (const benchmark of benchmarks) {
      const title = titleOf(benchmark)
      console.error(`${title} …`)
      const before: Measured[] = []
      const now: Measured[] = []
      const rows = rowsOf(benchmark)
      const areSlow = () => rows.some((row) => isSlower(timesAsLong(row, before, now)))
      try {
        do {
          before.push(await measured(folder, benchmark, true))
          now.push(await measured(dirname(import.meta.dirname), benchmark, true))
        } while (areSlow() && now.length < TRIES)
      } catch (error) {
        // A commit may lack a benchmark, or be unable to run it. The others can still be compared.
        slow++
        table.push([title, '', '', '', '', 'FAILED'])
        console.error(error instanceof Error ? error.message : error)
        continue
      }
      for (const row of rows) {
        const times = timesAsLong(row, before, now)
        if (isSlower(times)) slow++
        const shown = (tries: readonly Measured[]) => best(row, tries)?.toFixed(2) ?? 'none'
        table.push([
          title,
          row.name,
          shown(before),
          shown(now),
          times?.toFixed(2) ?? '',
          isSlower(times) ? 'SLOWER' : '',
        ])
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  console.log(tableText(table))
  console.log(`compare: ${slow} rows are slower than ${revision} by more than a tenth, or failed`)
  if (slow > 0) process.exitCode = 1
}
