/**
 * Reads the commits in the output of `git cat-file --batch` as a stream. Each object is a line with its sha, type and size, then
 * its bytes, then a newline.
 */
import type { LogReader, LogVisitor } from './commit-log.ts'
import { commitParser, decode } from './commit-parser.ts'

const NEWLINE = 10
const SPACE = 32
const ZERO = 48
const SMALL_C = 99
const SHA = 40

export function objectReader(visitor: Pick<LogVisitor, 'commit'>): LogReader {
  const parse = commitParser((bytes, start, end, encoding) => asLogged(decode(bytes, start, end, encoding)))
  /** Pieces of an object that is not complete yet, and the number of bytes still to come. With 0, not even its size is known. */
  let begun: Buffer[] = []
  let missing = 0

  /** Returns the end of the object that begins at `start`. Undefined if its first line is not complete. */
  function endOf(bytes: Buffer, start: number): number | undefined {
    const line = bytes.indexOf(NEWLINE, start)
    if (line < 0) return undefined
    let size = 0
    for (let at = bytes.lastIndexOf(SPACE, line) + 1; at < line; at++) size = size * 10 + (bytes[at] as number) - ZERO
    return line + 1 + size + 1
  }

  function object(bytes: Buffer, start: number, end: number): void {
    if (bytes[start + SHA + 1] !== SMALL_C /* of "commit"; the others are tree, blob and tag */) return
    const sha = bytes.toString('latin1', start, start + SHA)
    visitor.commit(parse(sha, bytes, bytes.indexOf(NEWLINE, start) + 1, end - 1))
  }

  return {
    read(piece) {
      if (piece.length < missing) {
        begun.push(piece)
        missing -= piece.length
        return
      }
      let bytes = piece
      let start = missing
      if (missing > 0) {
        const whole = Buffer.concat([...begun, piece.subarray(0, missing)])
        object(whole, 0, whole.length)
      } else if (begun.length > 0) bytes = Buffer.concat([...begun, piece])
      for (;;) {
        const end = endOf(bytes, start)
        if (end === undefined || end > bytes.length) {
          begun = start < bytes.length ? [bytes.subarray(start)] : []
          missing = end === undefined ? 0 : end - bytes.length
          return
        }
        object(bytes, start, end)
        start = end
      }
    },
    end() {},
  }
}

const SPACES = ' \t\r'
/** Tells whether no line ends with spaces, and the first line is not empty. */
function isTidy(text: string): boolean {
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
    if (at === 0 || SPACES.includes(text[at - 1] as string)) return false
  }
  return true
}

/** Returns a message as `git log` shows it: without leading empty lines, spaces at line ends, and everything from a NUL on. */
function asLogged(text: string): string {
  const nul = text.indexOf('\0')
  const whole = (nul < 0 ? text : text.slice(0, nul)).trimEnd()
  return isTidy(whole) ? whole : whole.replace(/(?<![ \t\r])[ \t\r]+(?=\n)/g, '').replace(/^\n+/, '')
}
