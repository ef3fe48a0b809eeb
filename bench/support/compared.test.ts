import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { BENCHMARKS, benchmarksNamed } from '../list.ts'
import { best, isSlower, rowsOf, timesAsLong } from './compared.ts'
import { keeps, type Measured, tableText, titleOf } from './measured.ts'

const benchmark = {
  name: 'api',
  bounds: { api: { full: {}, quick: { most: 3 } }, 'api throughput': { full: {}, quick: { least: 0.3 } } },
}
const run = (seconds: number, ratio: number, throughput?: number): Measured => ({
  seconds,
  processorSeconds: seconds / 2,
  ratios: new Map([['api', ratio], ...(throughput === undefined ? [] : [['api throughput', throughput] as const])]),
})

it('the list names benchmarks that exist, each once', () => {
  for (const { name } of BENCHMARKS) expect(existsSync(join(import.meta.dirname, `../${name}.ts`)), name).toBe(true)
  expect(new Set(BENCHMARKS.map(titleOf)).size).toBe(BENCHMARKS.length)
  expect(benchmarksNamed('git,workers').map(({ name }) => name)).toEqual(['git', 'workers'])
  expect(() => benchmarksNamed('gti')).toThrow(/There is no benchmark gti; did you mean git/)
})

it('a row is slower if the best of its tries is worse by more than a tenth', () => {
  const [before, now] = [[run(10, 2, 0.5)], [run(12, 2.5, 0.44), run(10.5, 2.1, 0.48)]]
  const times = (tries: readonly Measured[]) => rowsOf(benchmark).map((row) => timesAsLong(row, before, tries))
  expect(times(now).map(isSlower)).toEqual([false, false, false, false])
  expect(times(now.slice(0, 1)).map(isSlower)).toEqual([true, true, true, true])
  expect(rowsOf(benchmark).map((row) => best(row, now))).toEqual([10.5, 5.25, 2.1, 0.48])
})

it('a figure that a commit does not know is compared with nothing', () => {
  const [, , , throughput] = rowsOf(benchmark)
  const times = timesAsLong(throughput as never, [run(10, 2)], [run(10, 2, 0.5)])
  expect([times, isSlower(times)]).toEqual([undefined, false])
})

it('bounds include their ends, and columns stand below one another', () => {
  expect([2.9, 3, 3.1].map((ratio) => keeps({ most: 3 }, ratio))).toEqual([true, true, false])
  expect([0.2, 0.3].map((ratio) => keeps({ least: 0.3 }, ratio))).toEqual([false, true])
  expect(
    tableText([
      ['name', 'ratio'],
      ['a', '1'],
      ['long name', '10.25'],
    ]),
  ).toBe(['name       ratio', 'a              1', 'long name  10.25'].join('\n'))
})
