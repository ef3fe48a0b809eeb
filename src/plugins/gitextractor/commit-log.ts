/**
 * Reads the output of `git log -z --format=raw [--numstat]`, piece by piece, as it comes. Histories are long and their
 * people few: who wrote a commit is looked up, not made anew.
 */
import { isUtf8 } from 'node:buffer'

export interface Person {
  readonly name: string
  readonly email: string
}

export interface Commit {
  readonly sha: string
  readonly parents: readonly string[]
  readonly author: Person
  /** In seconds since 1970; NaN when it cannot be told, or lies outside the years 1 to 9999. */
  readonly authoredAt: number
  readonly committer: Person
  readonly committedAt: number
  readonly message: string
}

export interface LogVisitor {
  commit(commit: Commit): void
  /** A file that the last commit changed; binary ones have no lines. `bytes` is its path as git has it. */
  file(additions: number, deletions: number, path: string, bytes: Uint8Array): void
}

const NUL = 0
const TAB = 9
const NEWLINE = 10
const SPACE = 32
const DASH = 45
const [ZERO, NINE] = [48, 57]
const [OPEN, CLOSE] = [60, 62]
const SMALL_C = 99
const REPLACEMENT = '\ufffd'

const windows1252 = new TextDecoder('windows-1252')
/** Git does not say how bytes were meant; what is not UTF-8 is nearly always the old default of Western systems. */
function decode(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString('utf8', start, end)
  if (!text.includes(REPLACEMENT)) return text
  const part = bytes.subarray(start, end)
  return isUtf8(part) ? text : windows1252.decode(part)
}

export interface LogReader {
  read(piece: Buffer): void
  /** After the last piece. */
  end(): void
}

export function logReader(visitor: LogVisitor): LogReader {
  const parseCommit = commitParser(visitor)
  /** Pieces of an entry whose end has not come yet. */
  let begun: Buffer[] = []
  /** Entries still to come that belong to a rename: the old path, then the new. */
  let pathsToCome = 0
  let additions = 0
  let deletions = 0

  function entry(bytes: Buffer, start: number, end: number): void {
    if (pathsToCome > 0) {
      pathsToCome--
      if (pathsToCome === 0) pathEntry(bytes, start, end)
    } else if (start === end) {
      // Between the files of one commit and the next commit.
    } else if (bytes[start] === SMALL_C /* of commit; counts begin with a digit or a dash */) {
      const changesAt = parseCommit(bytes, start, end)
      if (changesAt < end) fileEntry(bytes, changesAt, end)
    } else fileEntry(bytes, start, end)
  }

  function fileEntry(bytes: Buffer, start: number, end: number): void {
    const first = bytes.indexOf(TAB, start)
    const second = bytes.indexOf(TAB, first + 1)
    additions = Number(bytes.toString('latin1', start, first)) || 0
    deletions = Number(bytes.toString('latin1', first + 1, second)) || 0
    if (second + 1 === end) pathsToCome = 2
    else pathEntry(bytes, second + 1, end)
  }

  function pathEntry(bytes: Buffer, start: number, end: number): void {
    visitor.file(additions, deletions, decode(bytes, start, end), bytes.subarray(start, end))
  }

  return {
    read(piece) {
      let start = 0
      for (let end = piece.indexOf(NUL); end >= 0; end = piece.indexOf(NUL, start)) {
        if (begun.length === 0) entry(piece, start, end)
        else {
          const whole = Buffer.concat([...begun, piece.subarray(start, end)])
          begun = []
          entry(whole, 0, whole.length)
        }
        start = end + 1
      }
      if (start < piece.length) begun.push(piece.subarray(start))
    },
    end() {
      const whole = Buffer.concat(begun)
      if (whole.length > 0) entry(whole, 0, whole.length)
      begun = []
    },
  }
}

const [COMMIT, PARENT, AUTHOR, COMMITTER, INDENT] = ['commit ', 'parent ', 'author ', 'committer ', '    '].map(
  (word) => Buffer.from(word),
) as [Buffer, Buffer, Buffer, Buffer, Buffer]

function startsWith(bytes: Buffer, at: number, word: Buffer): boolean {
  for (let index = 0; index < word.length; index++) if (bytes[at + index] !== word[index]) return false
  return true
}

