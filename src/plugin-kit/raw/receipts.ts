/** Receipts for every scope and entity: the source's count, the records that arrived, and the time of the last complete run. */
import type { Database } from '../../database/database.ts'
import {
  bigint,
  boolean,
  defineTable,
  indexed,
  key,
  optional,
  type RowOf,
  string,
  text,
  timestamp,
  written,
} from '../../database/table.ts'
import { write } from '../../database/write.ts'

export const receipts = defineTable(
  '_weir_receipts',
  {
    plugin: key(string(60)),
    raw_table: key(string(120)),
    params: key(indexed(string(255))),
    subtask: string(120),
    /** complete, gap (parts are missing, see `_weir_gaps`), or failed (the list is, or the run was interrupted). */
    status: string(20),
    message: text(),
    /** Null if the source does not give a total. */
    expected: optional(bigint()),
    received: bigint(),
    stored: bigint(),
    /** The time range that was asked for, by the source's clock; null: from the beginning. */
    since: timestamp(),
    until: timestamp(),
    requests: bigint(),
    /** Number of requests that the source charged. */
    counted_requests: bigint(),
    /** By our clock. */
    last_success_at: timestamp(),
    /** The list contains only incidents: if it came complete and empty, none happened. */
    tells_incidents: boolean(),
    ...written,
  },
  { meaning: 'What each collection asked for, what the source counted, and what arrived.' },
)

export type Receipt = Omit<RowOf<typeof receipts>, 'created_at' | 'updated_at' | 'last_success_at'>

/** Stores a receipt. The time of the last success stays if a later run fails. */
export async function fileReceipt(database: Database, receipt: Receipt): Promise<void> {
  const last = receipt.status === 'complete' ? new Date() : await lastSuccess(database, receipt)
  await write(database, [receipts.row({ ...receipt, last_success_at: last })])
}

async function lastSuccess(
  { kysely }: Database,
  { plugin, raw_table, params }: Receipt,
): Promise<Date | null | undefined> {
  const before = await kysely
    .selectFrom(receipts.name)
    .select('last_success_at')
    .where('plugin', '=', plugin)
    .where('raw_table', '=', raw_table)
    .where('params', '=', params)
    .executeTakeFirst()
  return before?.last_success_at
}
