/** A file with the lines of its values: whatever is wrong with one of them is told with its place. */
import { type Document, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml'
import { FatalError, messageOf, RetryableError, UserError } from '../errors.ts'

export type Path = readonly (string | number)[]

/** The line of a value, and of those in it by their names or positions. */
interface Place {
  readonly line: number
  readonly inside?: ReadonlyMap<string, Place>
}
/** What a file says, and where: plain data, so that it can be read in another thread. */
export interface ConfigText {
  readonly content: unknown
  readonly place: Place
}

export interface ConfigFile {
  readonly content: unknown
  /** Runs `body`; what it refuses is told with the line of the value at `path`, or of the field that it begins with. */
  at<Result>(path: Path, body: () => Result | Promise<Result>): Promise<Result>
  /** To be thrown. */
  refusal(path: Path, message: string): UserError
}

/** Its message begins with file and line. */
class PlacedError extends UserError {}

/** Of the other side, or of the request: a sentence is all there is to say. */
const isSentence = (error: unknown): error is Error =>
  error instanceof UserError ||
  error instanceof RetryableError ||
  error instanceof FatalError ||
  (error as Error)?.name === 'TimeoutError'

export function configFile({ content, place }: ConfigText, name: string): ConfigFile {
  /** What is missing stands where it belongs. */
  const placeOf = (path: Path): Place =>
    path.reduce<{ found: Place; isLost: boolean }>(
      ({ found, isLost }, key) => {
        const next = isLost ? undefined : found.inside?.get(String(key))
        return { found: next ?? found, isLost: next === undefined }
      },
      { found: place, isLost: false },
    ).found
  const placed = (path: Path, error: unknown): unknown => {
    if (error instanceof PlacedError || !isSentence(error)) return error
    const own = placeOf(path)
    const field = /^[\w$]+/.exec(error.message)?.[0] ?? ''
    const { line } = own.inside?.get(field) ?? own
    const status = error instanceof UserError ? error.status : error instanceof RetryableError ? 503 : 502
    return new PlacedError(`${name}:${line}: ${error.message}`, { status, cause: error })
  }
  return {
    content,
    async at(path, body) {
      try {
        return await body()
      } catch (error) {
        throw placed(path, error)
      }
    },
    refusal: (path, message) => new PlacedError(`${name}:${placeOf(path).line}: ${message}`),
  }
}

/** Deeper values would overflow the stack of whoever walks them. */
const DEEPEST = 100

export function readConfigText(text: string, name: string): ConfigText {
  const lines = new LineCounter()
  const document = documentOf(text, name, lines)
  const refusal = (line: number, message: string) => new UserError(`${name}:${line}: ${message}`)
  const lineAt = (node: any, other: number) => (node?.range ? lines.linePos(node.range[0]).line : other)

  /** A word or number stands where it is, a list or an object where its name is. */
  function placeOf(node: unknown, line: number, depth: number): Place {
    if (isScalar(node)) return { line: lineAt(node, line) }
    if (!isMap(node) && !isSeq(node)) return { line }
    if (depth > DEEPEST) throw refusal(line, `this is nested deeper than ${DEEPEST} levels: make it flatter.`)
    const inside = new Map<string, Place>()
    if (isSeq(node)) {
      for (const [index, item] of node.items.entries()) {
        inside.set(String(index), placeOf(item, lineAt(item, line), depth + 1))
      }
    } else {
      for (const { key, value } of node.items) {
        const name = String(isScalar(key) ? key.value : key)
        const keyLine = lineAt(key, line)
        if (inside.has(name)) throw refusal(keyLine, `${name} is here twice: leave one of them out.`)
        inside.set(name, placeOf(value, keyLine, depth + 1))
      }
    }
    return { line, inside }
  }
  const place = placeOf(document.contents, 1, 0)
  return { content: contentOf(document, name), place }
}

function documentOf(text: string, name: string, lineCounter: LineCounter): Document {
  try {
    // The library would compare each key with all others to find those that are twice there.
    const document = parseDocument(text, { prettyErrors: true, lineCounter, uniqueKeys: false })
    const [error] = document.errors
    if (!error) return document as unknown as Document
    const [sentence = ''] = error.message.split('\n')
    const line = error.linePos?.[0].line ?? 1
    const isUnquoted = text.split('\n', line)[line - 1]?.includes('${')
    const hint = isUnquoted ? '. Within { } and [ ] a variable stands in quotes' : ''
    throw new UserError(`${name}:${line}: this is not YAML: ${sentence.replace(/ at line.*$/, '')}${hint}`)
  } catch (error) {
    // Nested so deeply that the reader gives up.
    if (error instanceof RangeError) throw new UserError(`${name} is nested too deeply: make it flatter.`)
    throw error
  }
}

/** An alias without its anchor shows only when values are made. */
function contentOf(document: Document, name: string): unknown {
  try {
    return document.toJS()
  } catch (error) {
    throw new UserError(`${name}: this is not YAML: ${messageOf(error)}`)
  }
}
