/** Checks and fits single values, so that PostgreSQL and MySQL store the same or refuse the same. */
import { RecordError } from '../errors.ts'
import type { Column } from './column.ts'
import { parseTime } from './time.ts'

export type Cell = string | number | bigint | boolean | Date | Buffer | null
export type Fitter = (value: unknown) => Cell

/** Longer text is cut; the raw record keeps the whole text. This keeps a row well within the smallest usual packet limit. */
const LONGEST_TEXT = 1_000_000
/** Longer text is refused where it must not be cut. At this length a literal still fits the packets of a server with default settings. */
export const LONGEST_WHOLE_TEXT = 12_000_000
/** An index entry holds 2,704 bytes on PostgreSQL. A longer value would make the write fail. */
const LONGEST_INDEXED_TEXT = 600

export const ZERO_TIME = new Date('0001-01-01T00:00:00.000Z')
const EMPTY: Partial<Record<Column['kind'], Cell>> = {
  string: '',
  text: '',
  integer: 0,
  bigint: 0,
  double: 0,
  boolean: false,
}

function toText(value: unknown): string {
  if (typeof value === 'string') {
    // Text columns cannot hold NUL in all its forms, nor half a surrogate pair.
    const clean = value.includes('\0') ? value.replaceAll('\0', '') : value
    return clean.isWellFormed() ? clean : clean.toWellFormed()
  }
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean') return String(value)
  if (value instanceof Date) return value.toISOString()
  throw new RecordError(`expected text, found ${Array.isArray(value) ? 'a list' : typeof value}`)
}

/** Cuts by characters, as databases count them, and not by UTF-16 units. */
function cut(value: string, size: number): string {
  if (value.length <= size) return value
  const characters = Array.from(value.slice(0, size * 2))
  return characters.length <= size && value.length <= size * 2 ? value : characters.slice(0, size).join('')
}

/** MySQL compares text as if it had no trailing spaces. So values that are compared have none on either database. */
export function withoutEndSpaces(value: string): string {
  let end = value.length
  while (end > 0 && value.charCodeAt(end - 1) === 32) end--
  return end === value.length ? value : value.slice(0, end)
}

/** True for keys, references to keys, and indexed values. All other text is only displayed, and stored unchanged. */
const isCompared = ({ kind, isKey, index, unique }: Column, name: string) =>
  Boolean(isKey || index || unique) || (kind === 'string' && /(^|_)id$/.test(name))

/** The value to compare with the column of that name, so that it is found in its stored form. */
export const comparable = (column: Column | undefined, name: string, value: unknown): unknown =>
  typeof value === 'string' && column && isCompared(column, name) ? withoutEndSpaces(value) : value

const tooLong = (what: string, length: number, most: number) =>
  new RecordError(`${what} of ${length} characters is too long, at most ${most} can be stored`)

function wholeText(value: unknown): string {
  const text = toText(value)
  if (text.length > LONGEST_WHOLE_TEXT) throw tooLong('text', text.length, LONGEST_WHOLE_TEXT)
  return text
}

const RANGE = {
  integer: [-2_147_483_648, 2_147_483_647],
  bigint: [-(2n ** 63n), 2n ** 63n - 1n],
} as const

function toWhole(value: unknown, kind: 'integer' | 'bigint'): number | bigint {
  let whole: unknown = value
  if (typeof whole === 'string' && /^[+-]?\d{1,19}$/.test(whole.trim())) {
    const big = BigInt(whole.trim())
    whole = big >= Number.MIN_SAFE_INTEGER && big <= Number.MAX_SAFE_INTEGER ? Number(big) : big
  }
  if (typeof whole === 'number') {
    if (!Number.isInteger(whole)) throw new RecordError(`${whole} is not a whole number`)
    // A JSON number past 2^53 has already lost digits; storing it would store another number.
    if (!Number.isSafeInteger(whole)) throw new RecordError(`${whole} is too big`)
  } else if (typeof whole !== 'bigint') {
    throw new RecordError(`${JSON.stringify(value)?.slice(0, 50)} is not a whole number`)
  }
  const [least, most] = RANGE[kind]
  if (whole < least || whole > most) throw new RecordError(`${whole} is too big`)
  return whole
}

