import { byName } from './by-name.ts'
import { didYouMean, hintOf, shortName } from './nearest.ts'

/** Turns validation errors into sentences that say what to change. */
export interface Issue {
  readonly path?: readonly PropertyKey[]
  readonly code?: string
  readonly message?: string
  readonly keys?: readonly string[]
  readonly expected?: string
  readonly values?: readonly unknown[]
  readonly errors?: readonly (readonly Issue[])[]
}

/** The number of issues that are considered: a body may have as many issues as fields. */
const MOST_ISSUES = 20

const PLACE: Readonly<Record<string, string>> = byName({
  body: 'the body',
  querystring: 'the query',
  params: 'the address',
  headers: 'the headers',
})

interface Checked {
  readonly httpPart?: string | undefined
  /** The input and the schema that it was checked against. They show what is missing or misspelt. */
  readonly value?: unknown
  readonly schema?: unknown
}

export function explainIssues(issues: readonly Issue[], checked: Checked = {}): string {
  return [...new Set(issues.slice(0, MOST_ISSUES).map((issue) => sentenceOf(issue, checked)))].slice(0, 5).join(' ')
}

function sentenceOf(issue: Issue, { httpPart = 'body', value, schema }: Checked): string {
  const path = issue.path ?? []
  const name = shortName(path.map(String).join('.')) || (PLACE[httpPart] ?? 'the request')
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys ?? []
    const place = path.length > 0 ? `${name}: ` : ''
    const known = fieldsAt(schema, path)
    const hint = known.length > 0 ? hintOf(key, known) : '.'
    return `${place}${shortName(key)} is not a known field: leave it out, or correct its name${hint}`
  }
  if (isMissing(issue, value)) return `${name} is missing: add it.`
  if (issue.code === 'invalid_type') return `${name} must be ${withArticle(issue.expected ?? 'valid')}.`
  if (issue.code === 'invalid_value') {
    const words = (issue.values ?? []).map(String).filter((word) => word !== '')
    const sent = valueAt(value, path)
    const guess = typeof sent === 'string' ? didYouMean(sent, words) : ''
    return `${name} must be ${words.join(' or ')}${guess || '.'}`
  }
  if (issue.code === 'invalid_union') {
    // If only one alternative of the union fits at this place, the mistake is deeper inside it.
    const fitting = (issue.errors ?? []).filter((each) => each.every((inner) => (inner.path ?? []).length > 0))
    const [inner] = fitting.length === 1 ? (fitting[0] ?? []) : []
    if (inner) return sentenceOf({ ...inner, path: [...path, ...(inner.path ?? [])] }, { httpPart, value, schema })
    const expected = (issue.errors ?? []).flat().map((each) => each.expected)
    const kinds = [...new Set(expected.filter((each) => each !== undefined && each !== 'null'))]
    if (kinds.length > 0) return `${name} must be ${oneOf(kinds.map((kind) => withArticle(kind as string)))}.`
  }
  return `${name}: ${issue.message ?? 'is wrong'}`.replace(/([^.])$/, '$1.')
}

const OF_ABSENT: readonly (string | undefined)[] = ['invalid_type', 'invalid_value', 'invalid_union']

function isMissing({ code, expected, message, path = [] }: Issue, value: unknown): boolean {
  if (expected === 'nonoptional' || message?.endsWith('received undefined')) return true
  return path.length > 0 && value !== undefined && OF_ABSENT.includes(code) && valueAt(value, path) === undefined
}

/** Matches names in any letter case, as the code that reads fields does. */
function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value
  for (const step of path) {
    if (found === null || typeof found !== 'object') return undefined
    const wanted = String(step).toLowerCase()
    // The exact name is tried first, because listing the keys of a long list for every issue would be slow.
    const key = Object.hasOwn(found, step)
      ? String(step)
      : Object.keys(found).find((each) => each.toLowerCase() === wanted)
    found = key === undefined ? undefined : (found as Record<string, unknown>)[key]
  }
  return found
}

/** The fields that an object at this place may have; empty when that is unknown. */
function fieldsAt(schema: unknown, path: readonly PropertyKey[]): string[] {
  const bare = unwrapped(schema)
  if (!bare) return []
  const [step, ...rest] = path
  if (bare.type === 'union') return [...new Set(bare.options?.flatMap((each) => fieldsAt(each, path)) ?? [])]
  if (step === undefined) return Object.keys(bare.shape ?? {})
  const name = String(step)
  const inner = bare.shape && Object.hasOwn(bare.shape, name) ? bare.shape[name] : (bare.element ?? bare.valueType)
  return fieldsAt(inner, rest)
}

interface Definition {
  readonly type: string
  readonly shape?: Readonly<Record<string, unknown>>
  readonly element?: unknown
  readonly valueType?: unknown
  readonly options?: readonly unknown[]
  readonly innerType?: unknown
  readonly out?: unknown
}

/** Removes wrappers such as optional, default and preprocess. */
function unwrapped(schema: unknown): Definition | undefined {
  let found = (schema as { _zod?: { def: Definition } } | undefined)?._zod?.def
  for (let inner = found?.innerType ?? found?.out; found && inner; inner = found?.innerType ?? found?.out) {
    found = (inner as { _zod?: { def: Definition } })._zod?.def
  }
  return found
}

const WORDS: Readonly<Record<string, string>> = byName({
  string: 'text',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
  date: 'a time',
})
const withArticle = (expected: string) => WORDS[expected] ?? `a ${expected}`
/** “text, a number, or true or false” */
const oneOf = (words: readonly string[]) =>
  words.length < 3 ? words.join(' or ') : `${words.slice(0, -1).join(', ')}, or ${words.at(-1)}`
