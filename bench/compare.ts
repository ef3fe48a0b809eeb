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
import { BENCHMARKS, type Benchmark } from './list.ts'
import { type Measured, measured, tableText, titleOf } from './support/measured.ts'

const TIMES_SLOWER = 1.1
const TRIES = 3

interface Row {
  readonly name: string
  readonly isMoreBetter: boolean
  readonly valueOf: (measured: Measured) => number | undefined
}

const rowsOf = ({ bounds }: Benchmark): readonly Row[] => [
  { name: 'seconds', isMoreBetter: false, valueOf: ({ seconds }) => seconds },
  { name: 'seconds of processors', isMoreBetter: false, valueOf: ({ processorSeconds }) => processorSeconds },
  ...Object.entries(bounds).map(([figure, { quick }]) => ({
    name: `ratio of ${figure}`,
    isMoreBetter: quick.least !== undefined,
    valueOf: ({ ratios }: Measured) => ratios.get(figure),
  })),
]

/** The best of all tries: other work makes a figure worse, never better. Undefined if a commit does not know the figure. */
function best(row: Row, tries: readonly Measured[]): number | undefined {
  const values = tries.map(row.valueOf).filter((value) => value !== undefined)
  if (values.length === 0) return undefined
  return row.isMoreBetter ? Math.max(...values) : Math.min(...values)
}

/** 1.2: now takes 1.2 times as long as before. */
function slower(row: Row, before: readonly Measured[], now: readonly Measured[]): number | undefined {
  const [then, today] = [best(row, before), best(row, now)]
  if (!then || !today) return undefined
  return row.isMoreBetter ? then / today : today / then
}

export async function run(rest: string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: rest,
    options: { only: { type: 'string' } },
    allowPositionals: true,
  })
  const [revision] = positionals
  if (!revision) throw new UserError('name the commit to compare with: npm run bench -- compare main')
  const only = values.only?.split(',')
  const folder = copyOfRevision(revision)
  const table = [['benchmark', 'figure', revision, 'now', 'times as long', '']]
  let slow = 0
  try {
    for (const benchmark of BENCHMARKS.filter(({ name }) => only?.includes(name) ?? true)) {
      console.error(`${titleOf(benchmark)} …`)
      const before: Measured[] = []
      const now: Measured[] = []
      const rows = rowsOf(benchmark)
      const areSlow = () => rows.some((row) => (slower(row, before, now) ?? 0) > TIMES_SLOWER)
      do {
        before.push(await measured(folder, benchmark, true))
        now.push(await measured(dirname(import.meta.dirname), benchmark, true))
      } while (areSlow() && now.length < TRIES)
      for (const row of rows) {
        const times = slower(row, before, now)
        const isSlow = times !== undefined && times > TIMES_SLOWER
        if (isSlow) slow++
        const shown = (tries: readonly Measured[]) => best(row, tries)?.toFixed(2) ?? 'none'
        table.push([
          titleOf(benchmark),
          row.name,
          shown(before),
          shown(now),
          times?.toFixed(2) ?? '',
          isSlow ? 'SLOWER' : '',
        ])
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  console.log(tableText(table))
  console.log(`compare: ${slow} rows are slower by more than a tenth than ${revision}`)
  if (slow > 0) process.exitCode = 1
}
