/** How much a JSON text holds, found out without parsing it: what becomes objects first has cost the time already. */

const [QUOTE, COMMA, OPEN_LIST, BACKSLASH, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('",[\\]{}')

export interface JsonLimit {
  /** Names of fields and items of lists, all together. */
  readonly values: number
  readonly depth?: number
}

/** What of it is too much; undefined: nothing. Each value but the first of its list or object has a comma before it. */
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
