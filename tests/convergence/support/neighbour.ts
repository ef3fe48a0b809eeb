/**
 * Another tool in the same database, whose name begins with the vendor's and whose scopes have the same params text.
 * Operations on the vendor's data must leave all its rows unchanged: collected rows, and the state that its runs keep.
 */
import { sql } from 'kysely'
import { deleteScopeData, scopeParams } from '../../../src/control-plane/scopes/scope-data.ts'
import type { Database } from '../../../src/database/database.ts'
import type { AnyTable } from '../../../src/database/table.ts'
import { write } from '../../../src/database/write.ts'
import { domainTables } from '../../../src/domain/index.ts'
import { collectTables } from '../../../src/plugin-kit/raw/collect-tables.ts'
import { isRawTable } from '../../../src/plugin-kit/raw/raw-table.ts'
import { receipts } from '../../../src/plugin-kit/raw/receipts.ts'
import type { Plugin, PluginSpec } from '../../../src/plugin-kit/spec/plugin.ts'
import { settingsTables } from '../../../src/plugin-kit/task/settings-tables.ts'
import { collectorLatestState, rawMarks, subtaskStates } from '../../../src/system/state.ts'
import { filledTables } from '../../support/empty-tables.ts'
import { runTask } from './run-task.ts'
import { differences, type Snapshot } from './snapshot.ts'
import type { RunningVendor, ScopeUnderTest, VendorUnderTest } from './vendor-under-test.ts'

const CONNECTION = 1
/** The scopes with which a history begins. */
const SCOPES = [0, 1]

export interface Neighbour {
  /** Collects all of its scopes. */
  run(): Promise<void>
  /** Deletes the data of one of its scopes. */
  deleteData(scope: number): Promise<void>
  /** Returns one line for each row that changed since this tool's last own operation. */
  changes(): Promise<string[]>
}

export async function moveIn(
  database: Database,
  { neighbour, interfaces, scopes }: VendorUnderTest,
  { connection }: RunningVendor,
): Promise<Neighbour | undefined> {
  if (!neighbour) return undefined
  const source = neighbour.source as PluginSpec
  const columns = (values: object) => values as any
  const rowOf = (scope: number) => ({ ...(scopes[scope] as ScopeUnderTest).row, connection_id: CONNECTION })
  await write(database, [
    settingsTables(source).connections.row(columns({ id: CONNECTION, name: neighbour.name, ...connection })),
    ...SCOPES.map((scope) => source.scope.table.row(columns(rowOf(scope)))),
  ])
  let kept: Snapshot = new Map()
  const look = async () => {
    kept = await rowsOf(database, neighbour)
  }
  return {
    async run() {
      for (const scope of SCOPES) {
        await runTask(database, neighbour, { connectionId: CONNECTION, ...scopes[scope]?.options }).finally(look)
      }
    },
    async deleteData(scope) {
      const row = rowOf(SCOPES[scope % SCOPES.length] as number)
      await deleteScopeData(database, [...interfaces, neighbour], source, CONNECTION, row)
      await look()
      const params = scopeParams(source, CONNECTION, row)
      const left = [...kept].filter(([table, rows]) => rows.some((each) => isOf(table, each, params)))
      if (left.length > 0)
        throw new Error(`deleted data of ${neighbour.name} is left in ${left.map(([table]) => table)}`)
    },
    changes: async () => differences(await rowsOf(database, neighbour), kept),
  }
}

const isOf = (table: string, row: string, params: string): boolean => {
  const { params: own, _raw_data_params: made, raw_data_params: collected } = JSON.parse(row)
  return [own, made, collected].includes(params) && table !== subtaskStates.name
}

/** Returns all rows that this tool has made, without its settings. */
async function rowsOf(database: Database, { name, tables, source }: Plugin): Promise<Snapshot> {
  const raws = sql.join(tables.map((table) => table.name).filter(isRawTable))
  const { connections, scopeConfigs } = settingsTables(source as PluginSpec)
  const settings = new Set<AnyTable>([connections, scopeConfigs, (source as PluginSpec).scope.table])
  const places: readonly (readonly [AnyTable, ReturnType<typeof sql>])[] = [
    ...tables.filter((table) => !settings.has(table)).map((table) => [table, sql`1 = 1`] as const),
    ...domainTables
      .filter(({ origin }) => origin >= 0)
      .map((table) => [table, sql`_raw_data_table in (${raws})`] as const),
    ...[receipts, ...collectTables].map((table) => [table, sql`raw_table in (${raws})`] as const),
    [collectorLatestState, sql`raw_data_table in (${raws})`],
    ...[subtaskStates, rawMarks].map((table) => [table, sql`plugin = ${name}`] as const),
  ]
  const found = new Map<string, string[]>()
  const there = new Set(
    await filledTables(
      database,
      places.map(([table]) => table),
    ),
  )
  for (const [table, where] of places.filter(([table]) => there.has(table))) {
    const { rows } = await sql`select * from ${sql.table(table.name)} where ${where}`.execute(database.kysely)
    if (rows.length > 0) found.set(table.name, rows.map((row) => JSON.stringify(row)).sort())
  }
  return found
}
