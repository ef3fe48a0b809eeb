/** Reads CSV files that users upload. An error gives the line and, if possible, the column. */
import { isUtf8 } from 'node:buffer'
import { Readable } from 'node:stream'
import { setImmediate as othersFirst } from 'node:timers/promises'
import { CsvError, type Parser, parse } from 'csv-parse'
import { refuseWhileAnswering } from '../../basics/answering.ts'
import { byName } from '../../basics/by-name.ts'
import { counted } from '../../basics/counted.ts'
import { RecordError, UserError } from '../../errors.ts'

export interface CsvRecord {
  /** The line where the record begins; the header is line 1. */
  readonly line: number
  readonly cells: Readonly<Record<string, string>>
}
export interface Csv {
  readonly header: readonly string[]
  readonly records: AsyncIterable<CsvRecord>
}

const PROBLEMS: Readonly<Record<string, string>> = byName({
  CSV_QUOTE_NOT_CLOSED: 'a quote is opened and never closed: close it, or write it twice ("") where it is meant.',
  CSV_INVALID_CLOSING_QUOTE: 'text follows a closing quote: write a quote inside quotes twice ("").',
  CSV_MAX_RECORD_SIZE: 'it is too long for one record: is a quote missing, or a line break?',
  INVALID_OPENING_QUOTE: 'a quote stands inside a cell without quotes: put the cell into quotes, the quote twice ("").',
})

/** More columns than any table has, including the fields that users add. */
const MOST_COLUMNS = 1000
const LONGEST_RECORD = 4_000_000

/** Bytes parsed at a time. A whole file would create a text for every cell at once, and no other request would be answered meanwhile. */
const PIECE = 1 << 16
async function* piecesOf(name: string, bytes: Buffer): AsyncGenerator<Buffer> {
  const cells = cellCounter(name, bytes)
  for (let start = 0; start < bytes.length; start += PIECE) {
    const end = Math.min(start + PIECE, bytes.length)
    cells.pass(end)
    yield bytes.subarray(start, end)
    await othersFirst()
  }
}

const [QUOTE, COMMA, LINE_FEED, RETURN] = Buffer.from('",\n\r')

/** Refuses a record with more cells than any table has columns, before it becomes millions of texts. */
function cellCounter(name: string, bytes: Buffer) {
  let position = 0
  let commas = 0
  let isQuoted = false
  return {
    pass(end: number): void {
      for (; position < end; position++) {
        const byte = bytes[position]
        if (byte === QUOTE) isQuoted = !isQuoted
        else if (isQuoted) continue
        else if (byte === LINE_FEED || byte === RETURN) commas = 0
        else if (byte === COMMA && ++commas >= MOST_COLUMNS) {
          const most = `it has more than ${MOST_COLUMNS} cells: remove some.`
          throw lineError(name, lineAt(bytes, position), most)
        }
      }
    },
  }
}

/** Counts lines up to ever later positions. The parser's own count takes a CRLF inside quotes for two lines. */
function lineCounter(bytes: Buffer) {
  let line = 1
  let position = 0
  const isBreak = (byte: number | undefined) => byte === 10 || byte === 13
  const pass = (end: number) => {
    for (; position < end; position++) {
      if (isBreak(bytes[position]) && !(bytes[position] === 13 && bytes[position + 1] === 10)) line++
    }
  }
  return {
    pass,
    /** The line of the record that begins at this position, or after empty lines. */
    next(): number {
      while (isBreak(bytes[position])) pass(position + 1)
      return line
    },
  }
}

function lineAt(bytes: Buffer, position: number): number {
  const counter = lineCounter(bytes)
  counter.pass(position)
  return counter.next()
}

/** Connects the pieces to the parser, which also reports errors while they are read. */
function pipedTo(parser: Parser, pieces: Readable): Parser {
  pieces.once('error', (error) => parser.destroy(error))
  return pieces.pipe(parser)
}

const BYTE_ORDER_MARK = Buffer.from('\ufeff')

interface Line {
  readonly line: number
  readonly record: readonly string[]
}

