/** Collects from a fake GitHub as a pipeline would, and reads what was stored. Tests of other code hosts use the reading parts too. */
import type { Database } from '../../../src/database/database.ts'
import { readAll, readRows } from '../../../src/database/read.ts'
import { write } from '../../../src/database/write.ts'
import { domainTables } from '../../../src/domain/index.ts'
import { definePlugin } from '../../../src/plugin-kit/define/define-plugin.ts'
import { kitTables } from '../../../src/plugin-kit/define/tables.ts'
import { gaps, type StoredGap } from '../../../src/plugin-kit/raw/gaps.ts'
import { receipts } from '../../../src/plugin-kit/raw/receipts.ts'
import type { Plugin } from '../../../src/plugin-kit/spec/plugin.ts'
import type { Subtask, SubtaskResult, TaskRun } from '../../../src/plugin-kit/spec/subtask.ts'
import { settingsTables } from '../../../src/plugin-kit/task/settings-tables.ts'
import { githubGraphql } from '../../../src/plugins/github/graphql-plugin.ts'
import { repos } from '../../../src/plugins/github/kit.ts'
import { github, githubSpec } from '../../../src/plugins/github/plugin.ts'
import { gitlab } from '../../../src/plugins/gitlab/plugin.ts'
import { systemTables } from '../../../src/system/index.ts'
import { DEFAULT_TOKEN } from '../../fake-github/fake-github.ts'
import type { Item } from '../../fake-github/world/records.ts'
import type { Repository } from '../../fake-github/world/repository.ts'
import { anyTable } from '../../support/any-table.ts'
import { emptyTables } from '../../support/empty-tables.ts'

export const NAME = 'acme/web'
export const plugins: readonly Plugin[] = [github, githubGraphql]

/** GitHub by REST with this many requests at a time. */
export const githubAtOnce = (concurrency: number): Plugin =>
  definePlugin({
    ...githubSpec,
    connection: { ...githubSpec.connection, limits: { ...githubSpec.connection.limits, concurrency } },
  })

const ofPlugins = [...plugins, gitlab].flatMap((each) => each.tables)
const tables = [...new Set([...systemTables, ...kitTables, ...domainTables, ...ofPlugins])]
export const emptyGithub = (database: Database): Promise<void> => emptyTables(database, tables)

export interface Connected {
  readonly url: string
  readonly token?: string
  readonly repository?: string
  readonly githubId?: number
}

export async function connect(database: Database, connected: Connected): Promise<void> {
  const { url, token = DEFAULT_TOKEN, repository = NAME, githubId = 1 } = connected
  const { connections } = settingsTables(githubSpec)
  await write(database, [
    connections.row({ id: 1, name: 'fake', endpoint: url, token, auth_method: 'AccessToken' }),
    repos.row({
      connection_id: 1,
      github_id: githubId,
      name: repository.split('/')[1],
      full_name: repository,
      html_url: `https://github.com/${repository}`,
    }),
  ])
}

export interface RunOptions extends Partial<Omit<TaskRun, 'database' | 'options'>> {
  /** The name of the repository, unless `githubId` is given. */
  readonly repository?: string
  readonly githubId?: number
  readonly scopeConfig?: Record<string, unknown>
  /** Selects the subtasks. Without it, those that run by default. */
  readonly only?: (subtask: Subtask) => boolean
}

/** Runs one subtask after the other, and returns the result of each by its name. */
export async function runGithub(
  database: Database,
  plugin: Plugin,
  { repository = NAME, githubId, scopeConfig = {}, only = ({ isDefault }) => isDefault, ...given }: RunOptions = {},
): Promise<Record<string, SubtaskResult>> {
  const options = { connectionId: 1, ...(githubId ? { githubId } : { fullName: repository }), scopeConfig }
  const run = { fullSync: false, signal: new AbortController().signal, progress: () => {}, ...given }
  const results: Record<string, SubtaskResult> = {}
  for (const subtask of plugin.subtasks.filter(only)) {
    results[subtask.name] = await subtask.run({ ...run, database, options })
  }
  return results
}

/** Returns every domain row, without the time of writing and the raw record that it came from. */
export async function domainRows(database: Database): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const table of domainTables) {
    const rows: string[] = []
    for await (const row of readRows(database, { table, isLiteral: true })) {
      const { created_at, updated_at, _raw_data_id, _raw_data_table, ...rest } = row as Record<string, unknown>
      rows.push(JSON.stringify(rest))
    }
    if (rows.length > 0) found[table.name] = rows.sort()
  }
  return found
}

export const countsOf = (rows: Record<string, readonly unknown[]>): Record<string, number> =>
  Object.fromEntries(Object.entries(rows).map(([name, list]) => [name, list.length]))

