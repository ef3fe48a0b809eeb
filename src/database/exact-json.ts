import type { RawRecord } from './column.ts'

/** Parses JSON so that whole numbers beyond 2^53 become the text of their digits. As numbers they would lose digits. */

const LONGEST_SAFE = String(Number.MAX_SAFE_INTEGER)
const DIGITS = LONGEST_SAFE.length
const LONG_INTEGER = new RegExp(`\\d{${DIGITS}}`)

const [ZERO, MINUS] = [48, 45]
/** Characters that may stand before and after a number in JSON. */
const AROUND = new Set(Buffer.from(':,[]} \t\n\r'))

/** Throws like `JSON.parse`. */
export const parseExact = (text: string): RawRecord =>
  // The exact parser is several times as slow, so it is used only where a long run of digits occurs.
  LONG_INTEGER.test(text) ? parseSlowly(text) : JSON.parse(text)

/** The same for bytes, for long texts. It quickly detects that most texts contain no such number. */
export function parseExactBytes(bytes: Uint8Array): RawRecord {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const text = buffer.toString()
  return hasUnsafeInteger(buffer) ? parseSlowly(text) : JSON.parse(text)
}

/** Returns a number where it is exact, and otherwise the digits unchanged. */
export function exactInteger(digits: string): number | string {
  const number = Number(digits)
  return Number.isSafeInteger(number) ? number : digits
}

/** Puts such numbers in quotes before parsing. A reviver, which is called for every value, would take seconds on a long text. */
function parseSlowly(text: string): RawRecord {
  // Invalid JSON must not become valid by the added quotes.
  JSON.parse(text)
  return JSON.parse(quoted(text))
}

const [QUOTE, BACKSLASH] = Buffer.from('"\\')
/** All characters that a number may consist of. */
const NUMERIC = new Set(Buffer.from('0123456789+-.eE'))

function quoted(text: string): string {
  const pieces: string[] = []
  let copied = 0
  let at = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    const start = at
    if (code === QUOTE) {
      for (at++; text.charCodeAt(at) !== QUOTE; at++) if (text.charCodeAt(at) === BACKSLASH) at++
      at++
    } else if (code === MINUS || (code - ZERO) >>> 0 < 10) {
      while (NUMERIC.has(text.charCodeAt(at))) at++
      if (at - start < DIGITS || typeof exactInteger(text.slice(start, at)) === 'number') continue
      if (!/^-?\d+$/.test(text.slice(start, at))) continue
      pieces.push(text.slice(copied, start), '"', text.slice(start, at), '"')
      copied = at
    } else at++
  }
  return pieces.join('') + text.slice(copied)
}

/** May also find a number inside a string. That only costs time. */
function hasUnsafeInteger(bytes: Buffer): boolean {
  const { length } = bytes
  const isDigit = (at: number) => ((bytes[at] as number) - ZERO) >>> 0 < 10
  const isAround = (at: number) => at < 0 || at >= length || AROUND.has(bytes[at] as number)
  // Steps by the length of such a number, so that none can be skipped.
  for (let at = DIGITS - 1; at < length; at += DIGITS) {
    if (((bytes[at] as number) - ZERO) >>> 0 >= 10) continue
    let start = at
    let end = at + 1
    while (start > 0 && isDigit(start - 1)) start--
    while (end < length && isDigit(end)) end++
    at = end - 1
    if (end - start < DIGITS) continue
    const digits = bytes.toString('latin1', start, end)
    const before = bytes[start - 1] === MINUS ? start - 2 : start - 1
    if ((digits.length > DIGITS || digits > LONGEST_SAFE) && isAround(before) && isAround(end)) return true
  }
  return false
}
