import { repos } from '../../domain/code.ts'
import type { PlannedScope, PlanTask, Plugin, Subtask } from '../../plugin-kit/index.ts'
import { type Clone, updateClone, withClone } from './clone.ts'
import { collectCommits } from './commits.ts'
import { forgetRepository } from './forget.ts'
import { GIT_OPTIONS, type GitTask, readOptions } from './options.ts'
import { collectRefs } from './refs.ts'

const COMMIT_TABLES = [
  'commits',
  'commit_parents',
  'repo_commits',
  'commit_files',
  'commit_file_components',
  'accounts',
]

/** Leaves out the token and the proxy. They are read from the connection, so that a plan never holds a secret. */
function planHistory(scope: PlannedScope): PlanTask | undefined {
  const { entities, cloneUrl: url, repoId, title, connectionId, plugin: pluginName, settings } = scope
  if (!entities.has('CODE') || url === undefined || !repoId) return undefined
  const { prSizeExcludedFileExtensions: excluded } = settings
  return {
    plugin: 'gitextractor',
    subtasks: [],
    options: {
      url,
      name: title,
      fullName: title,
      repoId,
      connectionId,
      pluginName,
      ...(Array.isArray(excluded) && excluded.length > 0 && { excludeFileExtensions: excluded }),
    },
  }
}

/** Collects the git history of any source. `plugins` returns the plugins whose connections may hold the credentials. */
export function gitextractor(plugins: () => readonly Plugin[]): Plugin {
  const reading = (
    name: string,
    writes: readonly string[],
    read: (task: GitTask, clone: Clone) => ReturnType<Subtask['run']>,
  ): Subtask => ({
    name,
    step: 'collect',
    reads: writes.includes('commit_files') ? ['components'] : [],
    writes,
    domainTypes: ['CODE'],
    isDefault: true,
    run(run) {
      const task = readOptions(run)
      return withClone(task, plugins(), (clone) => read(task, clone))
    },
  })
  const clone: Subtask = {
    name: 'Clone Git Repo',
    step: 'collect',
    reads: [],
    writes: [],
    domainTypes: ['CODE'],
    isDefault: true,
    async run(run) {
      await updateClone(readOptions(run), plugins())
      return { records: 0, rows: 0, quarantined: 0 }
    },
  }
  return {
    name: 'gitextractor',
    title: 'Git history',
    tables: [],
    options: GIT_OPTIONS,
    forget: async (database, { table, rowId }) => {
      if (table === repos.name) await forgetRepository(database, rowId)
    },
    plans: { withScope: planHistory },
    leases: ({ repoId }) => (repoId ? [`repository ${repoId}`] : []),
    subtasks: [
      clone,
      reading('Collect Commits', COMMIT_TABLES, collectCommits),
      reading('Collect Branches', ['refs'], (task, opened) => collectRefs(task, opened, 'BRANCH')),
      reading('Collect Tags', ['refs'], (task, opened) => collectRefs(task, opened, 'TAG')),
    ],
  }
}
