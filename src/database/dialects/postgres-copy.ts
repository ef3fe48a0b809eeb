/** Bulk writing by COPY: straight into a table that only grows, through a staging table where keys may exist already. */
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { Database } from '../database.ts'
import type { Cell } from '../fit.ts'
import type { Column, Table } from '../table.ts'
import { type Dialect, quoteAll } from './dialect.ts'

const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }
function copyCell(cell: Cell): string {
  if (cell === null) return '\\N'
  if (typeof cell === 'string')
    return /[\\\t\n\r]/.test(cell) ? cell.replace(/[\\\t\n\r]/g, (each) => ESCAPES[each] as string) : cell
  if (cell instanceof Date) return cell.toISOString()
  if (Buffer.isBuffer(cell)) return `\\\\x${cell.toString('hex')}`
  return String(cell)
}

/** COPY takes any number of bytes; pieces of this size keep memory bounded whatever the rows are. */
const COPY_CHUNK = 1 << 20
function* copyText(rows: readonly (readonly Cell[])[], positions: readonly number[]) {
  let piece = ''
  for (const cells of rows) {
    for (let index = 0; index < positions.length; index++) {
      piece += (index === 0 ? '' : '\t') + copyCell(cells[positions[index] as number] as Cell)
    }
    piece += '\n'
    if (piece.length >= COPY_CHUNK) {
      yield piece
      piece = ''
    }
  }
  if (piece !== '') yield piece
}

export function copyWriter(pool: pg.Pool, dialect: Dialect): Database['sendRows'] {
  // Staging tables live as long as their connection.
  const staged = new WeakMap<pg.PoolClient, Set<string>>()

  return async (table, rows, mode) => {
    const positions = table.names
      .map((_, position) => position)
      .filter((position) => !isNumberedByDatabase(table, position, rows))
    const columns = quoteAll(
      dialect,
      positions.map((position) => table.names[position] as string),
    )
    const client = await pool.connect()
    let failure: Error | undefined
    try {
      const target = mode === 'insert' ? dialect.quote(table.name) : dialect.quote(`_stage_${table.name}`.slice(0, 63))
      // Losing the newest batches to a crash of the server is harmless: the state that counts them is committed after.
      await client.query(`begin; set local synchronous_commit = off`)
      if (mode === 'upsert' && !staged.get(client)?.has(target)) {
        await client.query(
          `create temp table if not exists ${target} on commit delete rows as select ${quoteAll(dialect, table.names)} from ${dialect.quote(table.name)} with no data`,
        )
        staged.set(client, (staged.get(client) ?? new Set()).add(target))
      }
      await pipeline(copyText(rows, positions), client.query(copyFrom(`copy ${target} (${columns}) from stdin`)))
      if (mode === 'upsert')
        await client.query(
          `insert into ${dialect.quote(table.name)} (${columns}) select ${columns} from ${target} ${onConflict(dialect, table, positions)}`,
        )
      await client.query('commit')
    } catch (error) {
      failure = error as Error
      await client.query('rollback').catch(() => {})
      throw error
    } finally {
      client.release(failure)
    }
  }
}

const isNumberedByDatabase = (table: Table<any>, position: number, rows: readonly (readonly Cell[])[]) =>
  (table.columns[table.names[position] as string] as Column).isGenerated === true && rows[0]?.[position] === null

function onConflict(dialect: Dialect, table: Table<any>, positions: readonly number[]): string {
  const keys = quoteAll(
    dialect,
    table.keys.map((position) => table.names[position] as string),
  )
  const updates = positions
    .filter((position) => !table.keys.includes(position) && position !== table.createdAt)
    .map((position) => dialect.quote(table.names[position] as string))
    .map((name) => `${name} = excluded.${name}`)
  return `on conflict (${keys}) do ${updates.length === 0 ? 'nothing' : `update set ${updates.join(', ')}`}`
}
