/** Assistants read every letter, so long lists and long texts are cut, and the answer says so. */

const LONGEST_TEXT = 500
const MOST_ENTRIES = 100

interface Bounded {
  readonly value: unknown
  /** Descriptions such as `points: the first 100 of 340`. */
  readonly cuts: readonly string[]
}

export function bound(value: unknown, mostEntries = MOST_ENTRIES): Bounded {
  const cuts: string[] = []
  let areTextsCut = false
  const walk = (each: unknown, place: string): unknown => {
    if (typeof each === 'string' && each.length > LONGEST_TEXT) {
      areTextsCut = true
      return `${each.slice(0, LONGEST_TEXT)}…`
    }
    if (Array.isArray(each)) {
      if (each.length > mostEntries) cuts.push(`${place}: the first ${mostEntries} of ${each.length}`)
      return each.slice(0, mostEntries).map((inner) => walk(inner, place))
    }
    if (each === null || typeof each !== 'object') return each
    return Object.fromEntries(Object.entries(each).map(([name, inner]) => [name, walk(inner, name)]))
  }
  const cut = walk(value, 'list')
  if (areTextsCut) cuts.push(`texts: the first ${LONGEST_TEXT} characters`)
  return { value: cut, cuts: [...new Set(cuts)] }
}
