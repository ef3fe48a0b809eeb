/** Groups, projects and their contents, generated from a seed: of any size, and always the same. */
import { type Dice, dice } from '../fake-github/world/dice.ts'
import type { Commit, Feature, Group, Job, Note, Pipeline, Project, User } from './records.ts'
import { webUrl } from './shapes.ts'

type Range = number | readonly [least: number, most: number]

export interface ProjectOptions {
  /** `group/subgroup/name`. A path that begins with the name of a user belongs to that user. */
  readonly path: string
  readonly forkOf?: string
  readonly archived?: boolean
  /** The address of the git history. By default it is next to the project's page, where nobody answers. */
  readonly cloneUrl?: string
  readonly disabled?: Partial<Record<Feature, number>>
  readonly issues?: number
  readonly mergeRequests?: number
  readonly commitsPerMergeRequest?: Range
  readonly notesPerMergeRequest?: Range
  readonly pipelines?: number
  readonly childPipelines?: number
  /** Pipelines reported by other tools, without a time of change. */
  readonly externalPipelines?: number
  readonly jobsPerPipeline?: number
  readonly deployments?: number
  readonly releases?: number
}
/** Plain data, so that it can be passed to a child process. */
export interface WorldOptions {
  readonly seed?: number
  readonly users?: number
  /** Groups besides those that contain projects. */
  readonly groups?: readonly string[]
  readonly projects?: readonly ProjectOptions[]
  readonly from?: string
  readonly until?: string
}

export interface World {
  readonly users: readonly User[]
  readonly groups: readonly Group[]
  readonly projects: readonly Project[]
  readonly luck: Dice
  /** Increases with every change, so that cached lists can be checked. */
  version: number
  nextId(): number
  project(path: string): Project
}

const LABELS = ['bug', 'incident', 'type/feature', 'component/ui', 'severity/high', 'priority/p1']
const JOBS = ['build', 'unit test', 'deploy-staging', 'deploy-production']
const ENVIRONMENTS = ['production', 'staging', 'review/1']
const EMPTY = ['opened', 'closed', 'merged', 'merged'] as const

export function createWorld(options: WorldOptions = {}): World {
  const luck = dice(options.seed ?? 1)
  const users = Array.from({ length: options.users ?? 5 }, (_, index) => ({
    id: index + 1,
    username: `user-${index + 1}`,
    name: `User ${index + 1}`,
  }))
  const paths = (options.projects ?? []).map(({ path }) => path.split('/').slice(0, -1))
  const all = [...paths.flatMap((parts) => parts.map((_, index) => parts.slice(0, index + 1).join('/')))]
  const own = new Set(users.map(({ username }) => username))
  const groups = [...new Set([...all, ...(options.groups ?? [])])].filter((path) => !own.has(path.split('/')[0] ?? ''))
  let last = 1000
  const world: World & { projects: Project[] } = {
    users,
    groups: groups.map((path, index) => ({ id: 500 + index, path })),
    projects: [],
    luck,
    version: 0,
    nextId: () => ++last,
    project(path) {
      const found = world.projects.find((each) => each.path === path)
      if (!found) throw new Error(`the fake GitLab has no project ${path}`)
      return found
    },
  }
  for (const each of options.projects ?? []) world.projects.push(createProject(world, options, each))
  return world
}

function createProject(world: World, options: WorldOptions, own: ProjectOptions): Project {
  const [from, until] = [Date.parse(options.from ?? '2023-01-01'), Date.parse(options.until ?? '2024-12-31')]
  const project: Project = {
    id: world.projects.length + 70,
    path: own.path,
    archived: own.archived ?? false,
    cloneUrl: own.cloneUrl ?? null,
    isDeleted: false,
    forkOf: own.forkOf ? world.project(own.forkOf) : null,
    disabled: new Map(Object.entries(own.disabled ?? {}) as [Feature, number][]),
    createdAt: iso(from),
    members: world.users.slice(0, Math.max(1, world.users.length - 1)),
    issues: [],
    mergeRequests: [],
    pipelines: [],
    deployments: [],
    releases: [],
  }
  const make = makerOf(world, project)
  /** Times spread evenly from the beginning to the end. */
  const times = (count: number) =>
    Array.from({ length: count }, (_, index) => iso(from + ((until - from) * (index + 1)) / (count + 1)))
  for (const at of times(own.issues ?? 0)) make.issue(at)
  const between = (salt: string, range: Range = [1, 3], key = 0) =>
    typeof range === 'number' ? range : world.luck.integer(salt, range[0], range[1], key)
  for (const at of times(own.mergeRequests ?? 0)) {
    const made = make.mergeRequest(at)
    // A fork has commits of its source project.
    made.commits.push(...(project.forkOf?.mergeRequests[0]?.commits ?? []))
    for (let count = between('commits', own.commitsPerMergeRequest, made.id); count > 1; count--) make.commit(made, at)
    for (let count = between('notes', own.notesPerMergeRequest ?? [0, 3], made.id); count > 0; count--)
      make.note(made, at)
  }
  for (const at of times(own.pipelines ?? 0)) make.pipeline(at, 'push', own.jobsPerPipeline ?? 2)
  for (const at of times(own.childPipelines ?? 0)) make.pipeline(at, 'parent_pipeline', own.jobsPerPipeline ?? 2)
  for (const at of times(own.externalPipelines ?? 0)) make.pipeline(at, 'external', own.jobsPerPipeline ?? 2)
  for (const at of times(own.deployments ?? 0)) make.deployment(at)
  for (const at of times(own.releases ?? 0)) make.release(at)
  return project
}

