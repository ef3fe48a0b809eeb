/** Writes rows of any tables in bulk: in batches with distinct keys, which are sent again after a deadlock. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from './database.ts'
import type { Cell } from './fit.ts'
import { wholeRows } from './rows.ts'
import type { AnyTable } from './table.ts'
import { inKeyOrder, keyOf, type TableRow } from './table.ts'

const MOST_ATTEMPTS = 10

export async function retrying<Result>(database: Database, attempt: () => Promise<Result>): Promise<Result> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt()
    } catch (error) {
      if (attempts === MOST_ATTEMPTS || !database.isRetryable(error)) throw database.explain(error) ?? error
      await sleep(Math.random() * 10 * 2 ** attempts)
    }
  }
}

/** Fills the columns for the time of writing. */
export function stampRow({ table, cells }: TableRow, stamp: Date): void {
  if (table.createdAt >= 0) cells[table.createdAt] ??= stamp
  if (table.updatedAt >= 0) cells[table.updatedAt] = stamp
}

/** The number of rows sent to a table at a time. */
const BATCH = 1000

interface Writer {
  /** Takes rows, and sends a batch for each table that has gathered enough. Batches may still be under way when it returns. */
  add(rows: readonly TableRow[]): Promise<void>
  /** Sends the remaining rows and waits for all batches. */
  flush(): Promise<void>
  /** Waits until no batch is under way, whether they succeed or fail. */
  settle(): Promise<void>
}

interface WriterOptions {
  readonly stamp?: Date
  /**
   * Sends batches of different tables over separate connections, and prepares the next batch of a table while one is stored.
   * Not possible within a transaction, which has one connection.
   */
  readonly isSideBySide?: boolean
}

/**
 * Gathers rows by table. Of two rows with the same key the later wins. So a row that every record repeats, such as its author,
 * is sent once and not with every batch.
 */
export function createWriter(
  database: Database,
  { stamp = new Date(), isSideBySide = false }: WriterOptions = {},
): Writer {
  const gathered = new Map<AnyTable, Map<string, Cell[]> | Cell[][]>()
  /** The batches under way, in order: per table, or for all tables together. */
  const lines = new Map<unknown, Promise<void>[]>()
  const most = isSideBySide ? 2 : 1
  async function send(table: AnyTable, rows: Map<string, Cell[]> | Cell[][]): Promise<void> {
    gathered.delete(table)
    const mode = Array.isArray(rows) ? 'insert' : 'upsert'
    const all = wholeRows(table, Array.isArray(rows) ? rows : inKeyOrder(table, rows.values()))
    const own = isSideBySide ? table : database
    const line = lines.get(own) ?? []
    lines.set(own, line)
    // A failed batch stays in the line, and makes all later ones fail.
    while (line.length >= most) await line[0]
    const before = line.at(-1)
    const sent = retrying(database, () => database.sendRows(all, mode, before))
    line.push(sent)
    sent.then(
      () => line.splice(line.indexOf(sent), 1),
      () => {},
    )
  }
  const underWay = () => [...lines.values()].flat()
  const settle = async () => void (await Promise.allSettled(underWay()))
  const sizeOf = (rows: Map<string, Cell[]> | Cell[][]) => (Array.isArray(rows) ? rows.length : rows.size)
  return {
    async add(rows) {
      for (const row of rows) {
        const { table, cells } = row
        stampRow(row, stamp)
        const own = gathered.get(table) ?? (isAppendOnly(row) ? [] : new Map<string, Cell[]>())
        gathered.set(table, own)
        if (Array.isArray(own)) own.push(cells)
        else own.set(keyOf(table, cells), cells)
      }
      for (const [table, own] of gathered) if (sizeOf(own) >= BATCH) await send(table, own)
    },
    async flush() {
      try {
        for (const [table, own] of gathered) await send(table, own)
      } finally {
        await settle()
      }
      // Failed batches are still in the lines, so this throws their errors.
      await Promise.all(underWay())
    },
    settle,
  }
}

/** Writes rows. A row replaces the stored one with the same key, and of two given rows with the same key the later wins. */
export async function write(database: Database, rows: readonly TableRow[], stamp?: Date): Promise<void> {
  const writer = createWriter(database, stamp && { stamp })
  await writer.add(rows)
  await writer.flush()
}

/** Rows without a key, or with one that the database generates, cannot collide. */
const isAppendOnly = ({ table, cells }: TableRow) =>
  table.keys.length === 0 || table.keys.some((position) => cells[position] === null)

/** Updates existing rows of one table, with distinct keys. Rows that do not exist are not created. */
export async function update(database: Database, rows: readonly TableRow[]): Promise<void> {
  const [first] = rows
  if (!first) return
  const batch = inKeyOrder(
    first.table,
    rows.map(({ cells }) => cells),
  )
  await retrying(database, () => database.sendRows(wholeRows(first.table, batch), 'update'))
}
