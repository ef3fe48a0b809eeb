/** Bulk writing by COPY: straight into a table that only grows, through a staging table where keys may exist already. */
import { createHash } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { Database } from '../database.ts'
import { codeOf } from '../explain.ts'
import type { Cell } from '../fit.ts'
import type { Column, Table } from '../table.ts'
import { broughtBy, type Dialect, quoteAll } from './dialect.ts'
import { inTransaction } from './postgres-transaction.ts'

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }
function copyCell(cell: Cell): string {
  if (cell === null) return '\\N'
  if (typeof cell === 'string')
    return /[\\\t\n\r]/.test(cell) ? cell.replace(/[\\\t\n\r]/g, (each) => ESCAPES[each] as string) : cell
  if (cell instanceof Date) return timeText(cell)
  if (Buffer.isBuffer(cell)) return `\\\\x${cell.toString('hex')}`
  return String(cell)
}

/** Rows of a batch share most of their moments, and writing one out is dear. */
let lastTime = Number.NaN
let lastText = ''
function timeText(moment: Date): string {
  const time = moment.getTime()
  if (time !== lastTime) {
    lastTime = time
    lastText = moment.toISOString()
  }
  return lastText
}

/** COPY takes any number of bytes; pieces of this size keep memory bounded whatever the rows are. */
const COPY_CHUNK = 1 << 18
/** Row by row into bytes: one long text would be made of millions of small ones, all alive until its end. */
function* copyBytes(rows: readonly (readonly Cell[])[], positions: readonly number[]): Generator<Buffer> {
  const texts = new Array<string>(positions.length)
  let piece = Buffer.allocUnsafe(COPY_CHUNK)
  let used = 0
  for (const cells of rows) {
    for (let index = 0; index < positions.length; index++)
      texts[index] = copyCell(cells[positions[index] as number] as Cell)
    const line = `${texts.join('\t')}\n`
    const most = line.length * 3
    if (used + most > piece.length) {
      if (used > 0) yield piece.subarray(0, used)
      piece = Buffer.allocUnsafe(Math.max(COPY_CHUNK, most))
      used = 0
    }
    used += piece.write(line, used)
  }
  if (used > 0) yield piece.subarray(0, used)
}

/** After a batch met an existing key, this many batches of its table go through the staging table at once. */
const PESSIMISTIC_BATCHES = 50
const UNIQUE_VIOLATION = '23505'

/** One statement takes them; for so few, COPY and a staging table cost more than they save. */
const FEW_ROWS = 50

/** Losing the newest batches to a crash of the server is harmless: the state that counts them is committed after. */
const BEGIN = 'begin; set local synchronous_commit = off'

export function copyWriter(pool: pg.Pool, dialect: Dialect): Database['sendRows'] {
  /** Staging tables that a connection has; they live as long as it does. */
  const staged = new WeakMap<pg.PoolClient, Set<string>>()
  const pessimistic = new Map<string, number>()

  async function throughStaging(
    table: Table<any>,
    copy: (client: pg.PoolClient, target: string) => Promise<void>,
    statement: (staging: string) => string,
  ): Promise<void> {
    const staging = stagingOf(dialect, table)
    const client = await inTransaction(
      pool,
      async (client) => {
        if (!staged.get(client)?.has(staging)) {
          const columns = quoteAll(dialect, table.names)
          await client.query(
            `create temp table if not exists ${staging} as select ${columns} from ${dialect.quote(table.name)} with no data`,
          )
        }
        await client.query(`truncate ${staging}`)
        await copy(client, staging)
        await client.query(statement(staging))
        return client
      },
      BEGIN,
    )
    // Only now: what is rolled back takes the table with it.
    staged.set(client, (staged.get(client) ?? new Set()).add(staging))
  }

  return async (table, rows, mode) => {
    const positions = table.names
      .map((_, position) => position)
      .filter((position) => !isNumberedByDatabase(table, position, rows))
    const names = positions.map((position) => table.names[position] as string)
    const columns = quoteAll(dialect, names)
    const copy = (client: pg.PoolClient, target: string) =>
      pipeline(copyBytes(rows, positions), client.query(copyFrom(`copy ${target} (${columns}) from stdin`)))

    const target = dialect.quote(table.name)
    if (mode === 'update') {
      const { on, set } = broughtBy(dialect, table, '')
      return throughStaging(
        table,
        copy,
        (staging) => `update ${target} as target set ${set} from ${staging} as source where ${on}`,
      )
    }
    if (mode === 'upsert' && rows.length <= FEW_ROWS) {
      const places = rows.map((_, row) => `(${positions.map((_, at) => `$${row * positions.length + at + 1}`)})`)
      const values = rows.flatMap((cells) => positions.map((position) => cells[position]))
      const statement = `insert into ${target} (${columns}) values ${places} ${dialect.onExistingKey(table, names)}`
      await inTransaction(pool, (client) => client.query(statement, values), BEGIN)
      return
    }
    const pause = pessimistic.get(table.name) ?? 0
    if (mode === 'insert' || pause === 0) {
      // A first load meets no existing key, and straight into the table is twice as fast.
      try {
        return await inTransaction(pool, (client) => copy(client, target), BEGIN)
      } catch (error) {
        if (mode === 'insert' || codeOf(error) !== UNIQUE_VIOLATION) throw error
      }
    }
    pessimistic.set(table.name, pause === 0 ? PESSIMISTIC_BATCHES : pause - 1)
    await throughStaging(
      table,
      copy,
      (staging) =>
        `insert into ${target} (${columns}) select ${columns} from ${staging} ${dialect.onExistingKey(table, names)}`,
    )
  }
}

/** Named after the columns and their types: users add columns, and may drop one and add it again as another type. */
function stagingOf(dialect: Dialect, table: Table<any>): string {
  const columns = table.names.map((name) => `${name} ${dialect.columnType(table.columns[name], table)}`)
  const hash = createHash('sha1').update([table.name, ...columns].join())
  return dialect.quote(`_stage_${hash.digest('hex')}`)
}

const isNumberedByDatabase = (table: Table<any>, position: number, rows: readonly (readonly Cell[])[]) =>
  (table.columns[table.names[position] as string] as Column).isGenerated === true && rows[0]?.[position] === null