function toDouble(value: unknown): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof number === 'bigint') return Number(number)
  if (typeof number !== 'number' || !Number.isFinite(number)) {
    throw new RecordError(`${JSON.stringify(value)?.slice(0, 50)} is not a number`)
  }
  return number
}

function toBoolean(value: unknown): boolean {
  if (typeof value === 'boolean') return value
  if (value === 1 || value === 'true' || value === '1') return true
  if (value === 0 || value === 'false' || value === '0' || value === '') return false
  throw new RecordError(`${JSON.stringify(value)?.slice(0, 50)} is neither true nor false`)
}

function toTime(value: unknown): Date | null {
  if (value === '') return null
  const time = value instanceof Date ? value : typeof value === 'string' ? parseTime(value) : undefined
  const moment = time?.getTime()
  if (moment === undefined || !(moment >= -62_135_596_800_000 && moment < 253_402_300_800_000)) {
    throw new RecordError(`${JSON.stringify(value)?.slice(0, 50)} is not a date`)
  }
  return time as Date
}

function toJson(value: unknown): string {
  const encoded = JSON.stringify(value, (_name, each) => (typeof each === 'bigint' ? String(each) : each))
  if (encoded.length > LONGEST_TEXT) throw tooLong('JSON', encoded.length, LONGEST_TEXT)
  // jsonb refuses escaped NUL and half surrogate pairs, which JSON.stringify writes as escapes.
  return /\\u(0000|d[89a-f])/i.test(encoded)
    ? encoded.replace(/(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f]..)/gi, '$1')
    : encoded
}

const CONVERT: Record<Column['kind'], (column: Column, name: string) => Fitter> = {
  string: (column, name) => {
    const { size = 255, isKey } = column
    const tidy = isCompared(column, name) ? withoutEndSpaces : (text: string) => text
    return (value) => {
      const whole = tidy(toText(value))
      if (whole.length <= size) return whole
      const fitted = tidy(cut(whole, size))
      // Cutting keys could turn two records into one.
      if (isKey && fitted.length < whole.length) throw new RecordError(`longer than ${size} characters`)
      return fitted
    }
  },
  text: (column, name) => {
    if (column.isWhole) return wholeText
    return isCompared(column, name)
      ? (value) => withoutEndSpaces(cut(withoutEndSpaces(toText(value)), LONGEST_INDEXED_TEXT))
      : (value) => cut(toText(value), LONGEST_TEXT)
  },
  integer: () => (value) => toWhole(value, 'integer'),
  bigint: () => (value) => toWhole(value, 'bigint'),
  double: () => toDouble,
  boolean: () => toBoolean,
  timestamp: () => toTime,
  date: () => toTime,
  json: () => toJson,
  bytes: () => (value) => (Buffer.isBuffer(value) ? value : Buffer.from(toText(value))),
}

export function missingCell(column: Column): Cell {
  if (column.isGenerated) return null
  if (column.missing === 'empty') return EMPTY[column.kind] ?? null
  return column.missing === 'zero-time' ? ZERO_TIME : null
}

/** `label` names the column in the error of a value that cannot be stored. */
export function fitterOf(column: Column, label: string): Fitter {
  const convert = CONVERT[column.kind](column, label.slice(label.indexOf('.') + 1))
  const missing = missingCell(column)
  const isNeeded = (column.isKey || column.isRequired) && !column.isGenerated
  return (value) => {
    try {
      const cell = value === undefined || value === null ? null : convert(value)
      if (cell !== null) return cell
    } catch (error) {
      throw error instanceof RecordError ? new RecordError(`${label}: ${error.message}`) : error
    }
    if (isNeeded) throw new RecordError(`${label}: missing`)
    return missing
  }
}