function endOfLine(bytes: Buffer, start: number, end: number): number {
  let at = start
  while (at < end && bytes[at] !== NEWLINE) at++
  return at
}

const NOBODY: Person = { name: '', email: '' }

/** Gives where the first file begins, which git separates from its commit by an empty line only. */
function commitParser(visitor: LogVisitor): (bytes: Buffer, start: number, end: number) => number {
  const personOf = peopleReader()
  return (bytes, start, end) => {
    const parents: string[] = []
    let author = NOBODY
    let authoredAt = Number.NaN
    let committer = NOBODY
    let committedAt = Number.NaN
    let at = endOfLine(bytes, start, end)
    const sha = bytes.toString('latin1', start + COMMIT.length, at)
    at++
    for (let stop: number; at < end && bytes[at] !== NEWLINE; at = stop + 1) {
      stop = endOfLine(bytes, at, end)
      // Other headers, and the lines that continue them, begin otherwise.
      if (startsWith(bytes, at, PARENT)) parents.push(bytes.toString('latin1', at + PARENT.length, stop))
      else if (startsWith(bytes, at, AUTHOR)) {
        const nameEnd = endOfPerson(bytes, at, stop)
        author = personOf(bytes, at + AUTHOR.length, nameEnd)
        authoredAt = readSeconds(bytes, nameEnd, stop)
      } else if (startsWith(bytes, at, COMMITTER)) {
        const nameEnd = endOfPerson(bytes, at, stop)
        committer = personOf(bytes, at + COMMITTER.length, nameEnd)
        committedAt = readSeconds(bytes, nameEnd, stop)
      }
    }
    const messageStart = Math.min(at + 1, end)
    const messageEnd = endOfMessage(bytes, messageStart, end)
    const message = decode(bytes, messageStart + INDENT.length, messageEnd)
      .replaceAll('\n    ', '\n')
      .trimEnd()
    visitor.commit({ sha, parents, author, authoredAt, committer, committedAt, message })
    return messageEnd + (messageEnd > messageStart ? 2 : 0)
  }
}

/** Every line of a message is indented, also an empty one. */
function endOfMessage(bytes: Buffer, start: number, end: number): number {
  let at = start
  while (at < end && startsWith(bytes, at, INDENT)) at = endOfLine(bytes, at, end) + 1
  return at === start ? start : Math.min(at - 1, end)
}

const FIRST_SECOND = -62_135_596_800
const LAST_SECOND = 253_402_300_799

/** A signature is `Name <address> seconds zone`; what old tools left out or garbled is empty. */
function endOfPerson(bytes: Buffer, start: number, end: number): number {
  let close = end - 1
  while (close > start && bytes[close] !== CLOSE) close--
  return close > start ? close + 1 : end
}

function peopleReader(): (bytes: Buffer, start: number, end: number) => Person {
  const people = new Map<string, Person>()
  return (bytes, start, end) => {
    const key = bytes.toString('latin1', start, end)
    let person = people.get(key)
    if (!person) {
      person = parsePerson(bytes, start, end)
      people.set(key, person)
    }
    return person
  }
}

function parsePerson(bytes: Buffer, start: number, end: number): Person {
  const within = (at: number) => at >= start && at < end
  const open = bytes.indexOf(OPEN, start)
  const close = bytes.indexOf(CLOSE, open)
  if (!within(open) || !within(close)) return { name: decode(bytes, start, end), email: '' }
  return { name: decode(bytes, start, open).trim(), email: decode(bytes, open + 1, close).trim() }
}

/** The number that stands first; NaN when none does. */
function readSeconds(bytes: Buffer, start: number, end: number): number {
  let at = start
  while (at < end && bytes[at] === SPACE) at++
  const isNegative = bytes[at] === DASH
  if (isNegative) at++
  const first = at
  let seconds = 0
  for (; at < end; at++) {
    const digit = bytes[at] as number
    if (digit < ZERO || digit > NINE) break
    seconds = seconds * 10 + (digit - ZERO)
  }
  if (isNegative) seconds = -seconds
  return at > first && seconds >= FIRST_SECOND && seconds <= LAST_SECOND ? seconds : Number.NaN
}

export const dateOf = (seconds: number): Date | null => (Number.isNaN(seconds) ? null : new Date(seconds * 1000))
