/** Collects from a fake Bitbucket as a pipeline would. */
import { afterEach, beforeEach, expect } from 'vitest'
import { write } from '../../src/database/write.ts'
import { domainTables } from '../../src/domain/index.ts'
import { kitTables } from '../../src/plugin-kit/define/tables.ts'
import type { Plugin, PluginSpec } from '../../src/plugin-kit/spec/plugin.ts'
import type { SubtaskResult } from '../../src/plugin-kit/spec/subtask.ts'
import { settingsTables } from '../../src/plugin-kit/task/settings-tables.ts'
import { systemTables } from '../../src/system/index.ts'
import type { FakeShell } from '../fake-bitbucket/http.ts'
import type { TestDatabase } from '../support/databases.ts'
import { emptyTables } from '../support/empty-tables.ts'

export interface Collected<Fake extends FakeShell> {
  readonly plugin: Plugin
  /** Columns of the connection, besides its endpoint. */
  readonly connection: Readonly<Record<string, unknown>>
  readonly scope: Readonly<Record<string, unknown>>
  readonly start: (limit?: number) => Promise<Fake>
}

/** Prepares an empty database for each test of a block, and checks that the fake saw only documented requests. */
export function useFake<Fake extends FakeShell>(test: TestDatabase, collected: Collected<Fake>) {
  const { plugin, connection, scope } = collected
  const spec = plugin.source as PluginSpec
  const tables = [...new Set([...systemTables, ...kitTables, ...domainTables, ...plugin.tables])]
  let running: Fake | undefined
  beforeEach(async () => {
    await emptyTables(test.database, tables)
  })
  afterEach(async () => {
    const { violations = [] } = running ?? {}
    await running?.stop()
    running = undefined
    expect(violations).toEqual([])
  })
  return {
    async start(limit?: number): Promise<Fake> {
      running = await collected.start(limit)
      const { connections } = settingsTables(spec)
      await write(test.database, [
        connections.row({ id: 1, name: 'fake', endpoint: running.url, ...connection }),
        spec.scope.table.row({ connection_id: 1, ...scope }),
      ])
      return running
    },
    /** Runs one subtask after the other, and returns the result of each by its name. */
    async run(
      scopeConfig: Record<string, unknown> = {},
      { fullSync = false } = {},
    ): Promise<Record<string, SubtaskResult>> {
      const options = { connectionId: 1, fullName: scope.bitbucket_id, scopeConfig }
      const task = { fullSync, signal: new AbortController().signal, progress: () => {} }
      const results: Record<string, SubtaskResult> = {}
      for (const { name, isDefault, run } of plugin.subtasks) {
        if (isDefault) results[name] = await run({ ...task, database: test.database, options })
      }
      return results
    },
    rows: (table: string, order = 'id'): Promise<any[]> =>
      test.database.kysely.selectFrom(table).selectAll().orderBy(order).execute(),
  }
}
