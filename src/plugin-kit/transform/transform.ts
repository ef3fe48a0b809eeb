/**
 * One pass over records: makes rows in batches and stores their origin. A record that fails is put into quarantine, and the pass
 * continues.
 */
import type { AnyTable, TableRow } from '../../database/table.ts'
import { createWriter } from '../../database/write.ts'
import { FatalError, messageOf, UserError } from '../../errors.ts'
import { putInQuarantine, type RejectedRecord, type ReleaseFrom, releaseFromQuarantine } from '../raw/quarantine.ts'
import type { EntityTask } from '../spec/entity.ts'
import type { SubtaskKey, SubtaskResult } from '../spec/subtask.ts'
import { eachWhileWriting, inBatches } from './batches.ts'

const BATCH_RECORDS = 1000
const BATCH_BYTES = 2 << 20

/** The origin of a row. It is stored with the row, and decides what replaces the row later. */
interface Origin {
  readonly params: string
  readonly table: string
  readonly id: number
  readonly remark?: string
}

interface Transform<Item> {
  readonly subtaskKey: SubtaskKey
  readonly items: AsyncIterable<readonly Item[]>
  readonly expected?: number
  readonly stamp: Date
  readonly allowed: ReadonlySet<AnyTable>
  readonly weigh?: (item: Item) => number
  /** Fetches the data that the batch needs, and returns a function that turns one item into rows. */
  readonly prepare: (batch: readonly Item[]) => Promise<(item: Item) => Iterable<TableRow>>
  readonly originOf: (item: Item, table: AnyTable) => Origin
  readonly describe: (item: Item) => RejectedRecord
  /** Called after each batch is written. */
  readonly wrote?: (rows: readonly TableRow[]) => Promise<void>
  /** Called after everything is written: deletes rows that should no longer exist. */
  readonly sweep?: () => Promise<void>
  readonly released: ReleaseFrom
}

export async function runTransform<Item>(task: EntityTask, transform: Transform<Item>): Promise<SubtaskResult> {
  const { database, signal } = task
  const { expected, stamp, subtaskKey, wrote } = transform
  const total = { records: 0, rows: 0, quarantined: 0 }
  const writer = createWriter(database, { stamp, isSideBySide: !database.isTransaction })
  const batches = inBatches(transform.items, BATCH_RECORDS, transform.weigh, BATCH_BYTES)
  const writing = eachWhileWriting(batches, async (batch) => {
    signal.throwIfAborted()
    const { rows, rejected } = rowsOfBatch(transform, batch, await transform.prepare(batch))
    return async () => {
      await writer.add(rows)
      if (wrote) {
        await writer.settle()
        await wrote(rows)
      }
      if (rejected.length > 0) await putInQuarantine(database, subtaskKey, rejected, stamp)
      total.records += batch.length
      total.rows += rows.length
      total.quarantined += rejected.length
      task.progress({ done: total.records, ...(expected !== undefined && { expected }) })
    }
  })
  // Nothing may be written after a failure.
  await writing.finally(() => writer.settle())
  signal.throwIfAborted()
  await writer.flush()
  await transform.sweep?.()
  await releaseFromQuarantine(database, subtaskKey, stamp, transform.released)
  return total
}

function rowsOfBatch<Item>(
  { originOf, allowed, describe }: Transform<Item>,
  batch: readonly Item[],
  rowsOf: (item: Item) => Iterable<TableRow>,
) {
  const rows: TableRow[] = []
  const rejected: RejectedRecord[] = []
  for (const item of batch) {
    try {
      const made = [...rowsOf(item)]
      for (const row of made) stampOrigin(row, originOf(item, row.table), allowed)
      for (const row of made) rows.push(row)
    } catch (error) {
      if (error instanceof FatalError || error instanceof UserError) throw error
      rejected.push({ ...describe(item), reason: messageOf(error) })
    }
  }
  return { rows, rejected }
}

export function stampOrigin({ table, cells }: TableRow, origin: Origin, allowed: ReadonlySet<AnyTable>): void {
  if (!allowed.has(table)) throw new FatalError(`${table.name} is written but not declared`)
  if (table.origin < 0) return
  cells[table.origin] = origin.params
  cells[table.origin + 1] = origin.table
  cells[table.origin + 2] = origin.id
  cells[table.origin + 3] = origin.remark ?? ''
}
