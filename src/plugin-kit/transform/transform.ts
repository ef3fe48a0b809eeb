/** One pass over records: rows out, in batches, with provenance; what fails alone is put aside, and the rest continues. */
import type { AnyTable, TableRow } from '../../database/table.ts'
import { createWriter } from '../../database/write.ts'
import { FatalError, messageOf, UserError } from '../../errors.ts'
import { putInQuarantine, type RejectedRecord, type ReleaseFrom, releaseFromQuarantine } from '../raw/quarantine.ts'
import type { EntityTask } from '../spec/entity.ts'
import type { SubtaskKey, SubtaskResult } from '../spec/subtask.ts'
import { eachWhileWriting, inBatches } from './batches.ts'

const BATCH_RECORDS = 1000
const BATCH_BYTES = 2 << 20

/** Where a row comes from; stored with it, and what replaces it later goes by it. */
export interface Origin {
  readonly params: string
  readonly table: string
  readonly id: number
  readonly remark?: string
}

export interface Transform<Item> {
  readonly subtaskKey: SubtaskKey
  readonly items: AsyncIterable<Item>
  readonly expected?: number
  readonly stamp: Date
  readonly allowed: ReadonlySet<AnyTable>
  readonly weigh?: (item: Item) => number
  /** Fetches what the batch needs and gives the function that turns one item into rows. */
  readonly prepare: (batch: readonly Item[]) => Promise<(item: Item) => Iterable<TableRow>>
  readonly originOf: (item: Item, table: AnyTable) => Origin
  readonly describe: (item: Item) => RejectedRecord
  /** After each batch is written. */
  readonly wrote?: (rows: readonly TableRow[]) => Promise<void>
  /** After everything is written: deletes what should be there no more. */
  readonly sweep?: () => Promise<void>
  readonly released: ReleaseFrom
}

export async function runTransform<Item>(task: EntityTask, transform: Transform<Item>): Promise<SubtaskResult> {
  const { database, signal } = task
  const total = { records: 0, rows: 0, quarantined: 0 }
  const writer = createWriter(database, transform.stamp)
  await eachWhileWriting(inBatches(transform.items, BATCH_RECORDS, transform.weigh, BATCH_BYTES), async (batch) => {
    signal.throwIfAborted()
    const rowsOf = await transform.prepare(batch)
    const rows: TableRow[] = []
    const rejected: RejectedRecord[] = []
    for (const item of batch) {
      try {
        const made = [...rowsOf(item)]
        for (const row of made) stampOrigin(row, transform.originOf(item, row.table), transform.allowed)
        for (const row of made) rows.push(row)
      } catch (error) {
        if (error instanceof FatalError || error instanceof UserError) throw error
        rejected.push({ ...transform.describe(item), reason: messageOf(error) })
      }
    }
    return async () => {
      await writer.add(rows)
      await transform.wrote?.(rows)
      if (rejected.length > 0) await putInQuarantine(database, transform.subtaskKey, rejected, transform.stamp)
      total.records += batch.length
      total.rows += rows.length
      total.quarantined += rejected.length
      task.progress({ done: total.records, ...(transform.expected !== undefined && { expected: transform.expected }) })
    }
  })
  signal.throwIfAborted()
  await writer.flush()
  await transform.sweep?.()
  await releaseFromQuarantine(database, transform.subtaskKey, transform.stamp, transform.released)
  return total
}

export function stampOrigin({ table, cells }: TableRow, origin: Origin, allowed: ReadonlySet<AnyTable>): void {
  if (!allowed.has(table)) throw new FatalError(`${table.name} is written but not declared`)
  if (table.origin < 0) return
  cells[table.origin] = origin.params
  cells[table.origin + 1] = origin.table
  cells[table.origin + 2] = origin.id
  cells[table.origin + 3] = origin.remark ?? ''
}
