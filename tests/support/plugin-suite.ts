/** The tests that every plugin gets: fixtures of raw records become rows, and a fake vendor is collected over HTTP. */

import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { testConnection } from '../../src/control-plane/connections/test-connection.ts'
import type { Database } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate.ts'
import { write } from '../../src/database/write.ts'
import { rawTable } from '../../src/plugin-kit/raw/raw-table.ts'
import { columnName } from '../../src/plugin-kit/spec/fields.ts'
import type { Plugin, PluginSpec } from '../../src/plugin-kit/spec/plugin.ts'
import type { RemoteEntry } from '../../src/plugin-kit/spec/remote-scopes.ts'
import { connectionSettings, openAwaitedClient } from '../../src/plugin-kit/task/connection.ts'
import { settingsTables } from '../../src/plugin-kit/task/settings-tables.ts'
import { allTables } from '../../src/tables.ts'
import { anyTable } from './any-table.ts'
import { describeOneWithTables, type TestDatabase } from './databases.ts'
import { emptyTables } from './empty-tables.ts'
import type { FakeSource } from './fake-source.ts'
import { runSubtask } from './run-subtask.ts'

type Values = Readonly<Record<string, unknown>>
/** The expected rows of each table, ordered by their first column. Columns that are left out are not compared. */
type Rows = Readonly<Record<string, readonly Values[]>>

interface Scope {
  /** The row of the scope's table, without `connection_id`. */
  readonly scope: Values
  /** The task options that name the scope. */
  readonly options: Values
  readonly scopeConfig?: Values
}

/** A JSON file. A raw record is `{ record, input }`, where `input` is what `forEach` yields if the entity has it. */
interface Fixture extends Scope {
  readonly raw: Readonly<Record<string, readonly { readonly record: unknown; readonly input?: unknown }[]>>
  readonly rows: Rows
}

export interface VendorCase extends Scope {
  readonly plugin: Plugin
  /** Columns of the connection, besides its name and endpoint. */
  readonly connection: Values
  /** Starts the fake of the vendor. */
  readonly start: () => Promise<FakeSource>
  /** Ids of all scopes that the vendor offers, in the vendor's order. */
  readonly remote?: readonly string[]
  readonly rows: Rows
}

const CONNECTION = 1
const MOST_PAGES = 100
/** Includes tables of a plugin that is not in the list of plugins. */
const tablesWith = ({ tables }: Plugin) => [...new Set([...allTables, ...tables])]
const specOf = ({ name, source }: Plugin): PluginSpec => {
  if (!source) throw new Error(`${name} is not a data source`)
  return source
}

async function prepare(database: Database, plugin: Plugin, { scope }: Scope, connection: Values): Promise<void> {
  const spec = specOf(plugin)
  await emptyTables(database, tablesWith(plugin))
  const { connections } = settingsTables(spec)
  await write(database, [connections.row({ id: CONNECTION, name: 'test', ...connection })])
  const row = spec.scope.table.row({ connection_id: CONNECTION, ...scope })
  await write(database, [row])
}

async function runSteps(database: Database, plugin: Plugin, steps: readonly string[], scope: Scope): Promise<void> {
  const options = { connectionId: CONNECTION, ...scope.options, scopeConfig: scope.scopeConfig ?? {} }
  for (const { name, step, isDefault } of plugin.subtasks) {
    if (isDefault && steps.includes(step)) await runSubtask(database, plugin, name, options)
  }
}

async function expectRows(database: Database, rows: Rows): Promise<void> {
  for (const [name, wanted] of Object.entries(rows)) {
    const columns = [...new Set(wanted.flatMap((row) => Object.keys(row)))]
    const first = columns[0] ?? 'created_at'
    const query = anyTable(database.kysely).selectFrom(name).orderBy(first)
    const stored = await (columns.length > 0 ? query.select(columns) : query.selectAll()).execute()
    expect(JSON.parse(JSON.stringify(stored)), name).toEqual(wanted.map((row) => expect.objectContaining(row)))
  }
}

