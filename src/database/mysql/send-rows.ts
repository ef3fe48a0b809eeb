/** Writes in bulk by statements with many rows, each within the packet size of the server. */

import { isUtf8 } from 'node:buffer'
import type { Pool } from 'mysql2'
import { byName } from '../../basics/by-name.ts'
import type { Database } from '../database.ts'
import { broughtBy, type Dialect, quoteAll } from '../dialect.ts'
import type { Cell } from '../fit.ts'
import { type CellRows, cellsOfRows, columnNames } from '../rows.ts'
import type { AnyTable } from '../table.ts'

/** Characters in strings that the SQL parser would interpret are escaped by a backslash. */
const ESCAPES: Record<string, string> = byName({ '\\': '\\\\', "'": "\\'", '\0': '\\0' })
const quoted = (text: string) =>
  /['\\\0]/.test(text) ? `'${text.replace(/['\\\0]/g, (each) => ESCAPES[each] as string)}'` : `'${text}'`
/** All rows of a writer have the same time in two columns, so its text is cached. */
const last: { moment: Date | undefined; spelled: string } = { moment: undefined, spelled: '' }
function spelled(moment: Date): string {
  if (moment === last.moment) return last.spelled
  const text = moment.toISOString()
  last.moment = moment
  // Sliced from the end, because the ISO form of years before 0 and after 9999 is longer.
  last.spelled = `'${text.slice(0, -14)} ${text.slice(-13, -1)}'`
  return last.spelled
}
function literal(cell: Cell): string {
  if (cell === null) return 'null'
  if (typeof cell === 'string') return quoted(cell)
  if (cell instanceof Date) return spelled(cell)
  // Hexadecimal is twice as long, and a statement must not exceed the packet size of the server.
  if (Buffer.isBuffer(cell)) return isUtf8(cell) ? `_binary${quoted(cell.toString())}` : `x'${cell.toString('hex')}'`
  return String(cell)
}

/** A statement consists of its head, rows with separators between them, and its tail. */
interface Shape {
  readonly head: string
  readonly row: (values: readonly string[]) => string
  readonly separator: string
  readonly tail: string
}

function insertion(dialect: Dialect, table: AnyTable, names: readonly string[], tail: string): Shape {
  const head = `insert into ${dialect.quote(table.name)} (${quoteAll(dialect, names)}) values `
  return { head, row: (values) => `(${values.join(',')})`, separator: ',', tail }
}

/** Sends the rows as a union whose first, empty select names the columns. The servers have different syntax for lists of values. */
function updating(dialect: Dialect, table: AnyTable, columns: readonly string[]): Shape {
  const { on, set } = broughtBy(dialect, table, 'target.')
  const names = columns.map((name) => `null as ${dialect.quote(name)}`)
  return {
    head: `update ${dialect.quote(table.name)} as target inner join (select ${names} from dual where 1 = 0 union all `,
    row: (values) => `select ${values.join(',')}`,
    separator: ' union all ',
    tail: `) as source on ${on} set ${set}`,
  }
}

export interface StatementSize {
  /** The size in bytes from which on a statement is sent. */
  readonly enough: number
  /** The largest size that the server accepts. */
  readonly most: number
  /** Makes the error for a row that is larger. */
  tooLarge(table: string, bytes: number): Error
}

export function insertWriter(
  pool: Pick<Pool, 'query'>,
  dialect: Dialect,
  allowed: StatementSize,
): Database['sendRows'] {
  // With null for the values, the driver does not search megabytes of text for placeholders.
  const send = (sql: string) =>
    new Promise<void>((resolve, reject) =>
      pool.query({ sql, values: null }, (error) => (error ? reject(error) : resolve())),
    )
  return async (rows, mode, before) => {
    const { table } = rows
    const names = columnNames(rows)
    const { head, row, separator, tail } =
      mode === 'update'
        ? updating(dialect, table, names)
        : insertion(dialect, table, names, mode === 'upsert' ? ` ${dialect.onExistingKey(table, names)}` : '')
    const around = Buffer.byteLength(head) + Buffer.byteLength(tail)
    let statement = ''
    let size = around
    let sending = before
    // On MySQL rows are always gathered as cells.
    for (const cells of cellsOfRows(rows as CellRows)) {
      const values = row(cells.map(literal))
      const bytes = Buffer.byteLength(values) + separator.length
      if (around + bytes > allowed.most) {
        await sending
        throw allowed.tooLarge(table.name, around + bytes)
      }
      if (statement !== '' && size + bytes > allowed.enough) {
        await sending
        sending = send(head + statement + tail)
        // Awaited before the next statement is sent. Until then a rejection must not count as unhandled.
        sending.catch(() => {})
        statement = ''
        size = around
      }
      statement += statement === '' ? values : separator + values
      size += bytes
    }
    await sending
    if (statement !== '') await send(head + statement + tail)
  }
}
