/** Every benchmark, how `bench all --quick` runs it small, and how good each figure has to be. `bench NAME` runs a file of this folder. */

import { unknownName } from '../src/basics/nearest.ts'

export interface Bound {
  readonly most?: number
  readonly least?: number
}

export interface Benchmark {
  readonly name: string
  /** Its arguments, and what follows in a quick run. */
  readonly with?: readonly string[]
  readonly quick?: readonly string[]
  /**
   * For each figure that it prints, by the text before the colon. Small runs are mostly beginnings and ends, so they have bounds
   * of their own: far enough from what was measured that only a real change passes them.
   */
  readonly bounds: Readonly<Record<string, { readonly full: Bound; readonly quick: Bound }>>
}

const most = (full: number, quick: number) => ({ full: { most: full }, quick: { most: quick } })
const least = (full: number, quick: number) => ({ full: { least: full }, quick: { least: quick } })

export const BENCHMARKS: readonly Benchmark[] = [
  {
    name: 'extract-convert',
    quick: ['--rows', '20000'],
    bounds: { 'extract-convert postgres': most(2, 3), 'extract-convert mariadb': most(2.5, 3.5) },
  },
  { name: 'collect', quick: ['--pulls', '300'], bounds: { collect: most(1.2, 1.8) } },
  {
    name: 'collect',
    with: ['--source', 'jenkins'],
    quick: ['--builds', '2000'],
    bounds: { collect: most(1.3, 2) },
  },
  {
    name: 'collect',
    with: ['--source', 'bitbucket'],
    quick: ['--records', '60'],
    bounds: { collect: most(1.3, 2) },
  },
  { name: 'git', quick: ['--commits', '10000', '--rounds', '1'], bounds: { git: most(2, 6) } },
  { name: 'four-keys', quick: ['--projects', '4'], bounds: { 'four-keys': most(5, 8) } },
  { name: 'api', bounds: { 'api throughput': least(0.3, 0.3), api: most(3, 5) } },
  {
    name: 'scale',
    quick: ['--projects', '200', '--scopes', '1000', '--tasks', '200'],
    bounds: { 'scale, runs': most(2, 2), scale: most(5, 5) },
  },
  {
    name: 'dashboards',
    quick: ['--projects', '60'],
    bounds: { dashboards: most(3, 4), 'dashboards, on the screen': most(20, 40) },
  },
  { name: 'workers', quick: ['--boards', '24'], bounds: { workers: least(0.85, 0.6) } },
  { name: 'web', quick: ['--minutes', '0.5'], bounds: { web: most(10, 30) } },
]

/** All of them, or those of a list such as `git,workers`. */
export function benchmarksNamed(only: string | undefined): readonly Benchmark[] {
  if (only === undefined) return BENCHMARKS
  const names = new Set(BENCHMARKS.map(({ name }) => name))
  const wanted = only.split(',')
  for (const name of wanted) if (!names.has(name)) throw unknownName('benchmark', name, names)
  return BENCHMARKS.filter(({ name }) => wanted.includes(name))
}
