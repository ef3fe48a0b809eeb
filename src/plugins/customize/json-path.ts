/**
 * Paths into a JSON document, in the part of gjson's syntax that names values:
 * `a.b`         the value b of the object a
 * `a.0`         the first element of a list; in an object, the key "0"
 * `a.#`         the number of elements of a list
 * `a.#.b`       the list of the values b of all elements that have one
 * `a\.b`        the key "a.b": a backslash removes the special meaning of the next character
 * Syntax that selects or changes values (`*`, `?`, `#(…)`, `|`, `@…`, `{…}`, `[…]`, `!`) is refused.
 */
import { UserError } from '../../errors.ts'

export type PathReader = (document: unknown) => unknown

/** A key, an index, or each element of a list. */
type Part = { readonly name: string } | 'each'

const UNSUPPORTED = /[*?|]/
const UNSUPPORTED_START = /[@!{[]/

export function readPath(path: string): PathReader {
  const parts = partsOf(path)
  return (document) => valueAt(document, parts, 0)
}

function partsOf(path: string): Part[] {
  const parts: Part[] = []
  const refuse = (problem: string): never => {
    throw new UserError(`The path "${path}" ${problem}.`)
  }
  let name = ''
  let isEscaped = false
  const end = () => {
    if (name === '' && !isEscaped) refuse('has an empty part: take out the dot that is too many')
    parts.push(name === '#' && !isEscaped ? 'each' : { name })
    name = ''
    isEscaped = false
  }
  for (let place = 0; place < path.length; place++) {
    const character = path[place] as string
    if (character === '.') {
      end()
      continue
    }
    if (character === '\\') {
      if (++place === path.length) refuse('ends with a backslash, which needs a character to follow')
      name += path[place]
      isEscaped = true
      continue
    }
    const isUnsupported =
      UNSUPPORTED.test(character) || (name === '' && UNSUPPORTED_START.test(character)) || (name === '#' && !isEscaped)
    if (isUnsupported) {
      refuse(
        `has "${character}" in a place where it would choose or change values, which is not supported: name each part, or write \\${character} where it is meant`,
      )
    }
    name += character
  }
  end()
  return parts
}

const isObject = (value: unknown): value is Record<string, unknown> => value !== null && typeof value === 'object'

/** Returns undefined if the document has no value there. */
function valueAt(value: unknown, parts: readonly Part[], position: number): unknown {
  const part = parts[position]
  if (part === undefined) return value
  if (part === 'each') {
    if (!Array.isArray(value)) return undefined
    if (position === parts.length - 1) return value.length
    return value.map((each) => valueAt(each, parts, position + 1)).filter((each) => each !== undefined)
  }
  if (Array.isArray(value)) {
    return /^\d+$/.test(part.name) ? valueAt(value[Number(part.name)], parts, position + 1) : undefined
  }
  return isObject(value) && Object.hasOwn(value, part.name) ? valueAt(value[part.name], parts, position + 1) : undefined
}
