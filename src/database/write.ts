/** Bulk writing: rows of any tables in, batches with distinct keys out, sent again after a deadlock. */
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Database } from './database.ts'
import type { Cell } from './fit.ts'
import { keyOf, type Table, type TableRow } from './table.ts'

const MOST_ATTEMPTS = 10

export async function retrying<Result>(database: Database, attempt: () => Promise<Result>): Promise<Result> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt()
    } catch (error) {
      if (attempts === MOST_ATTEMPTS || !database.isRetryable(error)) throw error
      await sleep(Math.random() * 10 * 2 ** attempts)
    }
  }
}

/** Fills what the engine knows and the author of a row does not. */
export function stampRow({ table, cells }: TableRow, stamp: Date): void {
  if (table.createdAt >= 0) cells[table.createdAt] ??= stamp
  if (table.updatedAt >= 0) cells[table.updatedAt] = stamp
}

/** Writes rows; a row whose key exists replaces it, and of two rows with one key the later wins. */
export async function write(database: Database, rows: readonly TableRow[], stamp = new Date()): Promise<void> {
  const batches = new Map<Table<any>, Map<string, Cell[]> | Cell[][]>()
  for (const row of rows) {
    const { table, cells } = row
    stampRow(row, stamp)
    const batch = batches.get(table) ?? (isAppendOnly(row) ? [] : new Map<string, Cell[]>())
    batches.set(table, batch)
    if (Array.isArray(batch)) batch.push(cells)
    else batch.set(keyOf(table, cells), cells)
  }
  for (const [table, batch] of batches) {
    const mode = Array.isArray(batch) ? 'insert' : 'upsert'
    const all = Array.isArray(batch) ? batch : inKeyOrder(batch)
    await retrying(database, () => database.sendRows(table, all, mode))
  }
}

/** Without a key, or with one that the database numbers, no row can meet another. */
const isAppendOnly = ({ table, cells }: TableRow) =>
  table.keys.length === 0 || table.keys.some((position) => cells[position] === null)

/** Writers that lock rows in one order do not deadlock. */
const inKeyOrder = (batch: Map<string, Cell[]>): Cell[][] =>
  [...batch].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, cells]) => cells)

/** Deletes what an earlier run made from the same raw table and parameters and this run (`stamp`) did not write again. */
export async function sweep(
  database: Database,
  table: Table<any>,
  origin: { readonly table: string; readonly params: string },
  stamp: Date,
): Promise<void> {
  await retrying(database, () =>
    sql`delete from ${sql.id(table.name)}
        where _raw_data_params = ${origin.params} and _raw_data_table = ${origin.table}
        and (updated_at is null or updated_at <> ${stamp})`.execute(database.kysely),
  )
}
