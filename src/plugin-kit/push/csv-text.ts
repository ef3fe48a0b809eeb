/** Writes CSV. A cell that a spreadsheet would run as a formula gets an apostrophe in front, which marks it as text. */
import type { AnyRow } from '../../database/table.ts'

const escaped = (text: string) => (/^'*[=+\-@\t\r]/.test(text) && !/^-?\d/.test(text) ? `'${text}` : text)
/** Removes that apostrophe from a cell when a file is uploaded again. */
export const unescaped = (text: string): string => (/^'+[=+\-@\t\r]/.test(text) ? text.slice(1) : text)

function cell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text =
    value instanceof Date ? value.toISOString() : typeof value === 'object' ? JSON.stringify(value) : String(value)
  const safe = typeof value === 'string' ? escaped(text) : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** CSV as in RFC 4180, with `names` as its header. */
export const toCsv = (names: readonly string[], rows: readonly object[]): string =>
  [names, ...rows.map((row) => names.map((name) => (row as AnyRow)[name]))]
    .map((cells) => `${cells.map(cell).join(',')}\r\n`)
    .join('')
