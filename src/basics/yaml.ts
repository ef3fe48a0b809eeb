/** Parses YAML in linear time, and limits its depth so that recursive code can process it. */
import {
  Composer,
  type Document,
  isAlias,
  isCollection,
  isPair,
  isScalar,
  LineCounter,
  Parser,
  YAMLParseError,
} from 'yaml'
import { refuseWhileAnswering } from './answering.ts'

/** For each alias the library searches the whole document. */
const MOST_ALIASES = 100
/** Each error costs a stack trace, and only the first one is reported. */
const MOST_ERRORS = 100
/** Deeper values would overflow the stack of recursive code. */
const DEEPEST = 100

interface YamlText {
  readonly documents: readonly Document.Parsed[]
  readonly lines: LineCounter
}

/** Parses a text. Problems of a document are in its `errors`; the first one has its line. */
export function parseYaml(text: string): YamlText {
  refuseWhileAnswering('YAML would be read')
  const lines = new LineCounter()
  // By default the library would compare each key of a map with all others, copy the line of each error, and print warnings.
  const composer = new Composer({ uniqueKeys: false, prettyErrors: false, logLevel: 'error' })
  const documents: Document.Parsed[] = []
  let unexpected = 0
  for (const token of new Parser(lines.addNewLine).parse(text)) {
    documents.push(...(composer.next(token) as Iterable<Document.Parsed>))
    if (token.type === 'error' && ++unexpected === MOST_ERRORS) break
  }
  documents.push(...(composer.end(unexpected > 0, text.length) as Iterable<Document.Parsed>))
  for (const { contents, errors } of documents) {
    const problem = errors.length === 0 ? problemIn(contents) : undefined
    if (problem) errors.push(new YAMLParseError([problem.offset, problem.offset], problem.code, problem.message))
    const [first] = errors
    if (!first) continue
    const place = lines.linePos(first.pos[0])
    first.linePos = [place]
    first.message += ` at line ${place.line}, column ${place.col}`
  }
  return { documents, lines }
}

interface Problem {
  readonly offset: number
  readonly code: 'DUPLICATE_KEY' | 'BAD_ALIAS' | 'IMPOSSIBLE'
  readonly message: string
}

function problemIn(contents: unknown): Problem | undefined {
  const waiting: { node: unknown; depth: number }[] = [{ node: contents, depth: 0 }]
  let aliases = 0
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { node, depth } = next
    const offset = (node as { range?: readonly number[] | null } | null)?.range?.[0] ?? 0
    if (isAlias(node) && ++aliases > MOST_ALIASES) {
      return { offset, code: 'BAD_ALIAS', message: `More than ${MOST_ALIASES} aliases` }
    }
    if (!isCollection(node)) continue
    if (depth >= DEEPEST) return { offset, code: 'IMPOSSIBLE', message: `Nested deeper than ${DEEPEST} levels` }
    const keys = new Set<unknown>()
    for (const item of node.items) {
      if (!isPair(item)) {
        waiting.push({ node: item, depth: depth + 1 })
        continue
      }
      const { key, value } = item
      if (isScalar(key) && keys.size === keys.add(key.value).size) {
        return { offset: key.range?.[0] ?? offset, code: 'DUPLICATE_KEY', message: 'Map keys must be unique' }
      }
      waiting.push({ node: key, depth: depth + 1 }, { node: value, depth: depth + 1 })
    }
  }
  return undefined
}
