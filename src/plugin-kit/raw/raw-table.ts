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
 * Records as the vendor sent them, one row each, and only the newest version of every record.
 * params      JSON text of the scope that was collected; compared as text, so field order and letter case matter
 * input       the input with which the collector asked, e.g. the pull request whose commits these are
 * input_key   the same as a short text; '' if the collector has no inputs
 * record_key  the same for all versions of one record; '' if records have no identity, null if no key was made yet
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

export const rawName = (name: string): string => `_raw_${name}`

/** The raw table of this name; entities that share a table also share its definition. */
export function rawTable(name: string): RawTable {
  const table = tables.get(name) ?? defineTable(rawName(name), columns, { meaning: 'Records as the vendor sent them.' })
  tables.set(name, table)
  return table
}

/** A condition that the payload of a record was removed. Its rows stay as they are. No record from a source is empty. */
export const letGo = (column = 'data'): RawBuilder<boolean> => sql<boolean>`octet_length(${sql.ref(column)}) = 0`

/** True if the origin of a row is a table of raw records. The origin of a scope that a user added is not. */
export const isRawTable = (name: string): boolean => name.startsWith('_raw_') && tables.has(name.slice('_raw_'.length))
