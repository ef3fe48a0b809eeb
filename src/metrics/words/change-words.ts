/** The change of a number since the period before. */
import { counted } from '../../basics/counted.ts'
import type { Metric } from '../metric.ts'
import type { MetricValue } from '../read/read.ts'
import { isSaidInCounts, valueInWords } from './value-words.ts'

interface ValueChange {
  /** Null if one of the two numbers is unknown, so that they cannot be compared. */
  readonly difference: number | null
  /** Also `same` when the numbers cannot be compared. */
  readonly direction: 'better' | 'worse' | 'same'
  /** Such as `4 h less, better`. */
  readonly words: string
}

type Compared = Pick<MetricValue, 'value' | 'counted'>

export function changeOf({ unit, better }: Metric, past: Compared, present: Compared): ValueChange {
  const [before, now] = [past.value, present.value]
  if (before === null || now === null) {
    const words = now === null ? '' : 'nothing to compare with'
    return { difference: null, direction: 'same', words }
  }
  // Both values are shown as numbers of deployments. Comparing the two medians, which are 0, would say nothing about those.
  if (isSaidInCounts(unit, before) && isSaidInCounts(unit, now)) {
    const more = present.counted - past.counted
    return { difference: now - before, ...comparison(more, better, counted(Math.abs(more), 'deployment')) }
  }
  const difference = now - before
  const size = unit === 'share' ? counted(Number((Math.abs(difference) * 100).toFixed(1)), 'point') : ''
  const amount = size || valueInWords(unit, Math.abs(difference))
  return { difference, ...comparison(difference, better, amount) }
}

function comparison(
  difference: number,
  better: Metric['better'],
  amount: string,
): Pick<ValueChange, 'direction' | 'words'> {
  if (difference === 0) return { direction: 'same', words: 'as before' }
  const direction = difference > 0 === (better === 'higher') ? 'better' : 'worse'
  return { direction, words: `${amount} ${difference > 0 ? 'more' : 'less'}, ${direction}` }
}
