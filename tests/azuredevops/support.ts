/** Collects from a fake Azure DevOps as a pipeline would, and reads what was stored. */
import { afterEach, beforeEach } from 'vitest'
import type { Database } from '../../src/database/database.ts'
import { write } from '../../src/database/write.ts'
import type { PluginSpec } from '../../src/plugin-kit/spec/plugin.ts'
import type { Subtask, TaskRun } from '../../src/plugin-kit/spec/subtask.ts'
import { settingsTables } from '../../src/plugin-kit/task/settings-tables.ts'
import { repos } from '../../src/plugins/azuredevops-go/kit.ts'
import { azuredevops } from '../../src/plugins/azuredevops-go/plugin.ts'
import { allTables } from '../../src/tables.ts'
import { type FakeAzureDevops, startFakeAzureDevops, TOKEN } from '../fake-azuredevops/fake-azuredevops.ts'
import { ORGANIZATION, PROJECT } from '../fake-azuredevops/world.ts'
import { anyTable } from '../support/any-table.ts'
import type { TestDatabase } from '../support/databases.ts'
import { emptyTables } from '../support/empty-tables.ts'

export const spec = azuredevops.source as PluginSpec
const HOUR = 3_600_000

const PLACE = { organization_id: ORGANIZATION, project_id: PROJECT.name }
export const BOARD = {
  ...PLACE,
  id: PROJECT.id,
  type: 'Board',
  name: PROJECT.name,
  url: 'https://dev.azure.com/acme/shop',
}
export const repositoryRow = ({ id, name, webUrl }: FakeAzureDevops['repositories'][number]) => ({
  ...PLACE,
  id,
  name,
  type: 'TfsGit',
  url: webUrl,
})

export interface RunOptions extends Partial<Omit<TaskRun, 'database' | 'options'>> {
  readonly scopeConfig?: Record<string, unknown>
  /** Selects the subtasks. Without it, those that run by default. */
  readonly only?: (subtask: Subtask) => boolean
}

/** Prepares an empty database for each test of a block, and a fake whose clock moves only between runs. */
export function useAzureDevops(test: TestDatabase) {
  let running: FakeAzureDevops | undefined
  let time = 0
  beforeEach(async () => {
    await emptyTables(test.database, allTables)
  })
  afterEach(async () => {
    await running?.stop()
    running = undefined
  })
  return {
    async start(connection: Record<string, unknown> = {}): Promise<FakeAzureDevops> {
      const fake = await startFakeAzureDevops()
      running = fake
      time = Date.now() - 100 * HOUR
      fake.now = () => new Date(time)
      const { connections } = settingsTables(spec)
      const settings = { endpoint: fake.url, organization: ORGANIZATION, token: TOKEN, ...connection }
      await write(test.database, [
        connections.row({ id: 1, name: 'azure', ...settings }),
        ...[...fake.repositories.map(repositoryRow), BOARD].map((row) => repos.row({ connection_id: 1, ...row })),
      ])
      return fake
    },
    /** Lets time pass between events. */
    pass: (hours = 1) => {
      time += hours * HOUR
    },
    async run(id: string, { scopeConfig = {}, only = (each) => each.isDefault, ...more }: RunOptions = {}) {
      time += HOUR
      const options = { connectionId: 1, repositoryId: id, scopeConfig }
      const run = { fullSync: false, signal: new AbortController().signal, progress: () => {}, ...more }
      for (const subtask of azuredevops.subtasks.filter(only)) {
        await subtask.run({ ...run, database: test.database, options })
      }
      time += HOUR
    },
    rows: (table: string, ...columns: string[]) => stored(test.database, table, columns),
  }
}

const stored = ({ kysely }: Database, table: string, columns: readonly string[]): Promise<any[]> =>
  anyTable(kysely)
    .selectFrom(table)
    .select(columns as string[])
    .orderBy(columns[0] as string)
    .execute()
