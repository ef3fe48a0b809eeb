const TIME =
  /^(\d{4})-(\d{1,2})-(\d{1,2})(?:[T ](\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?)?\s*(Z|[+-]\d{2}:?\d{2}(?: [A-Z]{3,4})?)?$/i

/** In hours. No time zone in the world is, or was, further from UTC. */
const FURTHEST_ZONE = 15

/** Parses ISO 8601 and its common variants. Without an offset the time is in UTC. Undefined when the text is not a date. */
export function parseTime(text: string): Date | undefined {
  // Nearly every API sends this form. JavaScript's own parser is the fastest, but it accepts far too much else as a date.
  if (text.length === 20 && text.charCodeAt(19) === 90 && text.charCodeAt(10) === 84) {
    const moment = new Date(text)
    if (Number.isNaN(moment.getTime())) return undefined
    // The parser reads 30 February as a day in March, so the day is compared.
    if (moment.getUTCDate() === Number(text.slice(8, 10))) return moment
  }
  const parts = TIME.exec(text.trim())
  if (!parts) return undefined
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone = 'Z'] = parts
  const start = new Date(0)
  start.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  const isDay = start.getUTCMonth() === Number(month) - 1 && start.getUTCDate() === Number(day)
  if (!isDay || Number(hour) > 24 || Number(minute) > 59 || Number(second) > 60) return undefined
  // Both databases round finer values to milliseconds.
  const milliseconds = Math.round(Number(`0.${fraction || 0}`) * 1000)
  const moment = start.getTime() + ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000 + milliseconds
  if (/^z$/i.test(zone)) return new Date(moment)
  const sign = zone[0] === '-' ? -1 : 1
  const digits = zone.slice(1).replace(':', '')
  const [hours, minutes] = [Number(digits.slice(0, 2)), Number(digits.slice(2, 4))]
  if (hours > FURTHEST_ZONE || minutes > 59) return undefined
  const offset = sign * (hours * 60 + minutes)
  return new Date(moment - offset * 60_000)
}

const DAY = 24 * 60 * 60 * 1000
const ONLY_A_DAY = /^\s*\d{4}-\d{1,2}-\d{1,2}\s*$/

/** Parses the end of a range. A day without a time includes the whole day. */
export function parseEnd(text: string): Date | undefined {
  const moment = parseTime(text)
  return moment && ONLY_A_DAY.test(text) ? new Date(moment.getTime() + DAY - 1) : moment
}
