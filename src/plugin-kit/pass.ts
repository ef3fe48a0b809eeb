/** One pass over records: rows out, in batches, with provenance; what fails alone is put aside, and the rest goes on. */
import type { Table, TableRow } from '../database/table.ts'
import { createWriter } from '../database/write.ts'
import { FatalError, messageOf, UserError } from '../errors.ts'
import { eachWhileWriting, inBatches } from './batches.ts'
import { type Place, putInQuarantine, type Rejected, type Released, releaseFromQuarantine } from './quarantine.ts'
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
  readonly originOf: (item: Item, table: Table<any>) => Origin
  readonly describe: (item: Item) => Rejected
  /** After each batch is written. */
  readonly wrote?: (rows: readonly TableRow[]) => Promise<void>
  /** After everything is written: deletes what should be there no more. */
  readonly sweep?: () => Promise<void>
  readonly released: Released
}

export async function runPass<Item>(task: EntityTask, pass: Pass<Item>): Promise<SubtaskResult> {
  const { database, signal } = task
  const total = { records: 0, rows: 0, quarantined: 0 }
  const writer = createWriter(database, pass.stamp)
  await eachWhileWriting(inBatches(pass.items, BATCH_RECORDS, pass.weigh, BATCH_BYTES), async (batch) => {
    signal.throwIfAborted()
    const rowsOf = await pass.prepare(batch)
    const rows: TableRow[] = []
    const rejected: Rejected[] = []
    for (const item of batch) {
      try {
        const made = [...rowsOf(item)]
        for (const row of made) stampOrigin(row, pass.originOf(item, row.table), pass.allowed)
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
      total.records += batch.length
      total.rows += rows.length
      total.quarantined += rejected.length
      task.progress({ done: total.records, ...(pass.expected !== undefined && { expected: pass.expected }) })
    }
  })
  signal.throwIfAborted()
  await writer.flush()
  await pass.sweep?.()
  await releaseFromQuarantine(database, pass.place, pass.stamp, pass.released)
  return total
}

function stampOrigin({ table, cells }: TableRow, origin: Origin, allowed: ReadonlySet<Table<any>>): void {
  if (!allowed.has(table)) throw new FatalError(`${table.name} is written but not declared`)
  if (table.origin < 0) return
  cells[table.origin] = origin.params
  cells[table.origin + 1] = origin.table
  cells[table.origin + 2] = origin.id
  cells[table.origin + 3] = origin.remark ?? ''
}