/** Returns functions that create one record of a kind, at a given time. */
export function makerOf(world: World, project: Project) {
  const { luck, users } = world
  const someone = (key: number) => luck.pick('someone', users, key)
  const some = (key: number, most: number) => luck.some('some', users, luck.integer('how many', 0, most, key), key)
  const labels = (key: number) => luck.some('labels', LABELS, luck.integer('labels', 0, 2, key), key)
  /** A text that closes an issue of this project, if it exists, by its number or its page. */
  const closes = (key: number) => {
    const number = luck.integer('closes', 1, 9, key)
    return luck.pick(
      'written',
      [`Closes #${number}`, `Fixes ${webUrl(project)}/-/issues/${number} and #1`, 'Tidy'],
      key,
    )
  }
  const commitAt = (at: string): Commit => {
    const key = world.nextId()
    return { sha: luck.hex('sha', 40, key), author: someone(key), title: `Change ${key}`, at }
  }
  const make = {
    issue(createdAt: string) {
      const id = world.nextId()
      const isClosed = luck.chance('closed', 0.5, id)
      const issue = {
        id,
        iid: nextIid(project.issues),
        title: `Issue ${id}`,
        description: `About ${id}`,
        ...({ state: isClosed ? 'closed' : 'opened', closedAt: isClosed ? createdAt : null } as const),
        type: luck.chance('incident', 0.2, id) ? ('INCIDENT' as const) : ('ISSUE' as const),
        labels: labels(id),
        author: someone(id),
        assignees: some(id, 2),
        createdAt,
        updatedAt: createdAt,
      }
      project.issues.push(issue)
      return issue
    },
    mergeRequest(createdAt: string) {
      const id = world.nextId()
      const state = luck.pick('state', EMPTY, id)
      const first = commitAt(createdAt)
      const mergedAt = state === 'merged' ? createdAt : null
      const made = {
        id,
        iid: nextIid(project.mergeRequests),
        title: `Change ${id}`,
        description: closes(id),
        state,
        draft: luck.chance('draft', 0.1, id),
        labels: labels(id),
        author: someone(id),
        assignees: some(id, 1),
        reviewers: some(id + 1, 2),
        sourceBranch: `change-${id}`,
        sha: first.sha,
        sourceProject: luck.chance('fork gone', 0.1, id) ? null : project.id,
        mergeSha: mergedAt && luck.hex('merge', 40, id),
        squashSha: null,
        createdAt,
        updatedAt: createdAt,
        mergedAt,
        closedAt: state === 'closed' ? createdAt : null,
        mergedBy: mergedAt ? someone(id) : null,
        notes: [] as Note[],
        commits: [first],
      }
      project.mergeRequests.push(made)
      return made
    },
    commit(of: { commits: Commit[]; sha: string }, at: string) {
      const commit = commitAt(at)
      of.commits.push(commit)
      of.sha = commit.sha
      return commit
    },
    note(of: { notes: Note[] }, at: string) {
      const id = world.nextId()
      const approval = luck.pick('approval', ['approved this merge request', 'unapproved this merge request', ''], id)
      const system = luck.chance('system', 0.4, id)
      const body = system ? approval || 'changed the description' : `Remark ${id}`
      const type = system ? null : luck.pick('type', ['DiffNote', 'DiscussionNote', null] as const, id)
      of.notes.push({ id, author: someone(id), body, system, type, createdAt: at, updatedAt: at })
    },
    pipeline(createdAt: string, source: string, jobs = 2): Pipeline {
      const id = world.nextId()
      const status = luck.pick('status', ['success', 'success', 'failed', 'canceled'], id)
      const made: Pipeline = {
        id,
        iid: nextIid(project.pipelines),
        ref: luck.pick('ref', ['main', 'release'], id),
        source,
        status,
        sha: luck.hex('pipeline', 40, id),
        user: someone(id),
        createdAt,
        updatedAt: source === 'external' ? null : createdAt,
        startedAt: createdAt,
        finishedAt: createdAt,
        jobs: [],
        bridges: [],
      }
      for (let number = 0; number < jobs; number++) make.job(made, createdAt, status)
      project.pipelines.push(made)
      return made
    },
    job(of: Pipeline, createdAt: string, status: string): Job {
      const finishedAt = isRunning(status) ? null : createdAt
      const [id, name] = [world.nextId(), JOBS[of.jobs.length % JOBS.length] as string]
      const job = { id, name, stage: 'test', status, createdAt, startedAt: createdAt, finishedAt }
      of.jobs.push(job)
      return job
    },
    deployment(createdAt: string, status = 'success') {
      const id = world.nextId()
      const pipeline = project.pipelines.find(({ jobs }) => jobs.length > 0)
      const job = pipeline && luck.chance('job', 0.8, id) ? { pipeline, job: pipeline.jobs[0] as Job } : null
      const environment = luck.pick('environment', ENVIRONMENTS, id)
      project.deployments.push({
        id,
        iid: nextIid(project.deployments),
        ref: 'main',
        sha: luck.hex('deployed', 40, id),
        status,
        environment,
        user: someone(id),
        createdAt,
        updatedAt: createdAt,
        job,
      })
    },
    release(at: string) {
      const [id, number] = [world.nextId(), project.releases.length + 1]
      const sha = luck.hex('release', 40, id)
      const release = {
        tag: `v${number}.0`,
        name: `Release ${number}`,
        sha,
        author: someone(id),
        createdAt: at,
        releasedAt: at,
      }
      project.releases.push(release)
    },
  }
  return make
}

export const isRunning = (status: string) => status === 'running' || status === 'pending'
export const iso = (time: number) => new Date(Math.floor(time)).toISOString()
const nextIid = (list: readonly { iid: number }[]) => (list.at(-1)?.iid ?? 0) + 1
