/** Longer lists are first validated in part: the first entries already show a mistake that all hundred thousand have. */
const LONG = 1000

/** Returns the value with only the beginnings of its long lists, at any depth; undefined if it has no long list. */
export function inPart(value: unknown): unknown {
  const part = shortened(value)
  return part === value ? undefined : part
}

function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return shortenedList(value)
  // The bytes of an uploaded file would be millions of entries, and contain no lists.
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
  /** For a union: the failures of each of its alternatives. */
  readonly errors?: readonly (readonly Failure[])[]
}

/** Failures that the rest of a list cannot undo. */
const SURE = new Set(['invalid_type', 'invalid_value', 'unrecognized_keys'])
const isSure = ({ code = '', errors = [] }: Failure): boolean =>
  SURE.has(code) || (code === 'invalid_union' && errors.length > 0 && errors.every(areSure))
export const areSure = (issues: readonly Failure[]): boolean => issues.some(isSure)
