/**
 * Patterns that users write, in RE2 syntax as in Go, matched in linear time and not anchored. A large pattern on a long text
 * is still slow, so the thread that answers requests never matches one. Tasks and heavy jobs do that in their threads.
 */
import { RE2JS } from 're2js'
import { messageOf, UserError } from '../errors.ts'
import { besideAnswers, refuseWhileAnswering } from './answering.ts'

export type Pattern = RE2JS

/** Prepares rules only to check them, or to read parts that are not patterns. The result must not be used for matching. */
export const preparedOnly = <Result>(prepare: () => Result): Result => besideAnswers(prepare)

export interface PatternProblem {
  readonly message: string
  /** The position of the character that the problem is about, from 0. */
  readonly at: number
}

const LONGEST_PATTERN = 10_000
/** The approximate number of steps in the compiled pattern. With this many, compiling takes a few hundredths of a second. */
const LARGEST_PATTERN = 5000

/** Returns what is wrong with a pattern, or null. Its time is limited, so it may be called anywhere. */
export function problemOf(pattern: string, largest = LARGEST_PATTERN): PatternProblem | null {
  if (pattern.length > LONGEST_PATTERN) {
    return { message: `it has more than ${LONGEST_PATTERN} characters: shorten it`, at: LONGEST_PATTERN }
  }
  if (weightOf(pattern) > largest) return { message: 'its repetitions make it too large: repeat less', at: 0 }
  try {
    RE2JS.compile(pattern)
    return null
  } catch (error) {
    const { error: message = messageOf(error), input } = error as { error?: string; input?: string | null }
    return { message, at: placeOf(pattern, message, input ?? '') }
  }
}

/** Throws when a pattern cannot be used. Without a name, the caller says which setting contains it. */
export function checkPattern(pattern: string, name = '', largest = LARGEST_PATTERN): void {
  const problem = problemOf(pattern, largest)
  if (!problem) return
  const shown = JSON.stringify(pattern.length > 1000 ? `${pattern.slice(0, 1000)}…` : pattern)
  const place = `at character ${problem.at + 1}`
  throw new UserError(`${name && `${name}: `}the pattern ${shown} does not compile: ${problem.message} ${place}`)
}

/** Compiles a pattern for matching. Must not be called while a request is answered. */
export function compilePattern(pattern: string, name = ''): Pattern {
  refuseWhileAnswering("A user's pattern would be matched")
  checkPattern(pattern, name)
  return RE2JS.compile(pattern)
}

/** The path pattern of an API key is matched at every request, so both pattern and path must be small. */
const LARGEST_PATH_PATTERN = 500
const LONGEST_MATCHED_PATH = 1000
export const checkPathPattern = (pattern: string): void => checkPattern(pattern, '', LARGEST_PATH_PATTERN)
/** Returns a function that tells whether the pattern matches one of the paths completely. A path that is too long never matches. */
export function pathMatcher(pattern: string): (...paths: readonly string[]) => boolean {
  checkPathPattern(pattern)
  const compiled = RE2JS.compile(pattern)
  return (...paths) => paths.some((path) => path.length <= LONGEST_MATCHED_PATH && compiled.matcher(path).matches())
}

/** Compiles a pattern that Weir itself built, at most from names. It is as small as those names. */
export const ownPattern = (pattern: string): Pattern => RE2JS.compile(pattern)

/** The weight of character classes, which are tables; a letter counts as one step. */
const CLASS = 10
const UNICODE_CLASS = 50
/** Matches one piece of a pattern: an escape, a class, a repetition, or a character. */
const PIECE = /\\[pP](?:\{[^}]*\}|.)|\\x\{[^}]*\}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]?|\{(\d+)(?:,(\d*))?\}|./gs

function weightOf(pattern: string): number {
  const outer: number[] = []
  let total = 0
  let last = 0
  for (const { 0: piece, 1: least, 2: most } of pattern.matchAll(PIECE)) {
    if (piece === '(') {
      outer.push(total)
      total = 0
      last = 0
    } else if (piece === ')') {
      last = total + 2
      total = (outer.pop() ?? 0) + last
    } else if (least !== undefined) {
      const times = Math.max(1, Number(most || Number(least) + 1))
      total += last * (times - 1)
      last *= times
    } else if (/^[*+?|]$/.test(piece)) total++
    else {
      last = /\\[pP]/.test(piece) ? UNICODE_CLASS * piece.split(/\\[pP]/).length : piece.startsWith('[') ? CLASS : 1
      total += last
    }
    if (total > 1e9) return total
  }
  return outer.reduce((sum, each) => sum + each, total)
}

/** Finds the place of a problem. RE2 names the piece that it cannot read; for an unbalanced parenthesis it names the whole pattern. */
function placeOf(pattern: string, problem: string, piece: string): number {
  if (!problem.endsWith(')')) return piece === '' ? pattern.length - 1 : Math.max(0, pattern.indexOf(piece))
  const open: number[] = []
  // Escaped characters and whole [classes] are skipped.
  for (const { 0: part, index } of pattern.matchAll(/\\.|\[\^?\]?(?:\\.|[^\]\\])*\]?|[()]/gs)) {
    if (part === '(') open.push(index)
    else if (part === ')' && open.pop() === undefined) return index
  }
  return open.at(-1) ?? 0
}
