import type { Table, TableRow } from '../../database/table.ts'
import type { MarkedRows } from '../../plugin-kit/marked-rows.ts'

export interface BatchWriter {
  /** `characters`: of long texts in the row, since a batch is bounded by them too. */
  add(row: TableRow, characters?: number): void
  /** Starts to write what has become a batch; waits only while the batch before of the same table is being written. */
  send(): Promise<void>
  /** Writes the rest and waits for all of it. */
  finish(): Promise<void>
  /** Waits for what is under way, however it ends. */
  idle(): Promise<void>
  count(): number
}

interface Batch {
  rows: TableRow[]
  characters: number
  writing: Promise<void>
}

const BATCH_ROWS = 2500
const BATCH_CHARACTERS = 4 << 20

/** Gathers a batch for each table while the one before is written. */
export function batchWriter(marked: MarkedRows): BatchWriter {
  const batches = new Map<Table<any>, Batch>()
  let count = 0
  async function write(batch: Batch): Promise<void> {
    await batch.writing
    const { rows } = batch
    count += rows.length
    batch.rows = []
    batch.characters = 0
    batch.writing = marked.write(rows)
    // Awaited with the next batch; until then a rejection must not count as unhandled.
    batch.writing.catch(() => {})
  }
  return {
    add(row, characters = 0) {
      let batch = batches.get(row.table)
      if (!batch) {
        batch = { rows: [], characters: 0, writing: Promise.resolve() }
        batches.set(row.table, batch)
      }
      batch.rows.push(row)
      batch.characters += characters
    },
    async send() {
      for (const batch of batches.values()) {
        if (batch.rows.length >= BATCH_ROWS || batch.characters >= BATCH_CHARACTERS) await write(batch)
      }
    },
    async finish() {
      for (const batch of batches.values()) await write(batch)
      for (const batch of batches.values()) await batch.writing
    },
    async idle() {
      await Promise.allSettled(Array.from(batches.values(), ({ writing }) => writing))
    },
    count: () => count,
  }
}
