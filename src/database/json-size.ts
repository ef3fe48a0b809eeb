/** Measures the content of a JSON text without parsing it, because parsing already costs the time that the limit should save. */

const [QUOTE, COMMA, OPEN_LIST, BACKSLASH, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('",[\\]{}')

interface JsonLimit {
  /** The total number of field names and list items. */
  readonly values: number
  readonly depth?: number
}

/**
 * Returns which limit the text exceeds, or undefined. Values are counted by commas, since each value but the first of a list
 * or object has one before it.
 */
export function tooMuchIn(
  text: string,
  { values: most, depth: deepest = Number.POSITIVE_INFINITY }: JsonLimit,
): 'values' | 'depth' | undefined {
  let depth = 0
  let values = 0
  let isText = false
  for (let position = 0; position < text.length; position++) {
    const code = text.charCodeAt(position)
    if (isText) {
      if (code === BACKSLASH) position++
      else if (code === QUOTE) isText = false
    } else if (code === QUOTE) isText = true
    else if (code === COMMA) values++
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      values++
      if (++depth > deepest) return 'depth'
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth--
    if (values > most) return 'values'
  }
  return undefined
}
