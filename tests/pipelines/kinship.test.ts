/**
 * Two tools may use the same params text for their scopes: a repository of Bitbucket and one of Bitbucket Server, or any two
 * that `weir new-source` makes. An operation on a scope of one tool must leave all rows of other tools unchanged.
 */

import { sql } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import { targetsOf } from '../../src/control-plane/runs/collected-targets.ts'
import { deleteScopeData, scopeParams } from '../../src/control-plane/scopes/scope-data.ts'
import { marksOf, tablesOfScope } from '../../src/control-plane/scopes/scope-layers.ts'
import { scopeService } from '../../src/control-plane/scopes/scopes.ts'
import type { ServiceContext } from '../../src/control-plane/services.ts'
import { allConnected, scopeKey } from '../../src/control-plane/sources.ts'
import type { Database } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate.ts'
import type { AnyTable, Column } from '../../src/database/table.ts'
import { write } from '../../src/database/write.ts'
import { issues } from '../../src/domain/ticket.ts'
import { isRawTable } from '../../src/plugin-kit/raw/raw-table.ts'
import { receipts } from '../../src/plugin-kit/raw/receipts.ts'
import type { Plugin, PluginSpec } from '../../src/plugin-kit/spec/plugin.ts'
import { forgetScope } from '../../src/plugin-kit/task/forget-scope.ts'
import { renameScope } from '../../src/plugin-kit/task/rename-scope.ts'
import { settingsTables } from '../../src/plugin-kit/task/settings-tables.ts'
import { plugins as shipped } from '../../src/plugins/index.ts'
import { prepareDatabase } from '../../src/start/prepare-database.ts'
import { collectorLatestState, subtaskStates } from '../../src/system/state.ts'
import { workshopAnnex } from '../convergence/workshop/annex.ts'
import { workshop, workshopQuery } from '../convergence/workshop/plugin.ts'
import { anyTable } from '../support/any-table.ts'
import { describeEachWithTables } from '../support/databases.ts'

const plugins: readonly Plugin[] = [...shipped, workshop, workshopQuery, workshopAnnex]
const sources = allConnected(plugins).flatMap(({ source }) => source ?? [])

/** Returns any value that fits the column. */
function anyValue(table: AnyTable, name: string): unknown {
  const { kind } = table.columns[name] as Column
  if (kind === 'timestamp' || kind === 'date') return new Date(Date.UTC(2026, 0, 1))
  if (kind === 'boolean') return true
  return kind === 'string' || kind === 'text' ? '7' : 7
}
const keysOf = (table: AnyTable) => table.keys.map((position) => table.names[position] as string)
const anyRow = (table: AnyTable, names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, name === 'connection_id' || name === 'id' ? 1 : anyValue(table, name)]))
const scopeRowOf = ({ scope: { table } }: PluginSpec): Record<string, unknown> => ({
  ...anyRow(
    table,
    table.names.filter((name) => !name.startsWith('_raw_') && name !== 'scope_config_id'),
  ),
  connection_id: 1,
})

/** Returns the tables that only this plugin fills. */
function collectedTables({ tables, source }: Plugin): AnyTable[] {
  const { connections, scopeConfigs } = settingsTables(source as PluginSpec)
  const kept = new Set<AnyTable>([connections, scopeConfigs, (source as PluginSpec).scope.table])
  return tables.filter((table) => !kept.has(table) && (isRawTable(table.name) || table.origin >= 0))
}

const rawOf = ({ source }: Plugin): string =>
  `_raw_${source?.entities.map(({ spec }) => spec.raw).findLast((raw) => raw !== undefined)}`

/** Writes what a run would leave: raw records, tool rows, a domain row, and the state of the run. All have the same params text. */
async function fill(database: Database, params: string): Promise<void> {
  const rows = plugins.flatMap((plugin) => {
    if (!plugin.source) return []
    const origin = { _raw_data_params: params, _raw_data_table: rawOf(plugin) }
    const of = { plugin: plugin.name, params }
    return [
      ...collectedTables(plugin)
        .filter(({ name }) => !isRawTable(name))
        .map((table) => table.row({ ...anyRow(table, keysOf(table)), ...origin } as any)),
      issues.row({ id: `${plugin.name}:1`, ...origin }),
      collectorLatestState.row({ raw_data_params: params, raw_data_table: rawOf(plugin) }),
      subtaskStates.row({ ...of, subtask: 'some' }),
      receipts.row({ ...of, raw_table: rawOf(plugin), received: 1, stored: 1 } as any),
    ]
  })
  await write(database, rows)
  const raws = new Set(plugins.flatMap(({ tables }) => tables.map(({ name }) => name).filter(isRawTable)))
  for (const name of raws) {
    const values = { params, data: Buffer.from('{}'), input_key: '', record_key: '1' }
    await anyTable(database.kysely).insertInto(name).values(values).execute()
  }
}

