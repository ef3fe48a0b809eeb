/** The stored rows that the law of convergence is about, and the differences between two snapshots of them. */
import type { Database } from '../../../src/database/database.ts'
import { readAll } from '../../../src/database/read.ts'
import type { Table } from '../../../src/database/table.ts'
import { filledTables } from '../../support/empty-tables.ts'

export type Snapshot = ReadonlyMap<string, readonly string[]>

/** Columns that tell when a row was written, and from which of several raw records it was made. */
const ASIDE = ['created_at', 'updated_at', '_raw_data_id']
const CONFIGURED = 'of a configured scope'

export interface Sight {
  readonly tables: readonly Table<any>[]
  /** The `_raw_data_params` of configured scopes. If several of them share a row, it does not matter which one made it. */
  readonly params: ReadonlySet<string>
  readonly isAside: (table: string, column: string) => boolean
}

export async function snapshot(database: Database, { tables, params, isAside }: Sight): Promise<Snapshot> {
  const found = new Map<string, string[]>()
  for (const table of await filledTables(database, tables)) {
    const kept = table.names.filter((name) => !ASIDE.includes(name) && !isAside(table.name, name))
    const rows = (await readAll(database, { table, isLiteral: true })).map((row) =>
      JSON.stringify(
        Object.fromEntries(
          kept.map((name) => [
            name,
            name === '_raw_data_params' && params.has(String(row[name])) ? CONFIGURED : row[name],
          ]),
        ),
        (_name, value) => (typeof value === 'bigint' ? String(value) : value),
      ),
    )
    found.set(table.name, rows.sort())
  }
  return found
}

const MOST_ROWS = 4

/** Returns one line per row that only one of the snapshots has. Without lines they are equal. */
export function differences(lived: Snapshot, fresh: Snapshot): string[] {
  return [...new Set([...fresh.keys(), ...lived.keys()])].flatMap((table) => {
    const [own, other] = [lived.get(table) ?? [], fresh.get(table) ?? []]
    const strange = without(own, other).map((row) => `${table} has, and a fresh one has not: ${row}`)
    const missing = without(other, own).map((row) => `${table} has not, and a fresh one has: ${row}`)
    return [...shortened(table, strange), ...shortened(table, missing)]
  })
}

function without(rows: readonly string[], others: readonly string[]): string[] {
  const left = Map.groupBy(others, (row) => row) as Map<string, string[]>
  return rows.filter((row) => left.get(row)?.pop() === undefined)
}

const shortened = (table: string, lines: readonly string[]): string[] =>
  lines.length > MOST_ROWS
    ? [...lines.slice(0, MOST_ROWS), `${table}: and ${lines.length - MOST_ROWS} more`]
    : [...lines]