/** Returns everything that `scope.remote` lists, from all pages and groups. */
async function remoteScopes(database: Database, plugin: Plugin): Promise<readonly RemoteEntry[]> {
  const spec = specOf(plugin)
  const settings = await connectionSettings(spec, CONNECTION, { database })
  const client = openAwaitedClient(spec, settings)
  const signal = AbortSignal.timeout(60_000)
  async function listed(group: string | undefined): Promise<RemoteEntry[]> {
    const children: RemoteEntry[] = []
    let page: unknown
    for (let count = 0; count < MOST_PAGES; count++) {
      const place = { ...(group !== undefined && { group }), ...(page !== undefined && { page }) }
      const found = await spec.scope.remote?.list({ client, settings, signal, ...place })
      for (const each of found?.children ?? [])
        children.push(...(each.type === 'group' ? await listed(each.id) : [each]))
      if (found?.next === undefined) return children
      page = JSON.parse(JSON.stringify(found.next))
    }
    throw new Error(`scope.remote of ${plugin.name} still gives \`next\` after ${MOST_PAGES} pages`)
  }
  return listed(undefined).finally(() => client.close())
}

/** Checks each file of a `fixtures` folder: the raw records must become the given rows. */
export function describeFixtures(plugin: Plugin, folder: string): void {
  describeOneWithTables(`${plugin.name}: raw records`, (test: TestDatabase) => {
    beforeAll(() => migrate(test.database, tablesWith(plugin)))
    it.each(globSync('*.json', { cwd: folder }).map((file) => basename(file)))(
      'of %s become its rows',
      async (file) => {
        const fixture = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Fixture
        const { database } = test
        await prepare(database, plugin, fixture, {})
        const params = JSON.stringify(specOf(plugin).scope.params(CONNECTION, fixture.scope))
        for (const [name, records] of Object.entries(fixture.raw)) {
          const table = rawTable(name)
          const rows = records.map(({ record, input = null }) =>
            table.row({ params, data: Buffer.from(JSON.stringify(record)), input }),
          )
          await write(database, rows)
        }
        await runSteps(database, plugin, ['extract', 'convert'], fixture)
        await expectRows(database, { _weir_quarantine: [], ...fixture.rows })
      },
    )
  })
}

/** Collects from a fake of the vendor twice, and once more after a refusal. */
export function describeVendor({ plugin, connection, start, remote, rows, ...scope }: VendorCase): void {
  describeOneWithTables(`${plugin.name}: a fake vendor`, (test: TestDatabase) => {
    const steps = ['collect', 'extract', 'convert']
    let fake: FakeSource
    beforeAll(async () => {
      fake = await start()
      await migrate(test.database, tablesWith(plugin))
    })
    const run = () => runSteps(test.database, plugin, steps, scope)
    beforeEach(async () => {
      fake.faults.length = 0
      await prepare(test.database, plugin, scope, { endpoint: fake.url, ...connection })
    })
    afterAll(() => fake.stop())

    it('proves that the connection works', async () => {
      const settings = await connectionSettings(specOf(plugin), CONNECTION, test)
      const how = { isSaved: true, signal: AbortSignal.timeout(60_000) }
      expect(await testConnection(specOf(plugin), settings, { mask: () => ({}) }, how)).toMatchObject({ success: true })
    })

    it.runIf(remote)('lists its scopes, with fields that their table has', async () => {
      const found = await remoteScopes(test.database, plugin)
      expect(found.map(({ id }) => id)).toEqual(remote)
      const { columns } = specOf(plugin).scope.table
      const fields = new Set(found.flatMap(({ data }) => Object.keys(data ?? {})))
      expect([...fields].filter((field) => !(columnName(field) in columns))).toEqual([])
    })

    it('is collected and converted', async () => {
      await run()
      await expectRows(test.database, { _weir_gaps: [], _weir_quarantine: [], ...rows })
    })

    it('gives the same rows to a second run', async () => {
      await run()
      await run()
      await expectRows(test.database, rows)
    })

    it('that refuses the credentials is named, and what is stored stays', async () => {
      await run()
      fake.faults.push({ path: '', answer: [401, {}], isLasting: true })
      await expect(run()).rejects.toThrow(/accepts none of the credentials/)
      await expectRows(test.database, rows)
    })
  })
}
