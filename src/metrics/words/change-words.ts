/** The change of a number since the period before. */
import { counted } from '../../basics/counted.ts'
import type { Metric, Unit } from '../metric.ts'
import type { MetricValue } from '../read/read.ts'
import { isSaidInCounts, valueInWords } from './value-words.ts'

interface ValueChange {
  /** Null if one of the two numbers is unknown, so that they cannot be compared. */
  readonly difference: number | null
  /** Also `same` when the numbers cannot be compared. */
  readonly direction: 'better' | 'worse' | 'same'
  /** Such as `4 h less`. */
  readonly inWords: string
  /** Such as `4 h less, better`. */
  readonly words: string
}

type Compared = Pick<MetricValue, 'value' | 'counted'>

export function changeOf({ unit, better }: Metric, past: Compared, present: Compared): ValueChange {
  const [before, now] = [past.value, present.value]
  if (before === null || now === null) {
    const words = now === null ? '' : 'nothing to compare with'
    return { difference: null, direction: 'same', inWords: words, words }
  }
  // Both values are shown as numbers of deployments. Comparing the two medians, which are 0, would say nothing about those.
  if (isSaidInCounts(unit, before) && isSaidInCounts(unit, now)) {
    const more = present.counted - past.counted
    return { difference: now - before, ...comparison(more, better, counted(Math.abs(more), 'deployment')) }
  }
  const difference = now - before
  return { difference, ...comparison(difference, better, amountInWords(unit, Math.abs(difference))) }
}

/** The smallest amounts that are written with the digits of a unit. */
const SMALLEST: Readonly<Partial<Record<Unit, string>>> = { minutes: '1 s', seconds: '0.1 s', share: '0.1 points' }

/** Writes the size of a difference: `4 h`, `6 points`, `1 day per week`. */
export function amountInWords(unit: Unit, amount: number): string {
  const words = unit === 'share' ? counted(Number((amount * 100).toFixed(1)), 'point') : valueInWords(unit, amount)
  return amount > 0 && /^0 /.test(`${words} `) ? `less than ${SMALLEST[unit] ?? words.replace('0', '0.01')}` : words
}

function comparison(difference: number, better: Metric['better'], amount: string): Omit<ValueChange, 'difference'> {
  if (difference === 0) return { direction: 'same', inWords: 'as before', words: 'as before' }
  const direction = difference > 0 === (better === 'higher') ? 'better' : 'worse'
  const inWords = `${amount} ${difference > 0 ? 'more' : 'less'}`
  return { direction, inWords, words: `${inWords}, ${direction}` }
}
