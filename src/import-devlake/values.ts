/** Turns values of DevLake's columns into values for Weir's columns, because some types differ. */
import type { AnyTable, Column, TableRow } from '../database/table.ts'

export type Values = Readonly<Record<string, unknown>>

const NUMBERS: readonly string[] = ['integer', 'bigint', 'double']

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function asOurs({ kind }: Column, value: unknown): unknown {
  if (value === null || value === undefined) return null
  if (Buffer.isBuffer(value)) return kind === 'bytes' ? value : asOurs({ kind } as Column, value.toString('utf8'))
  if (typeof value === 'boolean' && NUMBERS.includes(kind)) return Number(value)
  if (kind === 'json') return typeof value === 'string' ? parsed(value) : value
  const isText = kind === 'string' || kind === 'text'
  return isText && typeof value === 'object' && !(value instanceof Date) ? JSON.stringify(value) : value
}

/** Throws a RecordError that names the value which cannot be stored. */
export function ourRow(table: AnyTable, values: Values, stamp: Date): TableRow {
  const fitting = table.names.map((name) => [name, asOurs(table.columns[name] as Column, values[name])])
  const row = table.row(Object.fromEntries(fitting))
  for (const position of [table.createdAt, table.updatedAt]) if (position >= 0) row.cells[position] ??= stamp
  return row
}
