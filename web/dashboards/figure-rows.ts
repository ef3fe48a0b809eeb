/** Texts for panels that show one number: words that replace it, and its change since the period before. */
import { differenceText, numberOf, textOf } from './cells.ts'

interface Figures {
  readonly columns: readonly { readonly name: string; readonly kind: string }[]
  readonly rows: readonly (readonly unknown[])[]
}

const cellOf = ({ columns, rows }: Figures, column: string): unknown =>
  rows[0]?.[columns.findIndex(({ name }) => name === column)]

/** Words for places where 0 could mislead: a median of 0 days would say that there were none, a rate of 0 that nothing failed. */
export function wordsOf(figures: Figures): string | undefined {
  const words = numberOf(figures.rows[0]?.[0]) === 0 ? cellOf(figures, 'words') : undefined
  return typeof words === 'string' ? words : undefined
}

/** True for words without a number at the beginning: then the rate is unknown. */
const isUnknown = (words: string | undefined) => words !== undefined && !/^\d/.test(words)

export interface FigureChange {
  readonly words: string
  readonly isGood: boolean | null
  /** The value of the period before. */
  readonly before: string
}

/** Undefined if one of the two values is unknown. */
export function changeOf(
  { better }: { readonly better: 'higher' | 'lower' | null },
  figures: Figures,
  earlier: Figures | undefined,
): FigureChange | undefined {
  const kind = figures.columns[0]?.kind ?? 'count'
  const [value, past] = [numberOf(figures.rows[0]?.[0]), earlier ? numberOf(earlier.rows[0]?.[0]) : null]
  if (!earlier || value === null || past === null) return undefined
  const [words, wordsBefore] = [wordsOf(figures), wordsOf(earlier)]
  if (kind === 'share' && [words, wordsBefore].some(isUnknown)) return undefined
  const before = wordsBefore ?? textOf(past, kind)
  // Both values are shown as counts. Comparing their medians, which are both 0, would say nothing about them.
  const isByCount = kind !== 'share' && words !== undefined && wordsBefore !== undefined
  const countOf = (some: Figures) => numberOf(cellOf(some, 'counted')) ?? 0
  const difference = isByCount ? countOf(figures) - countOf(earlier) : value - past
  const isSame = difference === 0 || (!isByCount && Math.abs(difference) < Math.abs(past) * 0.01)
  if (isSame) return { words: 'no change', isGood: null, before }
  const size = differenceText(Math.abs(difference), isByCount ? 'count' : kind)
  const isGood = better === null ? null : difference < 0 === (better === 'lower')
  return { words: `${difference < 0 ? '↓' : '↑'} ${size}`, isGood, before }
}
