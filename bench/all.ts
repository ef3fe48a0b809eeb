/**
 * Every benchmark, one after another, and one table. `--quick` runs each one small: all of them take at most fifteen
 * minutes on two quiet cores. `--only git,workers` runs some of them.
 */
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { benchmarksNamed } from './list.ts'
import { boundText, inSeconds, keeps, measured, tableText, titleOf } from './support/measured.ts'

export async function run(rest: string[]): Promise<void> {
  const { values } = parseArgs({
    args: rest,
    options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } },
  })
  const rows = [['benchmark', 'figure', 'ratio', 'bound', '', 'seconds', 'of processors']]
  let missed = 0
  const start = performance.now()
  for (const benchmark of benchmarksNamed(values.only)) {
    const title = titleOf(benchmark)
    console.error(`${title} …`)
    try {
      const { seconds, processorSeconds, ratios } = await measured(
        dirname(import.meta.dirname),
        benchmark,
        values.quick,
      )
      for (const [figure, { full, quick }] of Object.entries(benchmark.bounds)) {
        const bound = values.quick ? quick : full
        const ratio = ratios.get(figure)
        const isKept = ratio !== undefined && keeps(bound, ratio)
        if (!isKept) missed++
        rows.push([
          title,
          figure,
          ratio?.toFixed(2) ?? 'none',
          boundText(bound),
          isKept ? '' : 'MISSED',
          inSeconds(seconds),
          inSeconds(processorSeconds),
        ])
      }
    } catch (error) {
      missed++
      rows.push([title, '', '', '', 'FAILED'])
      console.error(error instanceof Error ? error.message : error)
    }
  }
  console.log(tableText(rows))
  const minutes = ((performance.now() - start) / 60_000).toFixed(1)
  console.log(`all: ${rows.length - 1} figures in ${minutes} minutes, ${missed} of them not within their bounds`)
  if (missed > 0) process.exitCode = 1
}
