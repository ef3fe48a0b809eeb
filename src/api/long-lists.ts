/** Lists longer than this are looked at in part first: what is wrong with each of a hundred thousand, the first ones tell. */
const LONG = 1000

/** The same with the beginnings of its long lists, however deep; undefined where it has none. */
export function inPart(value: unknown): unknown {
  const part = shortened(value)
  return part === value ? undefined : part
}

function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return shortenedList(value)
  // A file that came as it is has millions of entries, and no lists.
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  const entries = Object.entries(value).map(([name, each]) => [name, each, shortened(each)] as const)
  if (entries.every(([, each, part]) => each === part)) return value
  return Object.fromEntries(entries.map(([name, , part]) => [name, part]))
}

function shortenedList(list: readonly unknown[]): unknown {
  const beginning = list.length > LONG ? list.slice(0, LONG) : list
  const parts = beginning.map(shortened)
  return parts.every((part, place) => part === list[place]) ? beginning : parts
}

interface Failure {
  readonly code?: string
  /** Of a union: what each of its alternatives says. */
  readonly errors?: readonly (readonly Failure[])[]
}

/** Kinds of failures that do not pass with the rest of a list. */
const SURE = new Set(['invalid_type', 'invalid_value', 'unrecognized_keys'])
const isSure = ({ code = '', errors = [] }: Failure): boolean =>
  SURE.has(code) || (code === 'invalid_union' && errors.length > 0 && errors.every(areSure))
export const areSure = (issues: readonly Failure[]): boolean => issues.some(isSure)
