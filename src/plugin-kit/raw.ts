import { createHash } from 'node:crypto'
import {
  bigint,
  bytes,
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
} from '../database/table.ts'

const SAME_RECORD = 'same_record'
const LONGEST_KEY = 191

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
  data: bytes(),
  url: text(),
  input: json(),
  input_key: indexed(optional(string(LONGEST_KEY)), SAME_RECORD),
  record_key: indexed(optional(string(LONGEST_KEY)), SAME_RECORD),
  created_at: now(),
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

/** Text by which inputs and records are told apart; '' for what has no identity. */
export function keyText(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return text.length <= LONGEST_KEY ? text : createHash('sha256').update(text).digest('hex')
}
