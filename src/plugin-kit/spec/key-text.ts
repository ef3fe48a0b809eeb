import { createHash } from 'node:crypto'

export const LONGEST_KEY = 191

/** Text that identifies an input or a record; '' if it has no identity. */
export function keyText(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text.length <= LONGEST_KEY ? text : createHash('sha256').update(text).digest('hex')
}
