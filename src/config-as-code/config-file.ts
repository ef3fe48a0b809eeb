/** A file with the lines of its values, so that errors can name the place of a value. */
import { type Document, isMap, isNode, isScalar, isSeq, stringify } from 'yaml'
import { parseYaml } from '../basics/yaml.ts'
import { FatalError, messageOf, RetryableError, UserError } from '../errors.ts'

export type Path = readonly (string | number)[]

/** The line of a value, and the places inside it by name or position. */
interface Place {
  readonly line: number
  readonly inside?: ReadonlyMap<string, Place>
}
/** The content of a file and the places in it, as plain data that can be passed to and from another thread. */
export interface ConfigText {
  readonly content: unknown
  readonly place: Place
}

export interface ConfigFile {
  readonly content: unknown
  /** Runs `body`. An error that it throws gets the line of the value at `path`, or of the field whose name begins the message. */
  at<Result>(path: Path, body: () => Result | Promise<Result>): Promise<Result>
  /** Returns an error to be thrown. */
  refusal(path: Path, message: string): UserError
}

/** Names in a message may be as long as the file. */
const LONGEST_MESSAGE = 2000
const beginning = (message: string) =>
  message.length > LONGEST_MESSAGE ? `${message.slice(0, LONGEST_MESSAGE)}…` : message

/** An error whose message already begins with file and line. */
class PlacedError extends UserError {}

/** Errors of the remote side or of the request, whose messages say everything. */
const isSentence = (error: unknown): error is Error =>
  error instanceof UserError ||
  error instanceof RetryableError ||
  error instanceof FatalError ||
  (error as Error)?.name === 'TimeoutError'

export function configFile({ content, place }: ConfigText, name: string): ConfigFile {
  /** If a value is missing, the place of what should contain it is used. */
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
    return new PlacedError(`${name}:${line}: ${beginning(error.message)}`, { status, cause: error })
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
    refusal: (path, message) => new PlacedError(`${name}:${placeOf(path).line}: ${beginning(message)}`),
  }
}

export function readConfigText(text: string, name: string): ConfigText {
  const { documents, lines } = parseYaml(text)
  const [document, another] = documents
  const [error] = documents.flatMap(({ errors }) => errors)
  if (error) {
    const { line = 1 } = error.linePos?.[0] ?? {}
    const isUnquoted = text.split('\n', line)[line - 1]?.includes('${')
    const hint = isUnquoted ? '. Inside { } and [ ], put a variable in quotes' : ''
    throw new UserError(`${name}:${line}: this is not YAML: ${error.message.replace(/ at line.*$/s, '')}${hint}`)
  }
  if (another) throw new UserError(`${name} contains several YAML documents: keep one.`)
  if (!document) return { content: {}, place: { line: 1 } }
  const lineAt = (node: unknown, other: number) =>
    isNode(node) && node.range ? lines.linePos(node.range[0]).line : other

  /** Returns the place of a node. A scalar has its own line, and a list or an object the line of its name. */
  function placeOf(node: unknown, line: number): Place {
    if (isScalar(node)) return { line: lineAt(node, line) }
    if (!isMap(node) && !isSeq(node)) return { line }
    const inside = new Map<string, Place>()
    if (isSeq(node)) {
      for (const [index, item] of node.items.entries()) {
        inside.set(String(index), placeOf(item, lineAt(item, line)))
      }
    } else {
      for (const { key, value } of node.items) {
        inside.set(String(isScalar(key) ? key.value : key), placeOf(value, lineAt(key, line)))
      }
    }
    return { line, inside }
  }
  return { content: contentOf(document, name), place: placeOf(document.contents, 1) }
}

/** An alias without an anchor causes an error only when values are made. */
function contentOf(document: Document, name: string): unknown {
  try {
    return document.toJS()
  } catch (error) {
    throw new UserError(`${name}: this is not YAML: ${messageOf(error)}`)
  }
}

/** Writes content as YAML. */
export const writeConfigText = (content: unknown): string =>
  stringify(content, { lineWidth: 0, aliasDuplicateObjects: false })
