/** Reads the output of `git log -z --format=raw [--numstat]`, piece by piece, as it comes. */
import { isUtf8 } from 'node:buffer'

export interface Ident {
  readonly name: string
  readonly email: string
  /** Null when it cannot be told, or lies outside the years 1 to 9999. */
  readonly date: Date | null
}

export interface Commit {
  readonly sha: string
  readonly parents: readonly string[]
  readonly author: Ident
  readonly committer: Ident
  readonly message: string
}

export interface LogVisitor {
  commit(commit: Commit): void
  /** A file that the last commit changed; binary ones have no lines. `bytes` is its path as git has it. */
  file(additions: number, deletions: number, path: string, bytes: Uint8Array): void
}

const NUL = 0
const NEWLINE = 10
const REPLACEMENT = '\ufffd'

const windows1252 = new TextDecoder('windows-1252')
/** Git does not say how bytes were meant; what is not UTF-8 is nearly always the old default of Western systems. */
const decode = (bytes: Uint8Array): string =>
  isUtf8(bytes) ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString() : windows1252.decode(bytes)

export interface LogReader {
  read(piece: Buffer): void
  /** After the last piece. */
  end(): void
}

export function logReader(visitor: LogVisitor): LogReader {
  /** Pieces of an entry whose end has not come yet. */
  let begun: Buffer[] = []
  /** Entries still to come that belong to a rename: the old path, then the new. */
  let pathsToCome = 0
  let counts: [additions: number, deletions: number] = [0, 0]

  function entry(bytes: Buffer): void {
    if (pathsToCome > 0) {
      pathsToCome--
      if (pathsToCome === 0) visitor.file(...counts, decode(bytes), bytes)
    } else if (bytes.length === 0) {
      // Between the files of one commit and the next commit.
    } else if (bytes[0] === 0x63 /* c of commit; counts begin with a digit or a dash */) {
      const changesAt = commitEntry(bytes)
      if (changesAt < bytes.length) fileEntry(bytes.subarray(changesAt))
    } else fileEntry(bytes)
  }

  /** Gives the position where the first file begins: git separates it from its commit by an empty line only. */
  function commitEntry(bytes: Buffer): number {
    const text = bytes.toString()
    const isExact = !text.includes(REPLACEMENT) || isUtf8(bytes)
    const [commit, end] = isExact ? parseCommit(text, same) : parseCommit(bytes.toString('latin1'), fromLatin1)
    visitor.commit(commit)
    const rest = (isExact ? text : bytes.toString('latin1')).length - end
    if (rest === 0) return bytes.length
    // What follows has no NUL and is short; its length in bytes is found from the end.
    return bytes.length - (isExact ? Buffer.byteLength(text.slice(end)) : rest)
  }

  function fileEntry(bytes: Buffer): void {
    const first = bytes.indexOf(9)
    const second = bytes.indexOf(9, first + 1)
    counts = [Number(bytes.toString('latin1', 0, first)) || 0, Number(bytes.toString('latin1', first + 1, second)) || 0]
    const path = bytes.subarray(second + 1)
    if (path.length === 0) pathsToCome = 2
    else visitor.file(...counts, decode(path), path)
  }

  return {
    read(piece) {
      let start = 0
      for (let end = piece.indexOf(NUL); end >= 0; end = piece.indexOf(NUL, start)) {
        const bytes = piece.subarray(start, end)
        start = end + 1
        if (begun.length === 0) entry(bytes)
        else {
          begun.push(bytes)
          const whole = Buffer.concat(begun)
          begun = []
          entry(whole)
        }
      }
      if (start < piece.length) begun.push(piece.subarray(start))
    },
    end() {
      if (begun.length > 0) entry(Buffer.concat(begun))
      begun = []
    },
  }
}

const same = (text: string) => text
const fromLatin1 = (text: string) => decode(Buffer.from(text, 'latin1'))

/** The commit, and where its text ends: at the end, or where the first changed file begins. */
function parseCommit(text: string, decoded: (text: string) => string): [commit: Commit, end: number] {
  const parents: string[] = []
  let author = NOBODY
  let committer = NOBODY
  let at = text.indexOf('\n')
  const sha = text.slice('commit '.length, at)
  at++
  for (let end: number; at < text.length && text.charCodeAt(at) !== NEWLINE; at = end + 1) {
    end = text.indexOf('\n', at)
    if (end < 0) end = text.length
    // Other headers, and the lines that continue them, begin otherwise.
    if (text.startsWith('parent ', at)) parents.push(text.slice(at + 7, end))
    else if (text.startsWith('author ', at)) author = parseIdent(text.slice(at + 7, end), decoded)
    else if (text.startsWith('committer ', at)) committer = parseIdent(text.slice(at + 10, end), decoded)
  }
  at++
  let message = ''
  if (text.startsWith('    ', at)) {
    // Every line of it is indented, also an empty one.
    const found = text.indexOf('\n\n', at)
    const end = found < 0 ? text.length : found
    message = text
      .slice(at + 4, end)
      .replaceAll('\n    ', '\n')
      .trimEnd()
    at = end + 2
  }
  return [{ sha, parents, author, committer, message: decoded(message) }, Math.min(at, text.length)]
}

const NOBODY: Ident = { name: '', email: '', date: null }
const FIRST_SECOND = -62_135_596_800
const LAST_SECOND = 253_402_300_799

/** `Name <address> seconds zone`; what old tools left out or garbled is empty. */
function parseIdent(text: string, decoded: (text: string) => string): Ident {
  const open = text.indexOf('<')
  const close = text.indexOf('>', open)
  if (open < 0 || close < 0) return { name: decoded(text), email: '', date: null }
  const [, digits] = /^\s*(-?\d+)/.exec(text.slice(text.lastIndexOf('>') + 1)) ?? []
  const seconds = digits === undefined ? Number.NaN : Number(digits)
  return {
    name: decoded(text.slice(0, open).trim()),
    email: decoded(text.slice(open + 1, close).trim()),
    date: seconds >= FIRST_SECOND && seconds <= LAST_SECOND ? new Date(seconds * 1000) : null,
  }
}
