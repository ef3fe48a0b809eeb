/**
 * Parses single commits as git stores them: headers, an empty line, the message. A long history has only few authors, so objects
 * for people are reused.
 */
import { isUtf8 } from 'node:buffer'
import { TextDecoder } from 'node:util'

export interface Person {
  readonly name: string
  readonly email: string
}

export interface Commit {
  readonly sha: string
  readonly parents: readonly string[]
  readonly author: Person
  /** In seconds since 1970. NaN when it cannot be read, or lies outside the years 1 to 9999. */
  readonly authoredAt: number
  readonly committer: Person
  readonly committedAt: number
  readonly message: string
}

const NEWLINE = 10
const SPACE = 32
const DASH = 45
const [ZERO, NINE] = [48, 57]
const [OPEN, CLOSE] = [60, 62]
const REPLACEMENT = '\ufffd'

/** The decoder for the encoding that a commit names. Most commits are UTF-8 and name none. */
type Encoding = TextDecoder | undefined

const windows1252 = new TextDecoder('windows-1252')
/** Decodes text. Without a named encoding, text that is not UTF-8 is nearly always in Windows-1252, the old default of Western systems. */
export function decode(bytes: Buffer, start: number, end: number, encoding?: Encoding): string {
  if (encoding) return encoding.decode(bytes.subarray(start, end))
  const text = bytes.toString('utf8', start, end)
  if (!text.includes(REPLACEMENT)) return text
  const part = bytes.subarray(start, end)
  return isUtf8(part) ? text : windows1252.decode(part)
}

/** Returns undefined for UTF-8, and for unknown names. */
function encodingNamed(name: string): Encoding {
  try {
    const decoder = new TextDecoder(name)
    return decoder.encoding === 'utf-8' ? undefined : decoder
  } catch {
    return undefined
  }
}

const [PARENT, AUTHOR, COMMITTER, ENCODING] = ['parent ', 'author ', 'committer ', 'encoding '].map((word) =>
  Buffer.from(word),
) as [Buffer, Buffer, Buffer, Buffer]

export function startsWith(bytes: Buffer, at: number, word: Buffer): boolean {
  for (let index = 0; index < word.length; index++) if (bytes[at + index] !== word[index]) return false
  return true
}

export function endOfLine(bytes: Buffer, start: number, end: number): number {
  let at = start
  while (at < end && bytes[at] !== NEWLINE) at++
  return at
}

/** A range of bytes. */
interface Part {
  readonly start: number
  readonly end: number
}
const isSame = (bytes: Buffer, one: Part, other: Part): boolean => {
  if (one.end - one.start !== other.end - other.start) return false
  for (let at = one.start, to = other.start; at < one.end; at++, to++) if (bytes[at] !== bytes[to]) return false
  return true
}

/** Reads the message that begins at `start`. The commit ends at `end`. */
type MessageReader = (bytes: Buffer, start: number, end: number, encoding: Encoding) => string

/** Returns a function that parses a commit between the start of its headers and its end. */
export function commitParser(messageOf: MessageReader) {
  const personOf = peopleReader()
  return (sha: string, bytes: Buffer, start: number, end: number): Commit => {
    const parents: string[] = []
    let author: Part = NOWHERE
    let committer: Part = NOWHERE
    let authoredAt = Number.NaN
    let committedAt = Number.NaN
    let encoding: Encoding
    let at = start
    for (let stop: number; at < end && bytes[at] !== NEWLINE; at = stop + 1) {
      stop = endOfLine(bytes, at, end)
      // All other headers, and the lines that continue them, begin with other words.
      if (startsWith(bytes, at, PARENT)) parents.push(bytes.toString('latin1', at + PARENT.length, stop))
      else if (startsWith(bytes, at, AUTHOR)) {
        author = { start: at + AUTHOR.length, end: endOfPerson(bytes, at, stop) }
        authoredAt = readSeconds(bytes, author.end, stop)
      } else if (startsWith(bytes, at, COMMITTER)) {
        committer = { start: at + COMMITTER.length, end: endOfPerson(bytes, at, stop) }
        committedAt = readSeconds(bytes, committer.end, stop)
      } else if (startsWith(bytes, at, ENCODING)) {
        encoding = encodingNamed(bytes.toString('latin1', at + ENCODING.length, stop))
      }
    }
    const written = personOf(bytes, author, encoding)
    return {
      sha,
      parents,
      author: written,
      authoredAt,
      committer: isSame(bytes, author, committer) ? written : personOf(bytes, committer, encoding),
      committedAt,
      message: messageOf(bytes, Math.min(at + 1, end), end, encoding),
    }
  }
}

const NOWHERE: Part = { start: 0, end: 0 }
const FIRST_SECOND = -62_135_596_800
const LAST_SECOND = 253_402_300_799

/** Finds the end of the person in `Name <address> seconds zone`. Parts that old tools omitted or garbled are read as empty. */
function endOfPerson(bytes: Buffer, start: number, end: number): number {
  let close = end - 1
  while (close > start && bytes[close] !== CLOSE) close--
  return close > start ? close + 1 : end
}

function peopleReader(): (bytes: Buffer, part: Part, encoding: Encoding) => Person {
  const people = new Map<string, Person>()
  return (bytes, part, encoding) => {
    const text = bytes.toString('latin1', part.start, part.end)
    const key = encoding ? `${encoding.encoding}:${text}` : text
    let person = people.get(key)
    if (!person) {
      person = parsePerson(bytes, part, encoding)
      people.set(key, person)
    }
    return person
  }
}

function parsePerson(bytes: Buffer, { start, end }: Part, encoding: Encoding): Person {
  const within = (at: number) => at >= start && at < end
  const open = bytes.indexOf(OPEN, start)
  const close = bytes.indexOf(CLOSE, open)
  if (!within(open) || !within(close)) return { name: decode(bytes, start, end, encoding), email: '' }
  return {
    name: decode(bytes, start, open, encoding).trim(),
    email: decode(bytes, open + 1, close, encoding).trim(),
  }
}

/** Reads the number at the start, or NaN if there is none. */
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
