import type { Database } from '../../../src/database/database.ts'
import type { TaskRun } from '../../../src/plugin-kit/spec/subtask.ts'
import { plugins } from '../../../src/plugins/index.ts'
import { anyTable } from '../../support/any-table.ts'
import { temporaryFolder } from './repository.ts'

const plugin = plugins.find(({ name }) => name === 'gitextractor')
if (!plugin) throw new Error('there is no plugin gitextractor')

export interface Collecting extends Partial<TaskRun> {
  readonly only?: readonly string[]
}

/** Runs the default subtasks, as a pipeline would, in a data folder of the test. */
export async function collect(
  database: Database,
  options: Record<string, unknown>,
  { only, ...run }: Collecting = {},
): Promise<void> {
  for (const subtask of plugin?.subtasks ?? []) {
    if (only ? !only.includes(subtask.name) : !subtask.isDefault) continue
    await subtask.run({
      database,
      options: { repoId: REPO, ...options },
      fullSync: false,
      signal: new AbortController().signal,
      progress: () => {},
      ...run,
    })
  }
}

export const REPO = 'github:GithubRepo:1:7'

/** Returns all git history in a database, ordered by key, without the times of writing. */
export async function stored(database: Database): Promise<Record<string, any[]>> {
  const tables = {
    commits: ['sha'],
    repo_commits: ['repo_id', 'commit_sha'],
    commit_parents: ['commit_sha', 'parent_commit_sha'],
    commit_files: ['id'],
    commit_file_components: ['commit_file_id'],
    refs: ['id'],
    accounts: ['id'],
  }
  const found: Record<string, any[]> = {}
  for (const [table, order] of Object.entries(tables)) {
    const rows = await anyTable(database.kysely).selectFrom(table).selectAll().execute()
    found[table] = rows
      .map(({ created_at, updated_at, ...row }) => row)
      .sort((one, other) => (order.map((name) => one[name]).join() < order.map((name) => other[name]).join() ? -1 : 1))
  }
  return found
}

export async function clear(database: Database): Promise<void> {
  for (const table of [
    'commits',
    'repo_commits',
    'commit_parents',
    'commit_files',
    'commit_file_components',
    'components',
    'refs',
    'accounts',
    '_devlake_subtask_states',
  ]) {
    await anyTable(database.kysely).deleteFrom(table).execute()
  }
}

/** Makes a data folder for this test. By default the plugin may also clone from this machine. */
export function freshData(isLocalAllowed = true): string {
  const folder = temporaryFolder()
  process.env.DATA_FOLDER = folder
  process.env.GIT_ALLOW_LOCAL = String(isLocalAllowed)
  return folder
}
