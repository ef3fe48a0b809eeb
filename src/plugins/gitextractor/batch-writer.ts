import type { TableRow } from '../../database/table.ts'
import type { MarkedRows } from '../../plugin-kit/marked-rows.ts'

export interface BatchWriter {
  add(row: TableRow, characters?: number): void
  isFull(): boolean
  /** Starts to write the batch; waits only for the one before. */
  send(): Promise<void>
  /** Writes the rest and waits for all of it. */
  finish(): Promise<void>
  /** Waits for what is under way, however it ends. */
  idle(): Promise<void>
  count(): number
}

const BATCH_ROWS = 12_000
const BATCH_CHARACTERS = 8 << 20

/** Gathers a batch while the one before is written. */
export function batchWriter(marked: MarkedRows): BatchWriter {
  let batch: TableRow[] = []
  let characters = 0
  let count = 0
  let writing = Promise.resolve()
  async function send(): Promise<void> {
    await writing
    const full = batch
    batch = []
    characters = 0
    count += full.length
    writing = marked.write(full)
    // Awaited with the next batch; until then a rejection must not count as unhandled.
    writing.catch(() => {})
  }
  return {
    add(row, size = 0) {
      batch.push(row)
      characters += size
    },
    isFull: () => batch.length >= BATCH_ROWS || characters >= BATCH_CHARACTERS,
    send,
    async finish() {
      await send()
      await writing
    },
    idle: () => writing.catch(() => {}),
    count: () => count,
  }
}
