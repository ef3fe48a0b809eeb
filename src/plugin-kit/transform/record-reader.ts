/** Reads a record into a row by the sources of the table's columns. */
import type { Cell } from '../../database/fit.ts'
import type { AnyContext, AnyTable, Column, RawRecord, Source, TableRow } from '../../database/table.ts'
import { valueAt } from '../spec/json.ts'

type Reader = (record: unknown, context: unknown, values?: Record<string, unknown>) => TableRow
const readers = new WeakMap<AnyTable, Reader>()

/** Makes the reader of a table, once a table: it has a function for each column that finds its value. */
export function readerOf(table: AnyTable): Reader {
  const existing = readers.get(table)
  if (existing) return existing
  const finders = table.names.map((name) => finderFor(name, table.columns[name] as Column))
  const reader: Reader = (record, context, values) => {
    const cells: Cell[] = new Array(finders.length)
    for (let position = 0; position < finders.length; position++) {
      const override = values?.[table.names[position] as string]
      const value = override === undefined ? (finders[position] as Finder)(record, context) : override
      cells[position] = (table.fitters[position] as (value: unknown) => Cell)(value)
    }
    return { table, cells }
  }
  readers.set(table, reader)
  return reader
}

type Finder = (record: RawRecord, context: AnyContext) => unknown
/** Columns that the engine fills are not read from the record: a vendor's own `created_at` means something else. */
const FILLED = new Set([
  'created_at',
  'updated_at',
  '_raw_data_params',
  '_raw_data_table',
  '_raw_data_id',
  '_raw_data_remark',
])
function finderFor(name: string, { source }: { source?: Source }): Finder {
  if (typeof source === 'function') return source
  if (source === undefined) return FILLED.has(name) ? () => undefined : (record) => record?.[name]
  return (record) => valueAt(record, source)
}