/** Returns everything with this params text, and the plugins to which it belongs. */
async function marked(database: Database, params: string): Promise<Map<string, Plugin[]>> {
  const places = plugins
    .filter(({ source }) => source)
    .flatMap((plugin) => {
      const own = (what: string, table: string, column: string, where = sql`1 = 1`) => ({
        what,
        plugin,
        query: sql`select ${sql.lit(what)} as what where exists
          (select 1 from ${sql.table(table)} where ${sql.ref(column)} = ${sql.lit(params)} and ${where})`,
      })
      const { name } = plugin
      return [
        ...collectedTables(plugin).map((table) =>
          own(table.name, table.name, isRawTable(table.name) ? 'params' : '_raw_data_params'),
        ),
        own(`issues of ${name}`, issues.name, '_raw_data_params', sql`id = ${sql.lit(`${name}:1`)}`),
        own(
          `state of ${name}`,
          collectorLatestState.name,
          'raw_data_params',
          sql`raw_data_table = ${sql.lit(rawOf(plugin))}`,
        ),
        own(`subtasks of ${name}`, subtaskStates.name, 'params', sql`plugin = ${sql.lit(name)}`),
        own(`receipts of ${name}`, receipts.name, 'params', sql`plugin = ${sql.lit(name)}`),
      ]
    })
  const all = sql.join(
    places.map(({ query }) => query),
    sql` union all `,
  )
  const { rows } = await sql<{ what: string }>`${all}`.execute(database.kysely)
  const there = new Set(rows.map(({ what }) => what))
  const found = Map.groupBy(
    places.filter(({ what }) => there.has(what)),
    ({ what }) => what,
  )
  return new Map([...found].map(([what, each]) => [what, each.map(({ plugin }) => plugin)]))
}

const isKin = ({ source }: Plugin, { name }: PluginSpec) => source?.name === name || source?.settingsOf?.name === name
/** Tables of people and similar records: their rows stay as long as other rows refer to them. */
const isReferred = (name: string) =>
  plugins.some(({ source }) => source?.referred?.some(({ table }) => table.name === name))

describeEachWithTables('what is done to a scope of one tool', (test) => {
  const context = () => ({ database: test.database, plugins, changed: () => {} }) as unknown as ServiceContext
  beforeAll(async () => {
    await prepareDatabase(test.database)
    await migrate(test.database, [...new Set(plugins.flatMap(({ tables }) => tables))])
    for (const source of sources) {
      const { connections } = settingsTables(source)
      await write(test.database, [
        connections.row({ id: 1, name: source.name } as any),
        source.scope.table.row(scopeRowOf(source) as any),
      ])
    }
  }, 120_000)

  it.each(sources.map((source) => [source.name, source] as const))(
    'deleting the data of a scope of %s deletes all of it, and nothing of any other',
    async (_name, source) => {
      const scope = scopeRowOf(source)
      const params = scopeParams(source, 1, scope)
      await fill(test.database, params)
      const before = await marked(test.database, params)
      await deleteScopeData(test.database, plugins, source, 1, scope)
      const after = await marked(test.database, params)
      const of = (found: Map<string, Plugin[]>, isOwn: boolean) =>
        [...found].filter(([, by]) => by.some((plugin) => isKin(plugin, source)) === isOwn).map(([what]) => what)
      expect(of(after, false)).toEqual(of(before, false))
      expect(of(after, true).filter((name) => !isReferred(name))).toEqual([])
    },
    60_000,
  )

  describeOfOne('workshop', 'workshop_annex')
  describeOfOne('bitbucket', 'bitbucket_server')

  /** Tests two tools. The name of the second begins with the name of the first. */
  function describeOfOne(name: string, longer: string): void {
    const source = sources.find((each) => each.name === name) as PluginSpec
    const other = sources.find((each) => each.name === longer) as PluginSpec
    const params = () => scopeParams(source, 1, scopeRowOf(source))
    const ofOther = async (text: string) =>
      [...(await marked(test.database, text))].flatMap(([what, by]) =>
        by.some((plugin) => isKin(plugin, other)) ? [what] : [],
      )

    it(`forgetting what runs of ${name} remember leaves what those of ${longer} do`, async () => {
      await fill(test.database, params())
      const before = await ofOther(params())
      await forgetScope(test.database, source, params())
      expect(await ofOther(params())).toEqual(before)
      expect(before.length).toBeGreaterThan(4)
      const left = await marked(test.database, params())
      expect([...left.keys()]).not.toContain(`subtasks of ${name}`)
      expect([...left.keys()]).not.toContain(`state of ${name}`)
    })

    it(`renaming a scope of ${name} renames nothing of ${longer}`, async () => {
      await fill(test.database, params())
      const before = await ofOther(params())
      await renameScope(test.database, source, { from: params(), to: '{"ConnectionId":1,"FullName":"moved"}' })
      expect(await ofOther(params())).toEqual(before)
      const left = await marked(test.database, params())
      expect([...left.keys()]).not.toContain(`issues of ${name}`)
    })

    it(`asking what is stored of a scope of ${name} tells nothing of ${longer}`, async () => {
      await fill(test.database, params())
      const scopeId = String(scopeRowOf(source)[scopeKey(source)])
      const place = { plugin: name, connectionId: 1, scopeId }
      const tables = await tablesOfScope(context(), await marksOf(context(), place))
      const kin = plugins.filter((plugin) => isKin(plugin, source))
      const own = new Set([...kin.flatMap((plugin) => plugin.tables.map((table) => table.name)), 'issues'])
      expect(tables.map((table) => table.name).filter((table) => !own.has(table))).toEqual([])
      expect(tables.find((table) => table.name === 'issues')?.count).toBe(kin.length)

      const states = await scopeService(context(), async () => {}).latestSyncState(name, 1, scopeId)
      expect(states.map(({ raw_data_table }) => raw_data_table).sort()).toEqual([...new Set(kin.map(rawOf))].sort())

      const targets = await targetsOf({ context: context(), projects: {} as any }, { plugin: name, connectionId: 1 })
      expect(new Set(targets.flatMap((target) => target.plugins))).toEqual(new Set(kin.map((plugin) => plugin.name)))
    })
  }
})
