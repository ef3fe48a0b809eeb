/** For every scope and entity: what the source said it has, what arrived, and when all of it last did. */
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
    /** Null when the source does not say how much there is. */
    expected: optional(bigint()),
    received: bigint(),
    stored: bigint(),
    /** The time range asked for, by the source's clock; null: from the beginning. */
    since: timestamp(),
    until: timestamp(),
    requests: bigint(),
    /** Of these, charged by the source. */
    counted_requests: bigint(),
    /** By our clock. */
    last_success_at: timestamp(),
    /** The list holds incidents and nothing else: where it came whole and empty, none happened. */
    tells_incidents: boolean(),
    ...written,
  },
  { meaning: 'What each collection asked for, what the source counted, and what arrived.' },
)

export type Receipt = Omit<RowOf<typeof receipts>, 'created_at' | 'updated_at' | 'last_success_at'>

/** The moment of the last success stays when a later run fails. */
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
