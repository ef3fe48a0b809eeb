/** Loads rows in bulk as text. That is several times cheaper for the server than statements, whose literals it must parse. */

import { Readable } from 'node:stream'
import type { Pool, QueryError, ResultSetHeader } from 'mysql2'
import type { Database } from '../database.ts'
import { type Dialect, quoteAll } from '../dialect.ts'
import { type CellRows, cellsOfRows, columnNames } from '../rows.ts'
import type { AnyTable, Column } from '../table.ts'
import { textRows } from './text-rows.ts'

/** For at most this many rows a statement is as good. */
const FEW_ROWS = 50
/** After a batch met an existing key, this many batches of its table are sent as statements. */
const PESSIMISTIC_BATCHES = 50

/** Error codes of servers that do not allow loading. MySQL allows it only if configured. */
const DISABLED = new Set([1148, 3948, 4166])

/** Facts about a server, shared by all writers to it. */
export interface Loading {
  isAllowed: boolean
  readonly pessimistic: Map<string, number>
}

/** Falls back to `insert` for rows that cannot be loaded, or that were not loaded completely. */
export function loadWriter(
  pool: Pick<Pool, 'query'>,
  dialect: Dialect,
  loading: Loading,
  insert: Database['sendRows'],
): Database['sendRows'] {
  const load = (table: AnyTable, names: readonly string[], pieces: readonly Buffer[]) =>
    new Promise<ResultSetHeader>((resolve, reject) =>
      pool.query<ResultSetHeader>(
        {
          sql: `load data local infile 'rows' into table ${dialect.quote(table.name)} character set utf8mb4 (${quoteAll(dialect, names)})`,
          values: null,
          infileStreamFactory: () => Readable.from(pieces),
        },
        (error: QueryError | null, result) => (error ? reject(error) : resolve(result)),
      ),
    )
  return async (rows, mode, before) => {
    const { table } = rows
    const names = columnNames(rows)
    const kinds = names.map((name) => (table.columns[name] as Column).kind)
    const pause = loading.pessimistic.get(table.name) ?? 0
    if (!loading.isAllowed || mode !== 'upsert' || rows.length <= FEW_ROWS || pause > 0 || kinds.includes('bytes')) {
      if (pause > 0) loading.pessimistic.set(table.name, pause - 1)
      return insert(rows, mode, before)
    }
    // On MySQL rows are always gathered as cells.
    const pieces = textRows(cellsOfRows(rows as CellRows), kinds)
    await before
    try {
      const { affectedRows, warningStatus } = await load(table, names, pieces)
      if (affectedRows === rows.length && warningStatus === 0) return
      // Rows with an existing key are skipped, and values that do not fit are changed, with only a warning. So the batch is sent again.
      loading.pessimistic.set(table.name, PESSIMISTIC_BATCHES)
    } catch (error) {
      if (!DISABLED.has((error as QueryError).errno ?? 0)) throw error
      loading.isAllowed = false
    }
    return insert(rows, mode)
  }
}
