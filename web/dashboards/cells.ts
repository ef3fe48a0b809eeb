/** Writes values according to the kind of their column. */
import { bytes, short } from '../parts/amounts.ts'
import { count, duration, exactly, oneOf, type Quantity, quantity, when } from '../parts/words.ts'

const days = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })
const months = new Intl.DateTimeFormat('en-GB', { month: 'short', year: 'numeric', timeZone: 'UTC' })

export const isNumeric = ({ kind }: { readonly kind: string }): boolean =>
  !['text', 'moment', 'day', 'address'].includes(kind)

/** Null if there is no number. */
export function numberOf(value: unknown): number | null {
  if (value === null || value === undefined || value === '') return null
  const number = Number(value)
  return Number.isFinite(number) ? number : null
}

export const dayText = (moment: string | number): string => days.format(new Date(moment))
export const monthText = (moment: string | number): string => months.format(new Date(moment))

/** The parts of a number in large letters: `3 d 4 h`, `11.8 %`. */
export function partsOf(value: number, kind: string): readonly Quantity[] {
  if (kind === 'seconds') return quantity(value / 60, 'minutes')
  if (kind === 'bytes') {
    const [amount = '', unit = ''] = bytes(value).split(' ')
    return [{ amount, unit }]
  }
  if (kind === 'count') {
    const [amount = '', unit = ''] = short(value).split(' ')
    return [{ amount, unit }]
  }
  return quantity(value, kind)
}

export function textOf(value: unknown, kind: string): string {
  if (value === null || value === undefined || value === '') return ''
  if (kind === 'moment') return when(String(value))
  if (kind === 'day') return dayText(String(value))
  const number = kind === 'text' || kind === 'address' ? null : numberOf(value)
  if (number === null) return String(value)
  return partsOf(number, kind)
    .map(({ amount, unit }) => (unit ? `${amount} ${unit}` : amount))
    .join(' ')
}

/** The exact value behind the short form, shown when the pointer rests on it. */
export function exactText(value: unknown, kind: string): string | undefined {
  if (value === null || value === undefined || value === '') return undefined
  if (kind === 'moment') return exactly(String(value))
  const number = numberOf(value)
  if (number === null || kind === 'text' || kind === 'day' || kind === 'address') return undefined
  if (kind === 'share') return `${count(number * 100)} %`
  const amount = number.toLocaleString('en')
  return kind === 'count' ? amount : `${amount} ${amount === '1' ? oneOf(kind) : kind}`
}

/** The size of a difference in words, without a sign. */
export function differenceText(size: number, kind: string): string {
  if (kind === 'share') return `${count(size * 100)} pts`
  if (kind === 'minutes') return duration(size)
  return textOf(size, kind)
}

type Level = 'good' | 'attention' | 'bad'
/** Compares with the limits of a panel, which lead from good to bad, or from bad to good if higher is better. */
export function levelOf(
  value: number,
  limits: readonly number[],
  better: 'higher' | 'lower' | null,
): Level | undefined {
  if (limits.length === 0) return undefined
  const passed = limits.filter((limit) => value >= limit).length
  const place = better === 'higher' ? limits.length - passed : passed
  return place === 0 ? 'good' : place === limits.length ? 'bad' : 'attention'
}
