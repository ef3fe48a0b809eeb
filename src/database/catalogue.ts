import type { LiveColumn, LiveTable } from './dialect.ts'

/** The catalogue of the database as rows: one for each column, and one for each index with its column names joined by a comma. */
export interface Catalogue {
  readonly columns: readonly (LiveColumn & { readonly table_name: string; readonly column_name: string })[]
  readonly indexes: readonly { readonly table_name: string; readonly columns: string }[]
}

/** Groups the catalogue by table. `kinds` maps the type names of the database to column kinds. */
export function liveTables(
  { columns, indexes }: Catalogue,
  kinds: Readonly<Record<string, string>>,
): Map<string, LiveTable> {
  const tables = new Map<string, { columns: Map<string, LiveColumn>; indexes: Set<string> }>()
  for (const { table_name, column_name, type, size } of columns) {
    const table = tables.get(table_name) ?? { columns: new Map(), indexes: new Set() }
    table.columns.set(column_name, { type: kinds[type] ?? type, size })
    tables.set(table_name, table)
  }
  for (const { table_name, columns: names } of indexes) tables.get(table_name)?.indexes.add(names)
  return tables
}
