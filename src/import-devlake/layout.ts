/** Finds the tables and columns to import, by comparing the tables of DevLake with Weir's definitions. */
import { sql } from 'kysely'
import { byName } from '../basics/by-name.ts'
import type { Database } from '../database/database.ts'
import type { LiveColumn } from '../database/dialect.ts'
import {
  type AnyTable,
  bigint,
  type Column,
  defineTable,
  double,
  optional,
  string,
  text,
  timestamp,
} from '../database/table.ts'
import { domainTables } from '../domain/index.ts'
import { seedRows } from '../domain/seeds.ts'
import { authSessions } from '../system/access.ts'
import { systemTables } from '../system/index.ts'
import { collectorLatestState, lockingHistory, lockingStub, migrationHistory, subtaskStates } from '../system/state.ts'
import { allTables } from '../tables.ts'
import type { Live } from './recognise.ts'

/** Tables in which DevLake remembers earlier runs. Without them the next run of a blueprint collects everything. */
export const runStates: readonly AnyTable[] = [collectorLatestState, subtaskStates]
/** Sessions are signed with a secret that is not imported. */
export const sessions: readonly AnyTable[] = [authSessions]

const STAYS = new Map<AnyTable, string>([
  ...runStates.map((table) => [table, 'the next run of each blueprint collects everything again'] as const),
  ...sessions.map((table) => [table, 'people sign in again'] as const),
  ...[migrationHistory, lockingHistory, lockingStub].map((table) => [table, 'only DevLake itself uses it'] as const),
  ...seedRows(new Date()).map(({ table }) => [table, 'Weir has the same rows of its own'] as const),
])

export interface SharedTable {
  /** The table with the columns that users added to DevLake's. */
  readonly table: AnyTable
  /** Columns that both databases have. */
  readonly names: readonly string[]
}

export interface LeftTable {
  readonly table: string
  readonly rows: number
  readonly reason: string
}
export interface LeftColumn {
  readonly table: string
  readonly column: string
  readonly reason: string
}
export interface Findings {
  readonly tables: readonly LeftTable[]
  readonly columns: readonly LeftColumn[]
}

const isOwn = (name: string) => name.startsWith('_weir_')
const keyNames = ({ keys, names }: AnyTable) => keys.map((position) => names[position] as string)

/** A database cannot be understood without these: the tables for configuration, and the columns that identify domain rows. */
export const neededOf = (live: Live) => [
  ...systemTables
    .filter((table) => !isOwn(table.name) && !STAYS.has(table))
    .map((table) => ({ table: table.name, columns: keyNames(table) })),
  ...domainTables
    .filter(({ name }) => live.has(name))
    .map((table) => ({ table: table.name, columns: keyNames(table) })),
]

/** Finds a key column that DevLake's table lacks: its rows cannot be told apart. */
const missingKey = (table: AnyTable, live: Live) =>
  keyNames(table).find((name) => !live.get(table.name)?.columns.has(name))

export function sharedTables(live: Live): SharedTable[] {
  return allTables
    .filter((table) => live.has(table.name) && !isOwn(table.name) && !STAYS.has(table) && !missingKey(table, live))
    .map((table) => withAddedColumns(table, live))
    .map((table) => ({ table, names: table.names.filter((name) => live.get(table.name)?.columns.has(name)) }))
}

/** Columns that users added to domain tables. A type that Weir cannot have becomes text. */
const ADDED: Readonly<Record<string, (column: LiveColumn) => Column>> = byName({
  string: ({ size }) => optional(string(size ?? 255)),
  bigint: () => optional(bigint()),
  integer: () => optional(bigint()),
  double: () => optional(double()),
  float: () => optional(double()),
  timestamp: () => timestamp(),
})
const isAdded = (name: string) => name.startsWith('x_')

function withAddedColumns(table: AnyTable, live: Live): AnyTable {
  const added = [...(live.get(table.name)?.columns ?? [])].filter(([name]) => isAdded(name) && !(name in table.columns))
  if (added.length === 0 || !domainTables.includes(table)) return table
  const columns = added.map(([name, column]) => [name, ADDED[column.type]?.(column) ?? optional(text())])
  return defineTable(
    table.name,
    { ...table.columns, ...Object.fromEntries(columns) },
    { meaning: table.meaning, keyOrder: keyNames(table) },
  )
}

export const countRows = async ({ kysely }: Database, name: string): Promise<number> => {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(name)}`.execute(kysely)
  return Number(rows[0]?.count ?? 0)
}

/** Finds tables with rows, and columns with values, that are not imported, and the reasons. */
export async function findLeftOvers(database: Database, live: Live): Promise<Findings> {
  const ours = new Map(allTables.map((table) => [table.name, table]))
  const tables: LeftTable[] = []
  for (const name of [...live.keys()].filter((each) => !isOwn(each)).sort()) {
    const reason = reasonOf(name, ours.get(name), live)
    const rows = reason === undefined ? 0 : await countRows(database, name)
    if (reason !== undefined && rows > 0) tables.push({ table: name, rows, reason })
  }
  const columns: LeftColumn[] = []
  for (const { table } of sharedTables(live)) {
    for (const column of live.get(table.name)?.columns.keys() ?? []) {
      if (column in table.columns || !(await hasValues(database, table.name, column))) continue
      columns.push({ table: table.name, column, reason: 'Weir has no such column' })
    }
  }
  return { tables, columns }
}

function reasonOf(name: string, table: AnyTable | undefined, live: Live): string | undefined {
  if (!table) return /^_(tool|raw)_/.test(name) ? 'Weir has no plugin that uses it' : 'Weir has no such table'
  const missing = missingKey(table, live)
  return STAYS.get(table) ?? (missing === undefined ? undefined : `it has no column ${missing}`)
}

async function hasValues({ kysely }: Database, table: string, column: string): Promise<boolean> {
  const { rows } =
    await sql`select 1 as one from ${sql.table(table)} where ${sql.id(column)} is not null limit 1`.execute(kysely)
  return rows.length > 0
}
