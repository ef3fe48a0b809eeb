/** Refuses input that cannot be stored or is never needed: NUL, halves of surrogate pairs, and objects with too many fields. */
import { UserError } from '../errors.ts'

/** Far more fields than any real input has. Checking each one costs time during which others wait. */
const MOST_FIELDS = 10_000

/** Checks a value of any depth, including the names of fields. `place` names the value in the error. */
export function requireCleanText(value: unknown, place: string): void {
  const waiting = [value]
  while (waiting.length > 0) {
    const each = waiting.pop()
    if (typeof each === 'string') requireClean(each, place)
    else if (Array.isArray(each)) for (const item of each) waiting.push(item)
    else if (isObject(each)) {
      const names = Object.keys(each)
      if (names.length > MOST_FIELDS) {
        throw new UserError(
          `${place} has an object with ${names.length} fields; at most ${MOST_FIELDS} are allowed: remove some.`,
        )
      }
      for (const name of names) waiting.push(name, each[name])
    }
  }
}

/** The bytes of a file are not checked here, but by the code that reads them as text. */
const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !ArrayBuffer.isView(value)

function requireClean(text: string, place: string): void {
  if (text.includes('\0')) throw new UserError(`${place} contains a NUL character: take it out.`)
  if (!text.isWellFormed()) {
    throw new UserError(`${place} contains half of a surrogate pair, which is no character: take it out.`)
  }
}
