import { type RawBuilder, sql } from 'kysely'
import {
  bigint,
  bytes,
  compressed,
  defineTable,
  generated,
  indexed,
  json,
  key,
  now,
  optional,
  string,
  type Table,
  text,
} from '../../database/table.ts'
import { LONGEST_KEY } from '../spec/key-text.ts'

const SAME_RECORD = 'same_record'

/**
 * Records as the vendor sent them, one row each, and of every record only its newest version.
 * params      JSON text of the scope that was collected; compared as text, so field order and letter case count
 * input       what the collector was iterating over when it asked, e.g. the pull request whose commits these are
 * input_key   the same as a short text; '' where it does not iterate
 * record_key  what makes two records versions of one; '' where they have no identity, null as long as nobody has looked
 */
const columns = {
  params: indexed(string(255), 'params_id'),
  id: indexed(key(generated(bigint())), 'params_id'),
  data: compressed(bytes()),
  url: text(),
  input: json(),
  input_key: indexed(optional(string(LONGEST_KEY)), SAME_RECORD),
  record_key: indexed(optional(string(LONGEST_KEY)), SAME_RECORD),
  created_at: now(),
}
export type RawTable = Table<typeof columns>

const tables = new Map<string, RawTable>()

/** How the raw table is called in the database. */
export const rawName = (name: string): string => `_raw_${name}`

/** The raw table of that name; entities that share one share its definition. */
export function rawTable(name: string): RawTable {
  const table = tables.get(name) ?? defineTable(rawName(name), columns, { meaning: 'Records as the vendor sent them.' })
  tables.set(name, table)
  return table
}

/** The payload was let go: what was made of it stays as it is. No record of a source is empty. */
export const letGo = (column = 'data'): RawBuilder<boolean> => sql<boolean>`octet_length(${sql.ref(column)}) = 0`

/** Whether a row's origin names a table of raw records; that of a scope which a user added does not. */
export const isRawTable = (name: string): boolean => name.startsWith('_raw_') && tables.has(name.slice('_raw_'.length))
