/** What became of a number since the period before. */
import { counted } from '../counted.ts'
import type { Metric } from './metric.ts'
import { valueInWords } from './value-words.ts'

export interface ValueChange {
  /** Null: one of the two is not known, so that nothing can be said. */
  readonly difference: number | null
  /** `same` also when nothing can be said. */
  readonly direction: 'better' | 'worse' | 'same'
  /** Such as `4 h less, better`. */
  readonly words: string
}

export function changeOf({ unit, better }: Metric, before: number | null, now: number | null): ValueChange {
  if (before === null || now === null) {
    const words = now === null ? '' : 'nothing to compare with'
    return { difference: null, direction: 'same', words }
  }
  const difference = now - before
  const size = unit === 'share' ? counted(Number((Math.abs(difference) * 100).toFixed(1)), 'point') : ''
  const amount = size || valueInWords(unit, Math.abs(difference))
  if (difference === 0) return { difference, direction: 'same', words: 'as before' }
  const direction = difference > 0 === (better === 'higher') ? 'better' : 'worse'
  return { difference, direction, words: `${amount} ${difference > 0 ? 'more' : 'less'}, ${direction}` }
}
