/** Collects from a fake Jenkins as a pipeline would, and reads what was stored. */
import { afterEach, beforeEach } from 'vitest'
import type { Database } from '../../../src/database/database.ts'
import { readAll } from '../../../src/database/read.ts'
import { write } from '../../../src/database/write.ts'
import { gaps, type StoredGap } from '../../../src/plugin-kit/raw/gaps.ts'
import { receipts } from '../../../src/plugin-kit/raw/receipts.ts'
import type { Plugin, PluginSpec } from '../../../src/plugin-kit/spec/plugin.ts'
import type { Subtask, SubtaskResult, TaskRun } from '../../../src/plugin-kit/spec/subtask.ts'
import { settingsTables } from '../../../src/plugin-kit/task/settings-tables.ts'
import { jobs, markOf } from '../../../src/plugins/jenkins/kit.ts'
import { jenkins } from '../../../src/plugins/jenkins/plugin.ts'
import { allTables } from '../../../src/tables.ts'
import { type FakeJenkins, startFakeJenkins, TOKEN, USER } from '../../fake-jenkins/fake-jenkins.ts'
import { anyTable } from '../../support/any-table.ts'
import type { TestDatabase } from '../../support/databases.ts'
import { emptyTables } from '../../support/empty-tables.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

export async function connect(database: Database, endpoint: string, ...scopes: string[]): Promise<void> {
  const { connections } = settingsTables(jenkins.source as PluginSpec)
  await write(database, [
    connections.row({ id: 1, name: 'builds', endpoint, username: USER, password: TOKEN }),
    ...scopes.map((full_name) =>
      jobs.row({
        connection_id: 1,
        full_name,
        name: full_name.split('/').at(-1) as string,
        url: `${endpoint}x/`,
        _raw_data_table: '_raw_jenkins_scopes',
        _raw_data_params: markOf({ connection_id: 1, full_name }),
      }),
    ),
  ])
}

export interface RunOptions extends Partial<Omit<TaskRun, 'database' | 'options'>> {
  readonly scopeConfig?: Record<string, unknown>
  /** Selects the subtasks. Without it, all of them. */
  readonly only?: (subtask: Subtask) => boolean
  readonly plugin?: Plugin
}

/** Runs one subtask after the other, and returns the result of each by its name. */
export async function runJenkins(
  database: Database,
  fullName: string,
  { scopeConfig = {}, only = () => true, plugin = jenkins, ...rest }: RunOptions = {},
): Promise<Record<string, SubtaskResult>> {
  const options = { connectionId: 1, fullName, scopeConfig }
  const run = { fullSync: false, signal: new AbortController().signal, progress: () => {}, ...rest }
  const results: Record<string, SubtaskResult> = {}
  for (const subtask of plugin.subtasks.filter(only)) {
    results[subtask.name] = await subtask.run({ ...run, database, options })
  }
  return results
}

/** Prepares an empty database for each test of a block, and a Jenkins whose clock moves only between runs. */
export function useJenkins(test: TestDatabase) {
  let running: FakeJenkins | undefined
  let time = 0
  beforeEach(() => emptyTables(test.database, allTables))
  afterEach(async () => {
    await running?.stop()
    running = undefined
  })
  const start = async (...scopes: string[]): Promise<FakeJenkins> => {
    running = await startFakeJenkins()
    time = Date.now() - DAY
    running.now = () => new Date(time)
    await connect(test.database, running.endpoint, ...scopes)
    return running
  }
  const run = (fullName: string, options: RunOptions = {}) => {
    time += HOUR
    return runJenkins(test.database, fullName, options)
  }
  return { start, run }
}

const rowsOf = async ({ kysely }: Database, table: string, columns: readonly string[]): Promise<any[]> =>
  anyTable(kysely)
    .selectFrom(table)
    .select(columns as string[])
    .orderBy(columns[0] as string)
    .execute()

export const storedBuilds = (database: Database) =>
  rowsOf(database, '_tool_jenkins_builds', ['full_name', 'result']).then((rows) =>
    Object.fromEntries(rows.map(({ full_name, result }) => [full_name, result])),
  )
export const stored = (database: Database, table: string, ...columns: string[]) => rowsOf(database, table, columns)

export const gapsOf = (database: Database): Promise<StoredGap[]> => readAll(database, { table: gaps })
export async function receiptOf(database: Database, raw: string) {
  const [receipt] = await readAll(database, { table: receipts, where: { raw_table: `_raw_${raw}` } })
  return receipt
}

/** Returns the differences between the builds, commits and stages of these jobs and the stored ones. */
export async function differences(database: Database, fake: FakeJenkins, names: readonly string[]) {
  const expected = { builds: [] as string[], commits: [] as string[], stages: [] as string[] }
  for (const name of names) {
    for (const build of fake.items.get(name)?.builds ?? []) {
      const full = `${name}#${build.number}`
      expected.builds.push(`${full} ${build.result} ${build.timestamp}`)
      for (const { lastBuiltRevision } of build.actions as any[]) {
        if (lastBuiltRevision) expected.commits.push(`${full} ${lastBuiltRevision.SHA1}`)
      }
      for (const { id, status } of build.stages ?? []) expected.stages.push(`${full} ${id} ${status}`)
    }
  }
  const found = {
    builds: (await stored(database, '_tool_jenkins_builds', 'full_name', 'result', 'timestamp')).map(
      (row) => `${row.full_name} ${row.result} ${row.timestamp}`,
    ),
    commits: (await stored(database, '_tool_jenkins_build_commits', 'build_name', 'commit_sha')).map(
      (row) => `${row.build_name} ${row.commit_sha}`,
    ),
    stages: (await stored(database, '_tool_jenkins_stages', 'build_name', 'id', 'status')).map(
      (row) => `${row.build_name} ${row.id} ${row.status}`,
    ),
  }
  const differing: Record<string, { missing: string[]; strange: string[] }> = {}
  for (const kind of ['builds', 'commits', 'stages'] as const) {
    const [wanted, own] = [new Set(expected[kind]), new Set(found[kind])]
    const missing = [...wanted].filter((each) => !own.has(each))
    const strange = [...own].filter((each) => !wanted.has(each))
    if (missing.length + strange.length > 0) {
      differing[kind] = { missing: missing.slice(0, 5), strange: strange.slice(0, 5) }
    }
  }
  return differing
}