/** For each kind of record: the tool tables, the column with the id, and optionally the value of a type column. */
const PLACES: Record<string, readonly (readonly [table: string, column: string, type?: string])[]> = {
  issues: [['issues', 'github_id']],
  pullRequests: [['pull_requests', 'github_id']],
  pullCommits: [['pull_request_commits', 'commit_sha']],
  reviews: [['pull_request_reviews', 'github_id']],
  comments: [
    ['issue_comments', 'github_id'],
    ['pull_request_comments', 'github_id', 'NORMAL'],
  ],
  reviewComments: [['pull_request_comments', 'github_id', 'DIFF']],
  events: [['issue_events', 'github_id']],
  milestones: [['milestones', 'milestone_id']],
  runs: [['runs', 'id']],
  jobs: [['jobs', 'id']],
  deployments: [['deployments', 'id']],
  releases: [['releases', 'id']],
  commits: [['repo_commits', 'commit_sha']],
}

/** Returns the ids that are stored in the tool tables, by kind. */
export async function storedIds({ kysely }: Database): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const [kind, places] of Object.entries(PLACES)) {
    const ids: string[] = []
    for (const [table, column, type] of places) {
      const query = anyTable(kysely).selectFrom(`_tool_github_${table}`).select(`${column} as id`)
      for (const { id } of await (type ? query.where('type', '=', type) : query).execute()) ids.push(String(id))
    }
    found[kind] = ids.sort()
  }
  return found
}

/** Returns the ids of everything that the fake generated, by kind. */
export function generatedIds(repository: Repository): Record<string, string[]> {
  const ids = <T extends Item>(
    items: Iterable<T>,
    id: (item: T) => unknown = ({ id }) => id,
    only: (item: T) => boolean = () => true,
  ) => [...items].filter(only).map((item) => String(id(item)))
  return Object.fromEntries(
    Object.entries({
      issues: ids(repository.issues),
      pullRequests: ids(repository.pullRequests),
      pullCommits: ids(repository.pullCommits, ({ sha }) => sha),
      // Pending reviews are drafts, which nobody else can see.
      reviews: ids(
        repository.reviews,
        ({ id }) => id,
        ({ state }) => state !== 'PENDING',
      ),
      comments: ids(repository.comments),
      reviewComments: ids(repository.reviewComments),
      events: ids(repository.events),
      milestones: ids(repository.milestones),
      runs: ids(repository.runs),
      jobs: ids(repository.jobs),
      deployments: ids(repository.deployments, ({ nodeId }) => nodeId),
      releases: ids(repository.releases, ({ nodeId }) => nodeId),
      commits: ids([...repository.commits, ...repository.pullCommits], ({ sha }) => sha),
    }).map(([kind, list]) => [kind, list.sort()]),
  )
}

/** Returns the differences by kind. It is empty if everything was stored and nothing else. */
export async function differences(database: Database, repository: Repository): Promise<Record<string, unknown>> {
  const [stored, generated] = [await storedIds(database), generatedIds(repository)]
  const found: Record<string, unknown> = {}
  for (const [kind, expected] of Object.entries(generated)) {
    const own = new Set(stored[kind])
    const known = new Set(expected)
    const missing = expected.filter((id) => !own.has(id))
    const strange = [...own].filter((id) => !known.has(id))
    if (missing.length + strange.length > 0)
      found[kind] = { missing: missing.slice(0, 9), strange: strange.slice(0, 9) }
  }
  return found
}

/** Returns for every raw table the number of its rows and of different records. */
export async function rawRows({ kysely }: Database): Promise<Record<string, { rows: number; distinct: number }>> {
  const found: Record<string, { rows: number; distinct: number }> = {}
  for (const { name } of tables.filter(({ name }) => name.startsWith('_raw_'))) {
    const seen = new Set<string>()
    let rows = 0
    for await (const row of anyTable(kysely).selectFrom(name).select(['data', 'input']).stream(200)) {
      rows++
      seen.add(`${JSON.stringify(row.input)} ${row.data}`)
    }
    if (rows > 0) found[name] = { rows, distinct: seen.size }
  }
  return found
}
/** Returns the raw tables that hold a record twice. */
export const doubled = async (database: Database): Promise<string[]> =>
  Object.entries(await rawRows(database)).flatMap(([name, { rows, distinct }]) => (rows > distinct ? name : []))

export async function receiptOf(database: Database, raw: string) {
  const [receipt] = await readAll(database, { table: receipts, where: { raw_table: `_raw_${raw}` } })
  return receipt
}

export const gapsOf = (database: Database): Promise<StoredGap[]> => readAll(database, { table: gaps })
