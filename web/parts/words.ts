/** Numbers and times in the form in which people say them. */
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

export interface Quantity {
  readonly amount: string
  readonly unit: string
}

/** `3 d 4 h`, `42 min`: the two largest units, the second only if it matters. */
function durationParts(minutes: number): readonly Quantity[] {
  const whole = Math.round(minutes)
  // Rounded before the division: 1 d 23 h 40 min are two days, not `1 d 24 h`.
  const hours = Math.round(minutes / 60)
  if (minutes < 1) return [{ amount: String(Math.max(0, Math.round(minutes * 60))), unit: 's' }]
  if (whole < 60) return [{ amount: String(whole), unit: 'min' }]
  const [large, largeUnit, small, smallUnit] =
    whole < 24 * 60 ? [Math.floor(whole / 60), 'h', whole % 60, 'min'] : [Math.floor(hours / 24), 'd', hours % 24, 'h']
  const first = { amount: String(large), unit: String(largeUnit) }
  return small === 0 || Number(large) >= 30 ? [first] : [first, { amount: String(small), unit: String(smallUnit) }]
}

export const duration = (minutes: number): string =>
  durationParts(minutes)
    .map(({ amount, unit }) => `${amount} ${unit}`)
    .join(' ')

const counts = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
export const count = (value: number): string => counts.format(value)
export const plural = (one: string): string => (/[^aeiou]y$/.test(one) ? `${one.slice(0, -1)}ies` : `${one}s`)
export const counted = (value: number, one: string, many = plural(one)): string =>
  `${count(value)} ${value === 1 ? one : many}`

const dates = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })
const moments = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' })

/** Relative within a day, otherwise a date. */
export function when(moment: string | Date, now = Date.now()): string {
  const passed = now - new Date(moment).getTime()
  const ahead = passed < 0
  const distance = Math.abs(passed)
  if (distance >= DAY) return dates.format(new Date(moment))
  if (distance < MINUTE) return ahead ? 'in a moment' : 'just now'
  const words = distance < HOUR ? `${Math.round(distance / MINUTE)} min` : `${Math.round(distance / HOUR)} h`
  return ahead ? `in ${words}` : `${words} ago`
}

export const exactly = (moment: string | Date): string =>
  `${moments.format(new Date(moment))} (${new Date(moment).toISOString().slice(0, 16).replace('T', ' ')} UTC)`

/** The singular of a unit: `day per week`, `line`. */
export const oneOf = (units: string): string => units.replace(/^(\w+)s\b/, '$1')

/** The value of a metric, according to its unit. */
export function quantity(value: number, unit: string): readonly Quantity[] {
  if (unit === 'minutes') return durationParts(value)
  if (unit === 'share' || unit === 'ratio') return [{ amount: counts.format(value * 100), unit: '%' }]
  const amount = counts.format(value)
  return [{ amount, unit: (amount === '1' ? oneOf(unit) : unit).replace(' per ', ' / ') }]
}
