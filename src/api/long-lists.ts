/** Lists longer than this are looked at in part first: what is wrong with each of a hundred thousand, the first ones tell. */
const LONG = 1000

const isLong = (value: unknown): value is unknown[] => Array.isArray(value) && value.length > LONG
const beginning = (value: unknown): unknown => (isLong(value) ? value.slice(0, LONG) : value)

/** The same with the beginnings of its long lists; undefined where it has none. */
export function inPart(value: unknown): unknown {
  if (isLong(value)) return beginning(value)
  // A file that came as it is has millions of entries, and no lists.
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return undefined
  if (!Object.values(value).some(isLong)) return undefined
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, beginning(each)]))
}

/** Kinds of failures that do not pass with the rest of a list. */
const SURE = new Set(['invalid_type', 'invalid_value', 'unrecognized_keys'])
export const areSure = (issues: readonly { readonly code?: string }[]): boolean =>
  issues.some(({ code }) => SURE.has(code ?? ''))
