/** Encodes rows in the binary format of COPY, which the server does not have to parse as text. */

import pg from 'pg'
import type { AnyValue } from '../column.ts'
import type { Cell } from '../fit.ts'
import { type CellRows, type EncodedRows, type Gathering, layoutOf, type RowColumns, type RowShape } from '../rows.ts'
import type { AnyColumns, Column, Kind } from '../table.ts'

/** COPY accepts any number of bytes. Pieces of this size limit the memory whatever the rows contain. */
const PIECE = 1 << 18
const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')

const NULL = -1
const WORD = 2 ** 32
/** PostgreSQL counts microseconds and days from the start of the year 2000. */
const EPOCH = Date.UTC(2000, 0, 1)
const DAY = 86_400_000
/** Within this many milliseconds of the epoch, the microseconds are exact in a double. */
const NEAR = Math.floor(Number.MAX_SAFE_INTEGER / 1000)
/** The most bytes for length and value of any cell. Texts and bytes reserve their own space. */
const LONGEST_FIXED = 12
/** Up to this length a loop is faster than the call that encodes a text. */
const SHORT = 16

const { VARCHAR, TEXT, INT4, INT8, FLOAT8, BOOL, TIMESTAMPTZ, DATE, JSONB, BYTEA } = pg.types.builtins
/** The PostgreSQL types that read the bytes of each kind correctly. */
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
  /** Returns the pieces that have become full since the last call. */
  full(): Buffer[]
  /** Returns the content of the last piece, which is not full. */
  rest(): Buffer
}

/** `head` is written before the first row and `tail` after each row. The pieces in `free` are reused first. */
function encoderOf(kinds: readonly Kind[], head: Buffer, tail: Buffer, free: Buffer[] = []): Encoder {
  let full: Buffer[] = []
  let piece = free.pop() ?? Buffer.allocUnsafe(PIECE)
  let used = head.copy(piece)

  function reserve(bytes: number): void {
    if (used + bytes <= piece.length) return
    full.push(piece.subarray(0, used))
    piece = (bytes <= PIECE && free.pop()) || Buffer.allocUnsafe(Math.max(PIECE, bytes))
    used = 0
  }
  function put32(value: number): void {
    piece[used++] = value >>> 24
    piece[used++] = value >>> 16
    piece[used++] = value >>> 8
    piece[used++] = value
  }
  function put64(value: number | bigint): void {
    put32(8)
    if (typeof value === 'bigint') used = piece.writeBigInt64BE(value, used)
    else {
      const high = Math.floor(value / WORD)
      put32(high)
      put32(value - high * WORD)
    }
  }
  /** `prefix` is a byte before the text; none when negative. */
  function putText(text: string, prefix = -1): void {
    const { length } = text
    reserve(5 + length * 3)
    const start = used
    used += 4
    if (prefix >= 0) piece[used++] = prefix
    let at = used
    if (length <= SHORT) {
      for (let index = 0; index < length; index++) {
        const code = text.charCodeAt(index)
        if (code > 0x7f) {
          at = used + piece.write(text, used)
          break
        }
        piece[at++] = code
      }
    } else at += piece.write(text, at)
    used = start
    put32(at - start - 4)
    used = at
  }
  function putMoment(moment: Date): void {
    const time = moment.getTime() - EPOCH
    put64(Math.abs(time) < NEAR ? time * 1000 : BigInt(time) * 1000n)
  }
  const put: Record<Kind, (cell: AnyValue) => void> = {
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
      for (let index = 0; index < columns.length; index++) {
        reserve(LONGEST_FIXED)
        const cell = cells[index] as Cell
        if (cell === null) put32(NULL)
        else columns[index]?.(cell)
      }
      reserve(tail.length)
      piece.set(tail, used)
      used += tail.length
    },
    full() {
      const taken = full
      full = []
      return taken
    },
    rest: () => piece.subarray(0, used),
  }
}

const NOTHING = Buffer.alloc(0)

function encodeOnce(kinds: readonly Kind[], cells: readonly Cell[]): Buffer {
  if (cells.length === 0) return NOTHING
  const encoder = encoderOf(kinds, NOTHING, NOTHING)
  encoder.row(cells)
  return Buffer.concat([...encoder.full(), encoder.rest()])
}

const word16 = (value: number) => {
  const word = Buffer.alloc(2)
  word.writeInt16BE(value)
  return word
}
/** The end marker, in the place where the next row would give its number of columns. */
const END = word16(-1)

/** Collects the data of one COPY. */
interface Copying {
  readonly row: (cells: readonly Cell[]) => void
  readonly full: () => Buffer[]
  /** Ends the data and returns the last piece. */
  readonly end: () => Buffer
}

/** Returns a function that begins a new COPY at each call. */
function copyingOf({ table, names, shared }: RowColumns, free: Buffer[] = []): () => Copying {
  const kindOf = (name: string) => (table.columns[name] as Column).kind
  const kinds = names.map(kindOf)
  const begin = word16(names.length + shared.length)
  const alike = encodeOnce(
    shared.map(({ name }) => kindOf(name)),
    shared.map(({ cell }) => cell),
  )
  const [head, tail] = [Buffer.concat([SIGNATURE, begin]), Buffer.concat([alike, begin])]
  return () => {
    const { row, full, rest } = encoderOf(kinds, head, tail, free)
    const end = () => {
      const last = rest()
      last.set(END, last.length - begin.length)
      return last
    }
    return { row, full, end }
  }
}

export function* binaryRows(rows: CellRows): Generator<Buffer> {
  const { row, full, end } = copyingOf(rows)()
  for (let index = 0; index < rows.length; index++) {
    row(rows.at(index))
    yield* full()
  }
  yield end()
}

/**
 * Keeps only the bytes of each row. Rows kept as objects until a batch is full would cost more in garbage collection than in
 * creation.
 */
export function gatherBinary<Item>(shape: RowShape<AnyColumns, Item>): Gathering<Item> {
  const { columns, cellsOf } = layoutOf(shape)
  const free: Buffer[] = []
  const begin = copyingOf(columns, free)
  let copying = begin()
  let length = 0
  return {
    add(item) {
      copying.row(cellsOf(item))
      length++
    },
    take() {
      const taken = { ...columns, length, encoded: [...copying.full(), copying.end()] }
      copying = begin()
      length = 0
      return taken
    },
    release(rows) {
      for (const { buffer } of (rows as EncodedRows).encoded) {
        if (buffer.byteLength === PIECE) free.push(Buffer.from(buffer))
      }
    },
  }
}