/** Opens a CSV file. `textOf` is applied to each cell of the records. */
export async function openCsv(
  name: string,
  file: Buffer,
  textOf: (cell: string) => string = (cell) => cell,
): Promise<Csv> {
  refuseWhileAnswering('A CSV file would be read')
  if (!isUtf8(file)) throw new UserError(`${name} is not UTF-8 text: save it as "CSV UTF-8".`)
  const bytes = file.subarray(file.indexOf(BYTE_ORDER_MARK) === 0 ? BYTE_ORDER_MARK.length : 0)
  const nul = bytes.indexOf(0)
  if (nul >= 0) throw lineError(name, lineAt(bytes, nul), 'it contains a NUL character: take it out.')
  const counter = lineCounter(bytes)
  const parser = parse({
    skip_empty_lines: true,
    relax_column_count: true,
    max_record_size: LONGEST_RECORD,
    record_delimiter: ['\r\n', '\n', '\r'],
    on_record(record: string[], { bytes: end }) {
      const made: Line = { line: counter.next(), record }
      counter.pass(end)
      // The parser accepts any result here, but its type allows only the original one.
      return made as unknown as string[]
    },
  })
  const lines: AsyncIterator<Line, undefined> = pipedTo(parser, Readable.from(piecesOf(name, bytes)))[
    Symbol.asyncIterator
  ]()
  const next = async () => {
    const { value } = await lines.next().catch((error) => {
      if (!(error instanceof CsvError)) throw error
      throw lineError(name, counter.next(), PROBLEMS[error.code] ?? error.message)
    })
    return value
  }
  const first = await next()
  if (!first) throw new UserError(`${name} is empty: its first line must name the columns.`)
  const header = first.record.map((cell) => cell.trim())
  const twice = header.find((cell, index) => header.indexOf(cell) !== index)
  if (twice !== undefined) throw new UserError(`${name} has the column "${twice}" twice: keep one of them.`)

  async function* records(): AsyncGenerator<CsvRecord> {
    for (let each = await next(); each; each = await next()) {
      const { line, record } = each
      // Spreadsheets write such lines for rows whose cells were cleared.
      if (record.every((cell) => cell === '')) continue
      if (record.length !== header.length) {
        const counts = `it has ${counted(record.length, 'cell')}, the first line has ${header.length}`
        throw lineError(name, line, `${counts}: put cells that contain commas into quotes.`)
      }
      yield {
        line,
        cells: Object.fromEntries(header.map((column, index) => [column, textOf(record[index] as string)])),
      }
    }
  }
  return { header, records: records() }
}

/** Refuses unknown columns and missing required columns. */
export function requireColumns(
  name: string,
  header: readonly string[],
  { known, needed }: { readonly known: readonly string[]; readonly needed: readonly string[] },
): void {
  const [only = ''] = header
  if (header.length === 1 && /[;\t]/.test(only)) {
    throw new UserError(`${name} has one column, "${only}": separate columns by commas.`)
  }
  const unknown = header.find((column) => !known.includes(column))
  if (unknown !== undefined) {
    throw new UserError(`${name} has the unknown column "${unknown}". It may have: ${known.join(', ')}.`)
  }
  const missing = needed.find((column) => !header.includes(column))
  if (missing !== undefined) throw new UserError(`${name} lacks the column ${missing}: add it to the first line.`)
}

export const lineError = (name: string, line: number, message: string): UserError =>
  new UserError(`${name}, line ${line}: ${message} Nothing was imported.`)

/** Runs `make` for a record. An error about a value gives its line and column; `nameOf` gives the column's name in the file. */
export function onLine<Result>(
  name: string,
  { line }: CsvRecord,
  make: () => Result,
  nameOf: (column: string) => string = (column) => column,
): Result {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof RecordError)) throw error
    // `issues.story_point: "x" is not a number`
    const [, column = '', problem = error.message] = /^[^.:]*\.(\w+): (.*)$/s.exec(error.message) ?? []
    throw lineError(name, line, `column ${nameOf(column)}: ${problem}.`)
  }
}
