/** Validation failures as sentences that say what to change. */
interface Issue {
  readonly path?: readonly PropertyKey[]
  readonly code?: string
  readonly message?: string
  readonly keys?: readonly string[]
  readonly expected?: string
  readonly values?: readonly unknown[]
  readonly errors?: readonly (readonly Issue[])[]
}

const PLACE: Readonly<Record<string, string>> = {
  body: 'the body',
  querystring: 'the query',
  params: 'the address',
  headers: 'the headers',
}

export function explainIssues(issues: readonly Issue[], httpPart = 'body'): string {
  const place = PLACE[httpPart] ?? 'the request'
  return [...new Set(issues.map((issue) => sentenceOf(issue, place)))].slice(0, 5).join(' ')
}

function sentenceOf(issue: Issue, place: string): string {
  const name = (issue.path ?? []).map(String).join('.') || place
  if (issue.code === 'unrecognized_keys') {
    return `${(issue.keys ?? []).join(', ')} is not known here: leave it out, or correct its spelling.`
  }
  if (issue.expected === 'nonoptional') return `${name} is missing: add it.`
  if (issue.code === 'invalid_type') return `${name} must be ${withArticle(issue.expected ?? 'valid')}.`
  if (issue.code === 'invalid_value') {
    const words = (issue.values ?? []).map(String).filter((word) => word !== '')
    return `${name} must be ${words.join(' or ')}.`
  }
  if (issue.code === 'invalid_union') {
    const expected = (issue.errors ?? []).flat().map((each) => each.expected)
    const kinds = [...new Set(expected.filter((each) => each !== undefined && each !== 'null'))]
    if (kinds.length > 0) return `${name} must be ${kinds.map((kind) => withArticle(kind as string)).join(' or ')}.`
  }
  return `${name}: ${issue.message ?? 'is wrong'}`.replace(/([^.])$/, '$1.')
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
  date: 'a time',
}
const withArticle = (expected: string) => WORDS[expected] ?? `a ${expected}`
