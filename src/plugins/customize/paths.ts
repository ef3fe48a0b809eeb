/** Finds the paths at which documents hold values, in the syntax of `json-path.ts`, and describes those values. */
import type { FieldType } from './fields.ts'

interface FoundPath {
  readonly path: string
  /** The keys on the path. `#` means each element of a list. */
  readonly keys: readonly string[]
  /** The number of documents that have a value there. */
  readonly count: number
  readonly types: readonly ValueType[]
  /** Some of the values as text, each once. */
  readonly samples: readonly string[]
  /** The type of a field that can hold all of the values. */
  readonly suggestion: FieldType
}
type ValueType = 'text' | 'number' | 'boolean' | 'list'

const MOST_PATHS = 3000
const DEEPEST = 12
/** The number of elements of a list that are looked at. */
const MOST_ELEMENTS = 20
const MOST_SAMPLES = 4
const LONGEST_SAMPLE = 120
const LONGEST_STRING = 255

interface Seen {
  readonly keys: readonly string[]
  count: number
  readonly types: Set<ValueType>
  readonly samples: Set<string>
  isWhole: boolean
  isTime: boolean
  longest: number
}

/** Escapes characters with a special meaning by a backslash. */
const escaped = (key: string) => key.replace(/[\\.*?|#@!{[]/g, '\\$&')
const pathOf = (keys: readonly string[]) => keys.map((key) => (key === EACH ? '#' : escaped(key))).join('.')

/** Represents each element of a list. No document has a key with this text. */
const EACH = '\u0000#'
const TIME = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d|$)/

export function pathsOf(documents: readonly unknown[]): FoundPath[] {
  const seen = new Map<string, Seen>()
  for (const document of documents) {
    const counted = new Set<string>()
    walk(document, [], (keys, value) => {
      const path = pathOf(keys)
      const known = seen.get(path) ?? newlySeen(keys)
      if (!seen.has(path)) {
        if (seen.size >= MOST_PATHS) return
        seen.set(path, known)
      }
      if (!counted.has(path)) known.count++
      counted.add(path)
      note(known, value)
    })
  }
  return [...seen].map(([path, { keys, count, types, samples, ...rest }]) => ({
    path,
    keys: keys.map((key) => (key === EACH ? '#' : key)),
    count,
    types: [...types],
    samples: [...samples],
    suggestion: suggested(types, rest, keys.includes(EACH)),
  }))
}

const newlySeen = (keys: readonly string[]): Seen => ({
  keys,
  count: 0,
  types: new Set(),
  samples: new Set(),
  isWhole: true,
  isTime: true,
  longest: 0,
})

type Visit = (keys: readonly string[], value: string | number | boolean | readonly unknown[]) => void

function walk(value: unknown, keys: readonly string[], visit: Visit): void {
  if (value === null || value === undefined || keys.length > DEEPEST) return
  if (Array.isArray(value)) {
    if (value.length === 0) return
    if (keys.length > 0 && !keys.includes(EACH)) visit(keys, value)
    // Only the elements that are objects contain further paths. A list within a list is kept as it is.
    if (keys.includes(EACH)) return
    for (const each of value.slice(0, MOST_ELEMENTS)) {
      if (each !== null && typeof each === 'object' && !Array.isArray(each)) walk(each, [...keys, EACH], visit)
    }
    return
  }
  if (typeof value !== 'object') visit(keys, value as string | number | boolean)
  else for (const [key, each] of Object.entries(value)) if (key !== '') walk(each, [...keys, key], visit)
}

function note(seen: Seen, value: string | number | boolean | readonly unknown[]): void {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  seen.types.add(typeof value === 'string' ? 'text' : typeof value === 'object' ? 'list' : (typeof value as 'number'))
  if (!Number.isSafeInteger(value)) seen.isWhole = false
  if (typeof value !== 'string' || !TIME.test(value)) seen.isTime = false
  seen.longest = Math.max(seen.longest, text.length)
  if (seen.samples.size < MOST_SAMPLES && text !== '') seen.samples.add(cut(text))
}

const cut = (text: string) => (text.length > LONGEST_SAMPLE ? `${text.slice(0, LONGEST_SAMPLE)}…` : text)

function suggested(
  types: ReadonlySet<ValueType>,
  { isWhole, isTime, longest }: Pick<Seen, 'isWhole' | 'isTime' | 'longest'>,
  isOfMany: boolean,
): FieldType {
  if (isOfMany || types.has('list')) return 'text'
  if (types.size === 1 && types.has('number')) return isWhole ? 'bigint' : 'float'
  if (isTime) return 'timestamp'
  return longest > LONGEST_STRING ? 'text' : 'varchar(255)'
}
