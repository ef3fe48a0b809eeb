/** Reads the output of `git log -z --format=raw [--numstat]` as a stream. */
import { type Commit, commitParser, decode, endOfLine, startsWith } from './commit-parser.ts'

export interface LogVisitor {
  commit(commit: Commit): void
  /** A file that the last commit changed. A binary file has no lines. `bytes` is its path as git stores it. */
  file(additions: number, deletions: number, path: string, bytes: Uint8Array): void
}

export interface LogReader {
  read(piece: Buffer): void
  /** To be called after the last piece. */
  end(): void
}

const NUL = 0
const TAB = 9
const SMALL_C = 99
const [COMMIT, INDENT] = ['commit ', '    '].map((word) => Buffer.from(word)) as [Buffer, Buffer]

export function logReader(visitor: LogVisitor): LogReader {
  /** The position at which the files of the last commit begin. An empty line separates them from the message. */
  let changesAt = 0
  const parse = commitParser((bytes, start, end, encoding) => {
    const messageEnd = endOfMessage(bytes, start, end)
    changesAt = messageEnd + (messageEnd > start ? 2 : 0)
    return decode(bytes, start + INDENT.length, messageEnd, encoding)
      .replaceAll('\n    ', '\n')
      .trimEnd()
  })
  /** Pieces of an entry that is not complete yet. */
  let begun: Buffer[] = []
  /** The number of entries still to come for a rename: the old path, then the new one. */
  let pathsToCome = 0
  let additions = 0
  let deletions = 0

  function entry(bytes: Buffer, start: number, end: number): void {
    if (pathsToCome > 0) {
      pathsToCome--
      if (pathsToCome === 0) pathEntry(bytes, start, end)
    } else if (start === end) {
      // Between the files of one commit and the next commit.
    } else if (bytes[start] === SMALL_C /* of "commit"; counts begin with a digit or a dash */) {
      commitEntry(bytes, start, end)
    } else fileEntry(bytes, start, end)
  }

  function commitEntry(bytes: Buffer, start: number, end: number): void {
    const headers = endOfLine(bytes, start, end) + 1
    visitor.commit(parse(bytes.toString('latin1', start + COMMIT.length, headers - 1), bytes, headers, end))
    if (changesAt < end) fileEntry(bytes, changesAt, end)
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

/** Finds the end of a message, in which every line is indented, even an empty one. */
function endOfMessage(bytes: Buffer, start: number, end: number): number {
  let at = start
  while (at < end && startsWith(bytes, at, INDENT)) at = endOfLine(bytes, at, end) + 1
  return at === start ? start : Math.min(at - 1, end)
}
