/** The change of a key since the period before. */
import { count, counted, duration } from '../parts/words.ts'

/** If the median week has no deployment, a number would say that there were none. Words say how many there were. */
export const isSaidInWords = (value: number | null, unit: string): boolean => unit === 'days per week' && value === 0

interface Change {
  readonly words: string
  readonly isGood: boolean
}

interface Compared {
  readonly value: number | null
  readonly counted: number
  readonly unit: string
  readonly better: 'higher' | 'lower'
}

/** Compares with the period before; undefined if the value is about the same. */
export function changeOf(
  { value, unit, better, counted: items }: Compared,
  past: { readonly value: number; readonly counted: number },
): Change | undefined {
  if (value === null) return undefined
  const before = past.value
  // Both are given in deployments. Comparing their medians, which are both 0, would say nothing about them.
  if (isSaidInWords(value, unit) && isSaidInWords(before, unit)) {
    const more = items - past.counted
    if (more === 0) return undefined
    return { words: `${more < 0 ? '↓' : '↑'} ${counted(Math.abs(more), 'deployment')}`, isGood: more > 0 }
  }
  const difference = value - before
  if (difference === 0 || Math.abs(difference) < Math.abs(before) * 0.01) return undefined
  const size = Math.abs(difference)
  const words = unit === 'minutes' ? duration(size) : unit === 'share' ? `${count(size * 100)} pts` : count(size)
  return { words: `${difference < 0 ? '↓' : '↑'} ${words}`, isGood: difference < 0 === (better === 'lower') }
}
