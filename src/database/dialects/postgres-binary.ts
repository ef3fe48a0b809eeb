/** Rows in COPY's binary format, which the server takes as they are instead of reading them out of text. */
import pg from 'pg'
import type { Cell } from '../fit.ts'
import type { Kind } from '../table.ts'

/** COPY takes any number of bytes; pieces of this size keep memory bounded whatever the rows are. */
const PIECE = 1 << 16
const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')

const NULL = -1
const WORD = 2 ** 32
/** PostgreSQL counts microseconds and days from the year 2000. */
const EPOCH = Date.UTC(2000, 0, 1)
const DAY = 86_400_000
/** Of moments nearer than this, microseconds are whole numbers that a double holds. */
const NEAR = Math.floor(Number.MAX_SAFE_INTEGER / 1000)
/** Length and value of any cell but texts and bytes, which reserve for themselves. */
const LONGEST_FIXED = 12
/** Up to this length a loop is quicker than the call that encodes a text. */
const SHORT = 64

const { VARCHAR, TEXT, INT4, INT8, FLOAT8, BOOL, TIMESTAMPTZ, DATE, JSONB, BYTEA } = pg.types.builtins
/** Types that read the bytes of a kind as they are meant. */
const READERS: Record<Kind, readonly number[]> = {
  string: [VARCHAR, TEXT],
  text: [TEXT, VARCHAR],
  integer: [INT4],
  bigint: [INT8],
  double: [FLOAT8],
  boolean: [BOOL],
  timestamp: [TIMESTAMPTZ],
  date: [DATE],
  json: [JSONB],
  bytes: [BYTEA],
}
export const isBinaryOf = (type: number, kind: Kind): boolean => READERS[kind].includes(type)

interface Encoder {
  row(cells: readonly Cell[]): void
  end(): void
  /** Gives pieces that are full, once. */
  full(): Buffer[]
}

function encoderOf(kinds: readonly Kind[], positions: readonly number[]): Encoder {
  let full: Buffer[] = []
  let piece = Buffer.allocUnsafe(PIECE)
  let used = SIGNATURE.copy(piece)

  function reserve(bytes: number): void {
    if (used + bytes <= piece.length) return
    full.push(piece.subarray(0, used))
    piece = Buffer.allocUnsafe(Math.max(PIECE, bytes))
    used = 0
  }
  const put32 = (value: number) => {
    used = piece.writeInt32BE(value, used)
  }
  function put64(value: number | bigint): void {
    put32(8)
    if (typeof value === 'bigint') used = piece.writeBigInt64BE(value, used)
    else {
      const high = Math.floor(value / WORD)
      used = piece.writeInt32BE(high, used)
      used = piece.writeUInt32BE(value - high * WORD, used)
    }
  }
  /** `prefix`: a byte before the text, or none when negative. */
  function putText(text: string, prefix = -1): void {
    reserve(5 + text.length * 3)
    const start = used
    used += 4
    if (prefix >= 0) piece[used++] = prefix
    let at = used
    if (text.length <= SHORT) {
      for (let index = 0; index < text.length; index++) {
        const code = text.charCodeAt(index)
        if (code > 0x7f) {
          at = used + piece.write(text, used)
          break
        }
        piece[at++] = code
      }
    } else at += piece.write(text, at)
    piece.writeInt32BE(at - start - 4, start)
    used = at
  }
  function putMoment(moment: Date): void {
    const time = moment.getTime() - EPOCH
    put64(Math.abs(time) < NEAR ? time * 1000 : BigInt(time) * 1000n)
  }
  const put: Record<Kind, (cell: any) => void> = {
    string: putText,
    text: putText,
    json: (text: string) => putText(text, 1),
    integer(value: number) {
      put32(4)
      put32(value)
    },
    bigint: put64,
    double(value: number) {
      put32(8)
      used = piece.writeDoubleBE(value, used)
    },
    boolean(value: boolean) {
      put32(1)
      piece[used++] = value ? 1 : 0
    },
    timestamp: putMoment,
    date(day: Date) {
      put32(4)
      put32(Math.floor((day.getTime() - EPOCH) / DAY))
    },
    bytes(content: Buffer) {
      reserve(4 + content.length)
      put32(content.length)
      used += content.copy(piece, used)
    },
  }
  const columns = kinds.map((kind) => put[kind])
  return {
    row(cells) {
      reserve(2)
      used = piece.writeInt16BE(columns.length, used)
      for (let index = 0; index < columns.length; index++) {
        reserve(LONGEST_FIXED)
        const cell = cells[positions[index] as number] as Cell
        if (cell === null) put32(NULL)
        else columns[index]?.(cell)
      }
    },
    end() {
      reserve(2)
      used = piece.writeInt16BE(-1, used)
      full.push(piece.subarray(0, used))
    },
    full() {
      const taken = full
      full = []
      return taken
    },
  }
}

/** The cells at `positions` of each row, with the kinds of their columns. */
export function* binaryRows(
  rows: readonly (readonly Cell[])[],
  kinds: readonly Kind[],
  positions: readonly number[],
): Generator<Buffer> {
  const encoder = encoderOf(kinds, positions)
  for (const cells of rows) {
    encoder.row(cells)
    yield* encoder.full()
  }
  encoder.end()
  yield* encoder.full()
}
