/** One pass over records: rows out, in batches, with provenance; what fails alone is put aside, and the rest goes on. */
import type { Table, TableRow } from '../database/table.ts'
import { createWriter, sweep } from '../database/write.ts'
import { FatalError, messageOf, UserError } from '../errors.ts'
import { eachWhileWriting, inBatches } from './batches.ts'
import { type Place, putInQuarantine, type Rejected, releaseFromQuarantine } from './quarantine.ts'
import type { EntityTask } from './source-task.ts'
import type { SubtaskResult } from './subtask.ts'

const BATCH_RECORDS = 1000
const BATCH_BYTES = 2 << 20

/** Where a row comes from; stored with it, and what replaces it later goes by it. */
export interface Origin {
  readonly params: string
  readonly table: string
  readonly id: number
  readonly remark?: string
}

export interface Pass<Item> {
  readonly place: Place
  readonly items: AsyncIterable<Item>
  readonly expected?: number
  readonly stamp: Date
  readonly allowed: ReadonlySet<Table<any>>
  readonly weigh?: (item: Item) => number
  /** Fetches what the batch needs and gives the function that turns one item into rows. */
  readonly prepare: (batch: readonly Item[]) => Promise<(item: Item) => Iterable<TableRow>>
  readonly originOf: (item: Item) => Origin
  readonly describe: (item: Item) => Rejected
  /** After each batch is written. */
  readonly wrote?: (rows: readonly TableRow[]) => Promise<void>
  /** At the end of a pass over everything: rows of these raw tables that were not written again are deleted. */
  readonly replaces?: readonly string[]
  /** Raw ids that were driven again, when the pass was only about those. */
  readonly redriven?: readonly number[]
}

export async function runPass<Item>(task: EntityTask, pass: Pass<Item>): Promise<SubtaskResult> {
  const { database, signal } = task
  const touched = new Set<Table<any>>()
  const total = { records: 0, rows: 0, quarantined: 0 }
  const writer = createWriter(database, pass.stamp)
  const earlier = await earlierRows(task, pass)
  await eachWhileWriting(inBatches(pass.items, BATCH_RECORDS, pass.weigh, BATCH_BYTES), async (batch) => {
    signal.throwIfAborted()
    const rowsOf = await pass.prepare(batch)
    const rows: TableRow[] = []
    const rejected: Rejected[] = []
    for (const item of batch) {
      try {
        const made = [...rowsOf(item)]
        const origin = pass.originOf(item)
        for (const row of made) stampOrigin(row, origin, pass.allowed)
        for (const row of made) rows.push(row)
      } catch (error) {
        if (error instanceof FatalError || error instanceof UserError) throw error
        rejected.push({ ...pass.describe(item), reason: messageOf(error) })
      }
    }
    return async () => {
      await writer.add(rows)
      await pass.wrote?.(rows)
      if (rejected.length > 0) await putInQuarantine(database, pass.place, rejected, pass.stamp)
      for (const row of rows) touched.add(row.table)
      total.records += batch.length
      total.rows += rows.length
      total.quarantined += rejected.length
      task.progress({ done: total.records, ...(pass.expected !== undefined && { expected: pass.expected }) })
    }
  })
  signal.throwIfAborted()
  await writer.flush()
  for (const { table, raw } of earlier) {
    if (touched.has(table)) await sweep(database, table, { table: raw, params: task.params }, pass.stamp)
  }
  if (pass.replaces) await releaseFromQuarantine(database, pass.place, pass.stamp)
  else if (pass.redriven) await releaseFromQuarantine(database, pass.place, pass.stamp, pass.redriven)
  return total
}

/** Tables that hold rows of the same origin from before; a first load has nothing to sweep. */
async function earlierRows<Item>({ database, params }: EntityTask, { allowed, replaces = [] }: Pass<Item>) {
  const found: { table: Table<any>; raw: string }[] = []
  for (const table of allowed) {
    for (const raw of table.origin < 0 ? [] : replaces) {
      const row = await database.kysely
        .selectFrom(table.name)
        .select('_raw_data_params')
        .where('_raw_data_params', '=', params)
        .where('_raw_data_table', '=', raw)
        .limit(1)
        .executeTakeFirst()
      if (row) found.push({ table, raw })
    }
  }
  return found
}

function stampOrigin({ table, cells }: TableRow, origin: Origin, allowed: ReadonlySet<Table<any>>): void {
  if (!allowed.has(table)) throw new FatalError(`${table.name} is written but not declared`)
  if (table.origin < 0) return
  cells[table.origin] = origin.params
  cells[table.origin + 1] = origin.table
  cells[table.origin + 2] = origin.id
  cells[table.origin + 3] = origin.remark ?? ''
}
