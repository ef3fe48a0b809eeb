/** Bulk loading of rows as text: several times as cheap for the server as statements, whose literals it has to parse. */

import { Readable } from 'node:stream'
import type { Pool, QueryError, ResultSetHeader } from 'mysql2'
import type { Database } from '../database.ts'
import { type Dialect, quoteAll } from '../dialect.ts'
import { type CellRows, cellsOfRows, columnNames } from '../rows.ts'
import type { AnyTable, Column } from '../table.ts'
import { textRows } from './text-rows.ts'

/** For so few a statement is as good. */
const FEW_ROWS = 50
/** After a batch met an existing key, this many batches of its table are sent as statements. */
const PESSIMISTIC_BATCHES = 50

/** What servers answer that do not allow it; MySQL does not unless told. */
const DISABLED = new Set([1148, 3948, 4166])

/** What is known of a server; for all that write to it. */
export interface Loading {
  isAllowed: boolean
  readonly pessimistic: Map<string, number>
}

/** Sends by `insert` what cannot be loaded, and what was not loaded whole. */
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
    // This engine gathers nothing else.
    const pieces = textRows(cellsOfRows(rows as CellRows), kinds)
    await before
    try {
      const { affectedRows, warningStatus } = await load(table, names, pieces)
      if (affectedRows === rows.length && warningStatus === 0) return
      // A key that exists is passed over, and a value that does not fit is changed, with no more than a warning.
      loading.pessimistic.set(table.name, PESSIMISTIC_BATCHES)
    } catch (error) {
      if (!DISABLED.has((error as QueryError).errno ?? 0)) throw error
      loading.isAllowed = false
    }
    return insert(rows, mode)
  }
}
