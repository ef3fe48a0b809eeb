/** Bulk writing: rows of any tables in, batches with distinct keys out, sent again after a deadlock. */

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

/** Fills what the engine knows and the author of a row does not. */
export function stampRow({ table, cells }: TableRow, stamp: Date): void {
  if (table.createdAt >= 0) cells[table.createdAt] ??= stamp
  if (table.updatedAt >= 0) cells[table.updatedAt] = stamp
}

/** Rows sent to a table at a time. */
const BATCH = 1000

export interface Writer {
  /** Takes rows, and sends those of tables that have gathered enough of them. They may be under way when it returns. */
  add(rows: readonly TableRow[]): Promise<void>
  /** Sends what is left, and waits for all. */
  flush(): Promise<void>
  /** Waits until nothing is under way, however it ends. */
  settle(): Promise<void>
}

export interface WriterOptions {
  readonly stamp?: Date
  /**
   * Batches of different tables go over connections of their own, and while one of a table is stored the next is made ready.
   * Not within a transaction, which has one connection.
   */
  readonly isSideBySide?: boolean
}

/**
 * Gathers rows by table. Of two rows with one key the later wins, so that what every record repeats, such as its
 * author, is sent once and not with every batch.
 */
export function createWriter(
  database: Database,
  { stamp = new Date(), isSideBySide = false }: WriterOptions = {},
): Writer {
  const gathered = new Map<AnyTable, Map<string, Cell[]> | Cell[][]>()
  /** What is under way, in order: of each table, or of all. */
  const lines = new Map<unknown, Promise<void>[]>()
  const most = isSideBySide ? 2 : 1
  async function send(table: AnyTable, rows: Map<string, Cell[]> | Cell[][]): Promise<void> {
    gathered.delete(table)
    const mode = Array.isArray(rows) ? 'insert' : 'upsert'
    const all = wholeRows(table, Array.isArray(rows) ? rows : inKeyOrder(table, rows.values()))
    const own = isSideBySide ? table : database
    const line = lines.get(own) ?? []
    lines.set(own, line)
    // One that failed stays, and fails all after it.
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
      // What failed is there still.
      await Promise.all(underWay())
    },
    settle,
  }
}

/** Writes rows; a row whose key exists replaces it, and of two rows with one key the later wins. */
export async function write(database: Database, rows: readonly TableRow[], stamp?: Date): Promise<void> {
  const writer = createWriter(database, stamp && { stamp })
  await writer.add(rows)
  await writer.flush()
}

/** Without a key, or with one that the database numbers, no row can meet another. */
const isAppendOnly = ({ table, cells }: TableRow) =>
  table.keys.length === 0 || table.keys.some((position) => cells[position] === null)

/** Sets what the rows of one table bring, no two of them with one key; a row that is not there is not made. */
export async function update(database: Database, rows: readonly TableRow[]): Promise<void> {
  const [first] = rows
  if (!first) return
  const batch = inKeyOrder(
    first.table,
    rows.map(({ cells }) => cells),
  )
  await retrying(database, () => database.sendRows(wholeRows(first.table, batch), 'update'))
}
