/** Reads time ranges as Grafana writes them: `now-6M`, `now/w`, `now-1Q/Q`, a moment, or its milliseconds. */
import { parseEnd, parseTime } from '../database/time.ts'
import { UserError } from '../errors.ts'

export interface Range {
  readonly from: Date
  readonly to: Date
}
interface RangeText {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

const RELATIVE = /^now((?:[+-]\d{1,5}(?:s|m|h|d|w|M|f?Q|y))*)(?:\/(s|m|h|d|w|M|f?Q|y))?$/
const OFFSET = /([+-]\d{1,5})(s|m|h|d|w|M|f?Q|y)/g
const MILLISECONDS = /^-?\d{1,15}$/

const SECOND = 1000
const DAY = 86_400 * SECOND
const LENGTHS = new Map([
  ['s', SECOND],
  ['m', 60 * SECOND],
  ['h', 3600 * SECOND],
  ['d', DAY],
  ['w', 7 * DAY],
])
const MONTHS = new Map([
  ['M', 1],
  ['Q', 3],
  ['fQ', 3],
  ['y', 12],
])

const HOW = 'Write a moment such as 2026-01-31T12:00:00Z, or one that moves along, such as now-30d, now-6M or now/M.'

/** Returns a range, by default the six months up to now. Both ends belong to the range. */
export function rangeOfText({ from = 'now-6M', to = 'now' }: RangeText, now = new Date()): Range {
  const range = { from: momentOf(from, now, 'from'), to: momentOf(to, now, 'to') }
  if (range.from <= range.to) return range
  throw new UserError(`The time range runs backwards: it begins at ${from} and ends at ${to}. Swap the two.`)
}

function momentOf(text: string, now: Date, end: 'from' | 'to'): Date {
  const relative = RELATIVE.exec(text)
  const moment = relative ? relativeMoment(relative, now, end) : absoluteMoment(text, end)
  // Databases do not accept years of more than four digits.
  if (moment && moment >= new Date(0) && moment < new Date('9999-01-01')) return moment
  throw new UserError(`${end} is not a valid time: ${text}. ${HOW}`)
}

function absoluteMoment(text: string, end: 'from' | 'to'): Date | undefined {
  if (MILLISECONDS.test(text)) return new Date(Number(text))
  return end === 'from' ? parseTime(text) : parseEnd(text)
}

function relativeMoment([, offsets = '', unit]: RegExpExecArray, now: Date, end: 'from' | 'to'): Date {
  let moment = now
  for (const [, amount, each] of offsets.matchAll(OFFSET)) moment = moved(moment, Number(amount), each as string)
  if (!unit) return moment
  const start = startOf(unit, moment)
  // The last moment of the unit, as in Grafana.
  return end === 'from' ? start : new Date(Number(moved(start, 1, unit)) - 1)
}

function moved(moment: Date, amount: number, unit: string): Date {
  const length = LENGTHS.get(unit)
  return length === undefined
    ? monthsLater(moment, amount * (MONTHS.get(unit) ?? 1))
    : new Date(Number(moment) + amount * length)
}

/** Returns the same day of another month, or the last day of a shorter month. */
function monthsLater(moment: Date, months: number): Date {
  const later = new Date(moment)
  later.setUTCMonth(moment.getUTCMonth() + months)
  if (later.getUTCDate() !== moment.getUTCDate()) later.setUTCDate(0)
  return later
}

function startOf(unit: string, moment: Date): Date {
  const [year, month] = [moment.getUTCFullYear(), moment.getUTCMonth()]
  const months = MONTHS.get(unit)
  if (months) return new Date(Date.UTC(year, Math.floor(month / months) * months))
  // Weeks begin on Monday, and day 0 of the epoch was a Thursday.
  const shift = unit === 'w' ? 3 * DAY : 0
  const length = LENGTHS.get(unit) ?? DAY
  return new Date(Math.floor((Number(moment) + shift) / length) * length - shift)
}

/** Returns the range of the same length just before. For whole months these are the months before, whatever their length. */
export function rangeBefore({ from, to }: Range): Range {
  // Some ranges end with the last moment of a unit, and some with the first of the next.
  const end = to.getUTCMilliseconds() === 999 ? new Date(Number(to) + 1) : to
  const months = (end.getUTCFullYear() - from.getUTCFullYear()) * 12 + end.getUTCMonth() - from.getUTCMonth()
  const isWhole = months > 0 && Number(monthsLater(end, -months)) === Number(from)
  const start = isWhole ? monthsLater(from, -months) : new Date(Number(from) - (Number(end) - Number(from)))
  return { from: start, to: new Date(Number(from) - 1) }
}
