/** Writes the values of metrics for people. */
import type { Unit } from '../metric.ts'

const HOUR = 60
const DAY = 24 * HOUR
/** The singular of units that are words. */
const ONE_OF = { 'days per week': 'day per week', lines: 'line', comments: 'comment' } as const
const rounded = (value: number, digits: number) => String(Number(value.toFixed(digits)))

/** Writes the two largest parts that are not zero: `3 d 4 h`, `4 h 10 min`, `12 min`. */
export function minutesInWords(minutes: number): string {
  const sign = minutes < 0 ? '−' : ''
  const size = Math.abs(minutes)
  if (size < 1) return `${sign}${Math.round(size * 60)} s`
  const whole = Math.round(size)
  const parts =
    whole < DAY
      ? [`${Math.floor(whole / HOUR)} h`, `${whole % HOUR} min`]
      : [`${Math.floor(Math.round(size / HOUR) / 24)} d`, `${Math.round(size / HOUR) % 24} h`]
  const words = parts.filter((part) => !part.startsWith('0 '))
  return sign + (words.length > 0 ? words.join(' ') : '0 min')
}

/** `3 d 4 h`, `12.5 %`, `2 days per week`, `120 lines`, `7`. */
export function valueInWords(unit: Unit, value: number | null): string {
  if (value === null) return 'no value'
  if (unit === 'minutes') return minutesInWords(value)
  if (unit === 'seconds') return value < 60 ? `${rounded(value, 1)} s` : minutesInWords(value / 60)
  if (unit === 'share') return `${rounded(value * 100, 1)} %`
  const amount = rounded(value, 2)
  if (unit === 'count') return amount
  // The singular depends on the rounded text: 1.001 is written as 1.
  return `${amount} ${amount === '1' ? ONE_OF[unit] : unit}`
}

/** If the median week has no deployment, the number alone would say that there were none. Then text says how many there were. */
export const isSaidInCounts = (unit: Unit, value: number | null): boolean => unit === 'days per week' && value === 0
