/** Two commits side by side: which figures there are, and which are slower. */
import type { Benchmark } from '../list.ts'
import type { Measured } from './measured.ts'

const TIMES_SLOWER = 1.1

interface Row {
  readonly name: string
  readonly isMoreBetter: boolean
  readonly valueOf: (measured: Measured) => number | undefined
}

export const rowsOf = ({ bounds }: Benchmark): readonly Row[] => [
  { name: 'seconds', isMoreBetter: false, valueOf: ({ seconds }) => seconds },
  { name: 'seconds of processors', isMoreBetter: false, valueOf: ({ processorSeconds }) => processorSeconds },
  ...Object.entries(bounds).map(([figure, { quick }]) => ({
    name: `ratio of ${figure}`,
    isMoreBetter: quick.least !== undefined,
    valueOf: ({ ratios }: Measured) => ratios.get(figure),
  })),
]

/** The best of all tries: other work makes a figure worse, never better. Undefined if a commit does not know the figure. */
export function best(row: Row, tries: readonly Measured[]): number | undefined {
  const values = tries.map(row.valueOf).filter((value) => value !== undefined)
  if (values.length === 0) return undefined
  return row.isMoreBetter ? Math.max(...values) : Math.min(...values)
}

/** 1.2: now takes 1.2 times as long as before. */
export function timesAsLong(row: Row, before: readonly Measured[], now: readonly Measured[]): number | undefined {
  const [then, today] = [best(row, before), best(row, now)]
  if (!then || !today) return undefined
  return row.isMoreBetter ? then / today : today / then
}

export const isSlower = (times: number | undefined): boolean => times !== undefined && times > TIMES_SLOWER
