/** Bulk writing by statements of many rows, each within what the server takes in one packet. */

import { isUtf8 } from 'node:buffer'
import type { Pool } from 'mysql2'
import { byName } from '../../by-name.ts'
import type { Database } from '../database.ts'
import { broughtBy, type Dialect, quoteAll } from '../dialect.ts'
import type { Cell } from '../fit.ts'
import { type CellRows, cellsOfRows, columnNames } from '../rows.ts'
import type { AnyTable } from '../table.ts'

/** Strings are quoted with a backslash before what the parser would take for its own. */
const ESCAPES: Record<string, string> = byName({ '\\': '\\\\', "'": "\\'", '\0': '\\0' })
const quoted = (text: string) =>
  /['\\\0]/.test(text) ? `'${text.replace(/['\\\0]/g, (each) => ESCAPES[each] as string)}'` : `'${text}'`
/** All rows of a writer bear the same moment, twice: it is spelled once. */
const last: { moment: Date | undefined; spelled: string } = { moment: undefined, spelled: '' }
function spelled(moment: Date): string {
  if (moment === last.moment) return last.spelled
  const text = moment.toISOString()
  last.moment = moment
  // The time is found from the end: early and late years are longer.
  last.spelled = `'${text.slice(0, -14)} ${text.slice(-13, -1)}'`
  return last.spelled
}
function literal(cell: Cell): string {
  if (cell === null) return 'null'
  if (typeof cell === 'string') return quoted(cell)
  if (cell instanceof Date) return spelled(cell)
  // Hexadecimal is twice as long, and a statement may not pass the server's packet size.
  if (Buffer.isBuffer(cell)) return isUtf8(cell) ? `_binary${quoted(cell.toString())}` : `x'${cell.toString('hex')}'`
  return String(cell)
}

/** A statement is its head, rows with a separator between them, and its tail. */
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

/** Rows as a union, whose columns an empty part names: each server spells lists of values in its own way. */
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
  /** Bytes at which a statement is long enough. */
  readonly enough: number
  /** Most that the server takes. */
  readonly most: number
  /** What to say of a row that takes more. */
  tooLarge(table: string, bytes: number): Error
}

export function insertWriter(
  pool: Pick<Pool, 'query'>,
  dialect: Dialect,
  allowed: StatementSize,
): Database['sendRows'] {
  // Null instead of no values: the driver would look for placeholders in megabytes of text.
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
    // This engine gathers nothing else.
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
        // Awaited before the next one is sent; a rejection must not count as unhandled until then.
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
