import {
  bigint,
  bytes,
  defineTable,
  generated,
  indexed,
  json,
  key,
  now,
  string,
  type Table,
  text,
} from '../database/table.ts'

/**
 * Records as the vendor sent them, one row each.
 * params    JSON text of the scope that was collected; compared as text, so field order and letter case count
 * input     what the collector was iterating over when it asked, e.g. the pull request whose commits these are
 */
const columns = {
  params: indexed(string(255), 'params_id'),
  id: indexed(key(generated(bigint())), 'params_id'),
  data: bytes(),
  url: text(),
  input: json(),
  created_at: indexed(now()),
}
export type RawTable = Table<typeof columns>

const tables = new Map<string, RawTable>()

/** The raw table of that name; entities that share one share its definition. */
export function rawTable(name: string): RawTable {
  const table =
    tables.get(name) ?? defineTable(`_raw_${name}`, columns, { meaning: 'Records as the vendor sent them.' })
  tables.set(name, table)
  return table
}

/** Whether a row's origin names a table of raw records; that of a scope which a user added does not. */
export const isRawTable = (name: string): boolean => name.startsWith('_raw_') && tables.has(name.slice('_raw_'.length))
