/** The tests that every plugin gets: fixtures of raw records become rows, and a fake vendor is collected over HTTP. */

import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { testConnection } from '../../src/control-plane/connections/test-connection.ts'
import type { Database } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate.ts'
import { write } from '../../src/database/write.ts'
import { rawTable } from '../../src/plugin-kit/raw/raw-table.ts'
import { columnName } from '../../src/plugin-kit/spec/fields.ts'
import type { Plugin, PluginSpec, ScopeCheck, SourceTask } from '../../src/plugin-kit/spec/plugin.ts'
import type { RemoteEntry } from '../../src/plugin-kit/spec/remote-scopes.ts'
import { connectionSettings, openAwaitedClient } from '../../src/plugin-kit/task/connection.ts'
import { settingsTables } from '../../src/plugin-kit/task/settings-tables.ts'
import { prepareSourceTask } from '../../src/plugin-kit/task/source-task.ts'
import { allTables } from '../../src/tables.ts'
import { anyTable } from './any-table.ts'
import { describeOneWithTables, type TestDatabase } from './databases.ts'
import { emptyTables } from './empty-tables.ts'
import type { FakeSource } from './fake-source.ts'
import {
  brokenReferences,
  columnsWithoutValue,
  mergedRecords,
  receivedOf,
  repeatedCollectors,
  rowsOfScope,
  strangersInScope,
  tablesWithoutRows,
  unpagedCollectors,
} from './plugin-checks.ts'
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
  /** Another scope of the same connection, with records of its own. */
  readonly other: Scope
  /** Columns, tables and collectors (for second pages) that another test of the plugin proves: the fake need not. */
  readonly unproven?: readonly string[]
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

async function prepare(
  database: Database,
  plugin: Plugin,
  scopes: readonly Scope[],
  connection: Values,
): Promise<void> {
  const spec = specOf(plugin)
  await emptyTables(database, tablesWith(plugin))
  const { connections } = settingsTables(spec)
  await write(database, [connections.row({ id: CONNECTION, name: 'test', ...connection })])
  await write(
    database,
    scopes.map(({ scope }) => spec.scope.table.row({ connection_id: CONNECTION, ...scope })),
  )
}

const optionsOf = ({ options, scopeConfig = {} }: Scope) => ({ connectionId: CONNECTION, ...options, scopeConfig })

/** `ran` is told the name of each subtask afterwards. */
async function runSteps(
  database: Database,
  plugin: Plugin,
  steps: readonly string[],
  scope: Scope,
  ran: (name: string) => void = () => {},
): Promise<void> {
  for (const { name, step, isDefault } of plugin.subtasks) {
    if (!isDefault || !steps.includes(step)) continue
    await runSubtask(database, plugin, name, optionsOf(scope))
    ran(name)
  }
}

const taskOf = (database: Database, plugin: Plugin, scope: Scope): Promise<SourceTask> =>
  prepareSourceTask(specOf(plugin), {
    database,
    options: optionsOf(scope),
    fullSync: false,
    signal: AbortSignal.timeout(60_000),
    progress: () => {},
  })

async function expectRows(database: Database, rows: Rows): Promise<void> {
  for (const [name, wanted] of Object.entries(rows)) {
    const columns = [...new Set(wanted.flatMap((row) => Object.keys(row)))]
    const first = columns[0] ?? 'created_at'
    const query = anyTable(database.kysely).selectFrom(name).orderBy(first)
    const stored = await (columns.length > 0 ? query.select(columns) : query.selectAll()).execute()
    expect(JSON.parse(JSON.stringify(stored)), name).toEqual(wanted.map((row) => expect.objectContaining(row)))
  }
}

/** As text, so that a failure shows the sentences. */
const expectNone = (problems: readonly string[]) => expect(problems.join('\n')).toBe('')

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
        await prepare(database, plugin, [fixture], {})
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

/** Collects two scopes from a fake of the vendor, the first of them twice, and once more after a refusal. */
export function describeVendor({
  plugin,
  connection,
  start,
  remote,
  rows,
  other,
  unproven = [],
  ...scope
}: VendorCase): void {
  describeOneWithTables(`${plugin.name}: a fake vendor`, (test: TestDatabase) => {
    const steps = ['collect', 'extract', 'convert']
    let fake: FakeSource
    let task: SourceTask
    const requests = new Map<string, string[]>()
    // The tests only read, or repeat what was done: they share one collection, in this order.
    beforeAll(async () => {
      fake = await start()
      await migrate(test.database, tablesWith(plugin))
      await prepare(test.database, plugin, [scope, other], { endpoint: fake.url, ...connection })
      await runSteps(test.database, plugin, steps, scope, (name) => requests.set(name, fake.requests.splice(0)))
      task = await taskOf(test.database, plugin, scope)
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

    it.runIf(specOf(plugin).scope.check)('finds its scope by the request that asks for it', async () => {
      const check = specOf(plugin).scope.check as (scope: unknown) => ScopeCheck
      const { finds, ...request } = check(task.context.scope)
      const client = openAwaitedClient(specOf(plugin), await connectionSettings(specOf(plugin), CONNECTION, test))
      const { body } = await client.send(request, AbortSignal.timeout(60_000)).finally(() => client.close())
      expect(finds?.(body).isThere ?? true).toBe(true)
    })

    it('has the rules that the test sets', () => {
      const { fields } = specOf(plugin).scopeConfig
      expect(Object.keys(scope.scopeConfig ?? {}).filter((name) => !(name in fields))).toEqual([])
    })

    it('is collected and converted', () => expectRows(test.database, { _weir_gaps: [], _weir_quarantine: [], ...rows }))

    it('has a record for everything that the plugin reads', async () => {
      const missing = [
        ...(await columnsWithoutValue(task)),
        ...(await tablesWithoutRows(task)),
        ...unpagedCollectors(task, requests),
      ]
      expectNone(missing.filter((problem) => !unproven.some((name) => problem.startsWith(`${name}:`))))
    })

    it('becomes rows that have keys, a scope and what they refer to', async () => {
      expectNone(await mergedRecords(task))
      expectNone(await strangersInScope(task))
      expectNone(await brokenReferences(task))
    })

    it('gives the same rows to a second run, which asks only for news', async () => {
      const first = await receivedOf(task)
      await runSteps(test.database, plugin, steps, scope)
      expectNone(repeatedCollectors(task, first, await receivedOf(task)))
      await expectRows(test.database, rows)
    })

    it('has scopes that leave each other alone', async () => {
      const before = await rowsOfScope(task)
      const neighbour = await taskOf(test.database, plugin, other)
      expect(neighbour.params, 'scope.params: the marker of another scope').not.toBe(task.params)
      await runSteps(test.database, plugin, steps, other)
      expect(await rowsOfScope(task)).toEqual(before)
      expectNone(await strangersInScope(neighbour))
      const theirs = await rowsOfScope(neighbour)
      expect(
        Object.values(theirs).some((each) => each.length > 0),
        'the other scope brings rows',
      ).toBe(true)
      await runSteps(test.database, plugin, ['extract', 'convert'], scope)
      expect(await rowsOfScope(neighbour)).toEqual(theirs)
    })

    it('that refuses the credentials is named, and what is stored stays', async () => {
      const before = await rowsOfScope(task)
      fake.faults.push({ path: '', answer: [401, {}], isLasting: true })
      await expect(runSteps(test.database, plugin, steps, scope)).rejects.toThrow(/accepts none of the credentials/)
      expect(await rowsOfScope(task)).toEqual(before)
    })
  })
}
