/** Collects from a fake GitLab as a pipeline would, and reads what was stored. */

import type { Database } from '../../src/database/database.ts'
import { write } from '../../src/database/write.ts'
import { definePlugin } from '../../src/plugin-kit/define/define-plugin.ts'
import type { Plugin, PluginSpec } from '../../src/plugin-kit/spec/plugin.ts'
import type { Subtask, SubtaskResult, TaskRun } from '../../src/plugin-kit/spec/subtask.ts'
import { settingsTables } from '../../src/plugin-kit/task/settings-tables.ts'
import { projects } from '../../src/plugins/gitlab/kit.ts'
import { gitlab } from '../../src/plugins/gitlab/plugin.ts'
import { DEFAULT_TOKEN } from '../fake-gitlab/fake-gitlab.ts'
import type { Project } from '../fake-gitlab/records.ts'
import { anyTable } from '../support/any-table.ts'

export const PATH = 'acme/web'
export const gitlabSpec = gitlab.source as PluginSpec

/** GitLab with this many requests at a time. */
export const gitlabAtOnce = (concurrency: number): Plugin =>
  definePlugin({
    ...gitlabSpec,
    connection: { ...gitlabSpec.connection, limits: { ...gitlabSpec.connection.limits, concurrency } },
  })

export async function connect(
  database: Database,
  { url, token = DEFAULT_TOKEN }: { readonly url: string; readonly token?: string },
  ...of: readonly Project[]
): Promise<void> {
  const { connections } = settingsTables(gitlabSpec)
  await write(database, [
    connections.row({ id: 1, name: 'fake', endpoint: url, token }),
    ...of.map(({ id, path }) =>
      projects.row({
        connection_id: 1,
        gitlab_id: id,
        name: path.split('/').at(-1) as string,
        path_with_namespace: path,
        web_url: `https://gitlab.example.com/${path}`,
      }),
    ),
  ])
}

export interface RunOptions extends Partial<Omit<TaskRun, 'database' | 'options'>> {
  readonly projectId?: number
  readonly scopeConfig?: Record<string, unknown>
  readonly plugin?: Plugin
  /** Selects the subtasks. Without it, those that run by default. */
  readonly only?: (subtask: Subtask) => boolean
}

/** Runs one subtask after the other, and returns the result of each by its name. */
export async function runGitlab(
  database: Database,
  { projectId = 70, scopeConfig = {}, plugin = gitlab, only = (each) => each.isDefault, ...more }: RunOptions = {},
): Promise<Record<string, SubtaskResult>> {
  const options = { connectionId: 1, projectId, scopeConfig }
  const run = { fullSync: false, signal: new AbortController().signal, progress: () => {}, ...more }
  const results: Record<string, SubtaskResult> = {}
  for (const subtask of plugin.subtasks.filter(only)) {
    results[subtask.name] = await subtask.run({ ...run, database, options })
  }
  return results
}

/** For each kind of record: the tool table, and the column with the id. */
const PLACES: Readonly<Record<string, readonly [table: string, column: string]>> = {
  issues: ['issues', 'gitlab_id'],
  mergeRequests: ['merge_requests', 'gitlab_id'],
  notes: ['mr_notes', 'gitlab_id'],
  commits: ['mr_commits', 'commit_sha'],
  pipelines: ['pipelines', 'gitlab_id'],
  jobs: ['jobs', 'gitlab_id'],
  deployments: ['deployments', 'deployment_id'],
  releases: ['releases', 'tag_name'],
  members: ['accounts', 'gitlab_id'],
}

export async function storedIds({ kysely }: Database): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = {}
  for (const [kind, [table, column]] of Object.entries(PLACES)) {
    const rows = await anyTable(kysely).selectFrom(`_tool_gitlab_${table}`).select(`${column} as id`).execute()
    found[kind] = rows.map(({ id }) => String(id)).sort()
  }
  return found
}

/** Returns the ids of everything that the fake has. Jobs are collected only if they succeeded or failed. */
export function generatedIds(project: Project): Record<string, string[]> {
  const { mergeRequests, pipelines } = project
  const ids = (things: readonly { readonly id: number }[]) => things.map(({ id }) => String(id)).sort()
  return {
    issues: ids(project.issues),
    mergeRequests: ids(mergeRequests),
    notes: ids(mergeRequests.flatMap(({ notes }) => notes)),
    commits: mergeRequests.flatMap(({ commits }) => commits.map(({ sha }) => sha)).sort(),
    pipelines: ids(pipelines),
    jobs: ids(pipelines.flatMap(({ jobs }) => jobs).filter(({ status }) => ['failed', 'success'].includes(status))),
    deployments: ids(project.deployments),
    releases: project.releases.map(({ tag }) => tag).sort(),
    members: ids(project.members),
  }
}

/** Returns the differences by kind. It is empty if everything was stored and nothing else. */
export async function differences(database: Database, project: Project): Promise<Record<string, unknown>> {
  const [stored, generated] = [await storedIds(database), generatedIds(project)]
  const kinds = Object.keys(generated).filter((kind) => String(stored[kind]) !== String(generated[kind]))
  const less = (one: readonly string[] = [], other: readonly string[] = []) => {
    const known = new Set(other)
    return one.filter((id) => !known.has(id)).slice(0, 9)
  }
  return Object.fromEntries(
    kinds.map((kind) => [
      kind,
      { missing: less(generated[kind], stored[kind]), strange: less(stored[kind], generated[kind]) },
    ]),
  )
}

export const namesOf =
  (...names: string[]) =>
  (subtask: Subtask) =>
    names.includes(subtask.name)
