/** Writes in bulk by COPY: directly into a table that only grows, and through a staging table where keys may exist already. */

import { createHash } from 'node:crypto'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import type { Database } from '../database.ts'
import { broughtBy, type Dialect, quoteAll } from '../dialect.ts'
import { codeOf } from '../explain.ts'
import { cellsOfRows, columnNames } from '../rows.ts'
import type { AnyTable, Column, Kind } from '../table.ts'
import { binaryRows, isBinaryOf } from './binary.ts'
import { inTransaction } from './transaction.ts'

/** After a batch met an existing key, this many batches of its table go through the staging table at once. */
const PESSIMISTIC_BATCHES = 50
const UNIQUE_VIOLATION = '23505'

/** At most this many rows are sent by one statement. For so few, COPY and a staging table cost more than they save. */
const FEW_ROWS = 50

/** If the server crashes, losing the newest batches is harmless, because the state that counts them is committed afterwards. */
const LAZY = 'set local synchronous_commit = off'
/** The same within a single statement: one round trip to the server instead of three. */
const LAZILY = `set_config('synchronous_commit', 'off', true)`

/** Whether the live columns have the types of the definition, by table and columns. Shared by all writers to one database. */
export type KnownTypes = Map<string, boolean>

/**
 * `isInside` means that the pool is the single connection of a transaction. A failure ends that transaction anyway, so the
 * work needs no nested part.
 */
export function copyWriter(
  pool: pg.Pool,
  { dialect, known, isInside }: { dialect: Dialect; known: KnownTypes; isInside: boolean },
): Database['sendRows'] {
  /** The staging tables of each connection. They exist as long as the connection. */
  const staged = new WeakMap<pg.PoolClient, Set<string>>()
  const pessimistic = new Map<string, number>()

  const inPart = <Result>(body: (client: pg.PoolClient) => Promise<Result>) =>
    inTransaction(pool, body, `begin; ${LAZY}`)
  async function asWhole<Result>(body: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
    if (!isInside) return inPart(body)
    const client = await pool.connect()
    await client.query(LAZY)
    return body(client)
  }

  async function throughStaging(
    table: AnyTable,
    copy: (client: pg.PoolClient, target: string) => Promise<void>,
    statement: (staging: string) => string,
  ): Promise<void> {
    const { staging, columns } = stagingOf(dialect, table)
    const client = await asWhole(async (client) => {
      if (!staged.get(client)?.has(staging)) {
        await client.query(`create temp table if not exists ${staging} (${columns})`)
      }
      await client.query(`truncate ${staging}`)
      await copy(client, staging)
      await client.query(statement(staging))
      return client
    })
    // Noted only after success, because a rollback also removes the staging table.
    staged.set(client, (staged.get(client) ?? new Set()).add(staging))
  }

  /** Another version of Weir may have left wider columns. The eight bytes of a number would then be read as another number. */
  async function hasOurTypes(none: string, kinds: readonly Kind[]): Promise<boolean> {
    const key = `${none} ${kinds}`
    const before = known.get(key)
    if (before !== undefined) return before
    const { fields } = await pool.query(none)
    const found = fields.every(({ dataTypeID }, index) => isBinaryOf(dataTypeID, kinds[index] as Kind))
    known.set(key, found)
    return found
  }

  return async (rows, mode, before) => {
    await before
    const { table } = rows
    const names = columnNames(rows)
    const kinds = names.map((name) => (table.columns[name] as Column).kind)
    const columns = quoteAll(dialect, names)
    const copy = (client: pg.PoolClient, target: string) =>
      pipeline(
        'encoded' in rows ? rows.encoded : binaryRows(rows),
        client.query(copyFrom(`copy ${target} (${columns}) from stdin (format binary)`)),
      )

    const target = dialect.quote(table.name)
    if (mode === 'update') {
      const { on, set } = broughtBy(dialect, table, '')
      return throughStaging(
        table,
        copy,
        (staging) => `update ${target} as target set ${set} from ${staging} as source where ${on}`,
      )
    }
    const onExistingKey = mode === 'insert' ? '' : dialect.onExistingKey(table, names)
    if (rows.length <= FEW_ROWS && 'at' in rows) {
      const list = [...cellsOfRows(rows)]
      const places = list.map((_, row) => `(${names.map((_, at) => `$${row * names.length + at + 1}`)})`)
      const values = list.flat()
      await pool.query(
        `insert into ${target} (${columns}) values ${places} ${onExistingKey} returning ${LAZILY}`,
        values,
      )
      return
    }
    const pause = pessimistic.get(table.name) ?? 0
    if ((mode === 'insert' || pause === 0) && (await hasOurTypes(`select ${columns} from ${target} limit 0`, kinds))) {
      // A first load meets no existing keys, and copying directly into the table is twice as fast.
      try {
        return await (mode === 'insert' ? asWhole : inPart)((client) => copy(client, target))
      } catch (error) {
        if (mode === 'insert' || codeOf(error) !== UNIQUE_VIOLATION) throw error
      }
    }
    pessimistic.set(table.name, pause === 0 ? PESSIMISTIC_BATCHES : pause - 1)
    await throughStaging(
      table,
      copy,
      (staging) => `insert into ${target} (${columns}) select ${columns} from ${staging} ${onExistingKey}`,
    )
  }
}

/**
 * The staging table has the types of the definition; PostgreSQL casts values to those of the live table. It is named after its
 * columns and types, because users add columns, and may drop one and add it again with another type.
 */
function stagingOf(dialect: Dialect, table: AnyTable): { readonly staging: string; readonly columns: string } {
  const columns = table.names
    .map((name) => `${dialect.quote(name)} ${dialect.columnType(table.columns[name], table)}`)
    .join(', ')
  const hash = createHash('sha1').update(`${table.name} ${columns}`)
  return { staging: dialect.quote(`_stage_${hash.digest('hex')}`), columns }
}
