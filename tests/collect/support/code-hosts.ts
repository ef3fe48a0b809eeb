/** Code hosts that share the same tests and the same benchmark. Each has its fake in a separate process. */
import type { Database } from '../../../src/database/database.ts'
import type { Plugin } from '../../../src/plugin-kit/spec/plugin.ts'
import type { Progress, Subtask } from '../../../src/plugin-kit/spec/subtask.ts'
import { gitlab as plugin } from '../../../src/plugins/gitlab/plugin.ts'
import type { FaultPlan } from '../../fake-github/faults.ts'
import type { RequestLog } from '../../fake-github/request-log.ts'
import { spawnFakeGithub } from '../../fake-github/spawn.ts'
import type { RepositoryOptions } from '../../fake-github/world/settings.ts'
import { spawnFakeGitlab } from '../../fake-gitlab/spawn.ts'
import type { ProjectOptions } from '../../fake-gitlab/world.ts'
import * as gitlab from '../../gitlab/support.ts'
import * as github from './github.ts'

export interface SpawnedHost {
  connect(database: Database): Promise<void>
  /** Returns the differences between the fake and the database. It is empty if everything was stored and nothing else. */
  differences(database: Database): Promise<Record<string, unknown>>
  state(): Promise<{ readonly requests: RequestLog; readonly violations: readonly unknown[] }>
  clearRequests(): Promise<void>
  stop(): Promise<void>
}
export interface Size {
  readonly changes: number
  readonly issues?: number
  readonly runs?: number
  readonly jobs?: number
  /** The number of deployments, of releases, and of similar records. */
  readonly others?: number
  readonly users?: number
}
export interface Spawning {
  readonly faults?: FaultPlan
  readonly latencyMilliseconds?: number
}
interface RunOptions {
  readonly only: (subtask: Subtask) => boolean
  readonly progress?: (progress: Progress) => void
}
export interface CodeHost {
  readonly plugins: readonly Plugin[]
  /** Returns the plugin with this many requests at a time. */
  atOnce(concurrency: number): Plugin
  run(database: Database, plugin: Plugin, options: RunOptions): Promise<unknown>
  /** Collectors that ask at the same addresses as other collectors. */
  readonly alike: readonly string[]
  /** Subtasks for pull or merge requests and their parts, including the extraction between them that tells which requests exist. */
  readonly changes: readonly string[]
  spawn(size: Size, spawning?: Spawning): Promise<SpawnedHost>
}

const TOKEN = 'one'

export const CODE_HOSTS: Readonly<Record<'github' | 'gitlab', CodeHost>> = {
  github: {
    plugins: github.plugins,
    atOnce: github.githubAtOnce,
    run: github.runGithub,
    // Statistics are requested at the same address as the commits of deployments.
    alike: ['Collect Commit Stats'],
    changes: [
      'Collect Pull Requests',
      'Extract Pull Requests',
      'Collect PR Details',
      'Collect PR Commits',
      'Collect PR Reviews',
    ],
    async spawn({ changes, issues = 0, runs = 0, jobs = 4, others = 0, users = 5 }, spawning = {}) {
      const repository: RepositoryOptions = {
        name: github.NAME,
        pullRequests: changes,
        issues,
        workflowRuns: runs,
        jobsPerRun: jobs,
        deployments: others,
        releases: others,
        commits: others,
        commitsPerPullRequest: [1, 4],
        reviewsPerPullRequest: [0, 3],
      }
      const tokens = [{ token: TOKEN, limits: { core: 1e6, graphql: 1e6 } }]
      const fake = await spawnFakeGithub({ world: { users, repositories: [repository] }, tokens, ...spawning })
      const found = fake.world.repository(github.NAME)
      return {
        ...fake,
        connect: (database) => github.connect(database, { url: fake.url, token: TOKEN, githubId: found.id }),
        differences: (database) => github.differences(database, found),
      }
    },
  },
  gitlab: {
    plugins: [plugin],
    atOnce: gitlab.gitlabAtOnce,
    run: (database, plugin, options) => gitlab.runGitlab(database, { plugin, ...options }),
    alike: [],
    changes: ['Collect Merge Requests', 'Extract Merge Requests', 'Collect MR Notes', 'Collect MR Commits'],
    async spawn({ changes, issues = 0, runs = 0, jobs = 4, others = 0, users = 5 }, spawning = {}) {
      const project: ProjectOptions = {
        path: gitlab.PATH,
        mergeRequests: changes,
        issues,
        pipelines: runs,
        jobsPerPipeline: jobs,
        childPipelines: others,
        deployments: others,
        releases: others,
        commitsPerMergeRequest: [1, 4],
      }
      const tokens = [{ token: TOKEN }]
      const fake = await spawnFakeGitlab({ world: { users, projects: [project] }, tokens, ...spawning })
      const found = fake.world.project(gitlab.PATH)
      return {
        ...fake,
        connect: (database) => gitlab.connect(database, { url: fake.url, token: TOKEN }, found),
        differences: (database) => gitlab.differences(database, found),
      }
    },
  },
}
export type CodeHostName = keyof typeof CODE_HOSTS
export const CODE_HOST_NAMES = Object.keys(CODE_HOSTS) as CodeHostName[]
