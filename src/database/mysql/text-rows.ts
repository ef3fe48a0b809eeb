/** Encodes rows in the default format of LOAD DATA: tabs between cells, line feeds between rows, escapes by a backslash. */
import { byName } from '../../basics/by-name.ts'
import type { Cell } from '../fit.ts'
import type { Kind } from '../table.ts'

/** Pieces of this size limit the memory whatever the rows contain. */
const PIECE = 1 << 18
/** The most bytes of any cell except texts, with its separator. */
const LONGEST_FIXED = 40
/** Up to this length a loop is faster than the call that encodes a text. */
const SHORT = 24
const [TAB, LINE, SPACE, DOT, ZERO, COLON, BACKSLASH] = [9, 10, 32, 46, 48, 58, 92]
const ESCAPED = /[\\\t\n\0]/
const NULL = Buffer.from('\\N')
const [MINUTE, DAY] = [60_000, 86_400_000]

export function textRows(rows: Iterable<readonly Cell[]>, kinds: readonly Kind[]): Buffer[] {
  const full: Buffer[] = []
  let piece = Buffer.allocUnsafe(PIECE)
  let used = 0

  function reserve(bytes: number): void {
    if (used + bytes <= piece.length) return
    full.push(piece.subarray(0, used))
    piece = Buffer.allocUnsafe(Math.max(PIECE, bytes))
    used = 0
  }
  function putText(text: string): void {
    const { length } = text
    reserve(length * 3 + LONGEST_FIXED)
    if (length <= SHORT) {
      const start = used
      for (let index = 0; index < length; index++) {
        const code = text.charCodeAt(index)
        if (code > 0x7f || code === BACKSLASH || code < SPACE) {
          used = start
          putLong(text)
          return
        }
        piece[used++] = code
      }
    } else putLong(text)
  }
  function putLong(text: string): void {
    const whole = ESCAPED.test(text) ? text.replace(/[\\\t\n\0]/g, escaped) : text
    if (whole !== text) reserve(whole.length * 3 + LONGEST_FIXED)
    used += piece.write(whole, used)
  }
  function putDigits(value: number, digits: number): void {
    let rest = value
    for (let at = used + digits - 1; at >= used; at--) {
      piece[at] = ZERO + (rest % 10)
      rest = Math.floor(rest / 10)
    }
    used += digits
  }
  let day = Number.NaN
  let dayText = ''
  function putMoment(moment: Date, isDay: boolean): void {
    const time = moment.getTime()
    const own = Math.floor(time / DAY)
    if (own !== day) {
      day = own
      // Sliced from the end, because the ISO form of years before 0 and after 9999 is longer.
      dayText = moment.toISOString().slice(0, -14)
    }
    for (let index = 0; index < dayText.length; index++) piece[used++] = dayText.charCodeAt(index)
    if (isDay) return
    piece[used++] = SPACE
    const inDay = time - own * DAY
    putDigits(Math.floor(inDay / (60 * MINUTE)), 2)
    piece[used++] = COLON
    putDigits(Math.floor(inDay / MINUTE) % 60, 2)
    piece[used++] = COLON
    putDigits(Math.floor(inDay / 1000) % 60, 2)
    piece[used++] = DOT
    putDigits(inDay % 1000, 3)
  }
  for (const cells of rows) {
    for (let index = 0; index < cells.length; index++) {
      reserve(LONGEST_FIXED)
      if (index > 0) piece[used++] = TAB
      const cell = cells[index] as Cell
      if (cell === null) used += NULL.copy(piece, used)
      else if (typeof cell === 'string') putText(cell)
      else if (cell instanceof Date) putMoment(cell, kinds[index] === 'date')
      else if (typeof cell === 'boolean') piece[used++] = cell ? ZERO + 1 : ZERO
      else putText(String(cell))
    }
    reserve(1)
    piece[used++] = LINE
  }
  full.push(piece.subarray(0, used))
  return full
}

const NAMES: Readonly<Record<string, string>> = byName({ '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\0': '\\0' })
const escaped = (character: string) => NAMES[character] as string
