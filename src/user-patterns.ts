/**
 * Patterns that users write: RE2 syntax as in Go, linear time, searched unanchored. Linear is slow enough when a pattern is
 * large and a text is long, so nothing is matched in the thread that answers requests: tasks and heavy jobs do it in theirs.
 */
import { RE2JS } from 're2js'
import { besideAnswers, refuseWhileAnswering } from './answering.ts'
import { messageOf, UserError } from './errors.ts'

export type Pattern = RE2JS

/** Prepares rules to see whether they can be, or to read what is no pattern in them. Nothing is matched with what it gives. */
export const preparedOnly = <Result>(prepare: () => Result): Result => besideAnswers(prepare)

export interface PatternProblem {
  readonly message: string
  /** The character, from 0, that it is about. */
  readonly at: number
}

const LONGEST_PATTERN = 10_000
/** About as many steps as the compiled pattern has: with so many, compiling takes a few hundredths of a second. */
const LARGEST_PATTERN = 5000

/** What is wrong with a pattern; null: nothing. Takes a bounded time, so it may be asked anywhere. */
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

/** Refuses a pattern that cannot be used. Without a name, the caller says which setting holds it. */
export function checkPattern(pattern: string, name = '', largest = LARGEST_PATTERN): void {
  const problem = problemOf(pattern, largest)
  if (!problem) return
  const shown = JSON.stringify(pattern.length > 1000 ? `${pattern.slice(0, 1000)}…` : pattern)
  const place = `at character ${problem.at + 1}`
  throw new UserError(`${name && `${name}: `}the pattern ${shown} does not compile: ${problem.message} ${place}`)
}

/** To match with; not while a request is answered. */
export function compilePattern(pattern: string, name = ''): Pattern {
  refuseWhileAnswering("A user's pattern would be matched")
  checkPattern(pattern, name)
  return RE2JS.compile(pattern)
}

/** What an API key opens is looked at with every request, so it is small, and so is what it is compared with. */
const LARGEST_PATH_PATTERN = 500
export const LONGEST_MATCHED_PATH = 1000
export const checkPathPattern = (pattern: string): void => checkPattern(pattern, '', LARGEST_PATH_PATTERN)
/** Whether the pattern matches the whole of one of the paths; a path that is too long matches nothing. */
export function pathMatcher(pattern: string): (...paths: readonly string[]) => boolean {
  checkPathPattern(pattern)
  const compiled = RE2JS.compile(pattern)
  return (...paths) => paths.some((path) => path.length <= LONGEST_MATCHED_PATH && compiled.matcher(path).matches())
}

/** A pattern that this program wrote, from names at most; it is as small as those are. */
export const ownPattern = (pattern: string): Pattern => RE2JS.compile(pattern)

/** Classes of characters are tables; a letter is one step. */
const CLASS = 10
const UNICODE_CLASS = 50
/** One piece: an escape, a class, a repetition, or a character. */
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

/** RE2 names the piece that it cannot read; for a parenthesis without its other half it names the whole pattern. */
function placeOf(pattern: string, problem: string, piece: string): number {
  if (!problem.endsWith(')')) return piece === '' ? pattern.length - 1 : Math.max(0, pattern.indexOf(piece))
  const open: number[] = []
  // Escaped characters and those in [classes] are skipped whole.
  for (const { 0: part, index } of pattern.matchAll(/\\.|\[\^?\]?(?:\\.|[^\]\\])*\]?|[()]/gs)) {
    if (part === '(') open.push(index)
    else if (part === ')' && open.pop() === undefined) return index
  }
  return open.at(-1) ?? 0
}
