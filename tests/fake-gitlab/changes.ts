/** The changes that can happen at the fake GitLab. Times of change are set as GitLab sets them. */
import type { MergeRequest, Pipeline, Project, User } from './records.ts'
import { iso, isRunning, makerOf, type World } from './world.ts'

/** Plain data. Numbers pick one of the existing records, whatever came before. */
export interface Change {
  readonly project: string
  readonly act: ActName
  readonly with?: readonly number[]
}

interface Acting {
  readonly world: World
  readonly project: Project
  readonly at: string
  readonly make: ReturnType<typeof makerOf>
}
type Act = (acting: Acting, number: number, second: number) => void

const LABELS = ['bug', 'incident', 'component/ui']
const chosen = (mask: number) => LABELS.filter((_, index) => mask & (1 << index))
const pick = <Thing>(things: readonly Thing[], number: number): Thing | undefined => things[number % things.length]

/** Changes one record of a list, and its time of change. */
const editing =
  <Thing extends { updatedAt: string | null }>(
    list: (project: Project) => readonly Thing[],
    edit: (thing: Thing, acting: Acting, second: number) => void,
  ): Act =>
  (acting, number, second) => {
    const thing = pick(list(acting.project), number)
    if (!thing) return
    if (thing.updatedAt !== null) thing.updatedAt = acting.at
    edit(thing, acting, second)
  }
const removing =
  (list: (project: Project) => unknown[]): Act =>
  ({ project }, number) => {
    const things = list(project)
    if (things.length > 0) things.splice(number % things.length, 1)
  }
const someone = ({ world }: Acting, number: number): User[] => (number === 0 ? [] : [pick(world.users, number) as User])

const issues = ({ issues }: Project) => issues
const mergeRequests = ({ mergeRequests }: Project) => mergeRequests
const opened = (project: Project) => project.mergeRequests.filter(({ state }) => state === 'opened')
const noted = (project: Project) => project.mergeRequests.filter(({ notes }) => notes.length > 0)
const pipelines = ({ pipelines }: Project) => pipelines
/** Pipelines that GitLab itself can start again. It cannot restart pipelines that another tool reported. */
const own = (project: Project) => project.pipelines.filter(({ source }) => source !== 'external')
const running = (project: Project) => project.pipelines.filter(({ status }) => isRunning(status))
const deployments = ({ deployments }: Project) => deployments

const finish = (pipeline: Pipeline, at: string, status: string) => {
  pipeline.status = status
  pipeline.finishedAt = at
  for (const job of pipeline.jobs.filter((each) => isRunning(each.status))) {
    job.status = status
    job.finishedAt = at
  }
}
const ENDS = ['success', 'failed', 'canceled']
const DEPLOYED = ['running', 'success', 'failed', 'canceled']

export const ACTS = {
  'open issue': ({ make, at }, mask) => {
    make.issue(at).labels = chosen(mask)
  },
  'edit issue': editing(issues, (issue, _acting, mask) => {
    issue.title += '!'
    issue.labels = chosen(mask)
  }),
  'assign issue': editing(issues, (issue, acting, number) => {
    issue.assignees = someone(acting, number)
  }),
  'close issue': editing(issues, (issue, { at }) => {
    issue.state = 'closed'
    issue.closedAt = at
  }),
  'reopen issue': editing(issues, (issue) => {
    issue.state = 'opened'
    issue.closedAt = null
  }),
  'remove issue': removing(issues),
  'open merge request': ({ make, at }, mask) => {
    const made = make.mergeRequest(at) as MergeRequest
    Object.assign(made, { labels: chosen(mask), state: 'opened', mergedAt: null, closedAt: null, mergeSha: null })
  },
  'edit merge request': editing(mergeRequests, (made, _acting, mask) => {
    made.title += '!'
    made.labels = chosen(mask)
  }),
  'ask for review': editing(mergeRequests, (made, acting, number) => {
    made.reviewers = someone(acting, number)
  }),
  'close merge request': editing(opened, (made, { at }) => {
    made.state = 'closed'
    made.closedAt = at
  }),
  'merge merge request': editing(opened, (made, { at, world }) => {
    made.state = 'merged'
    made.mergedAt = at
    made.mergeSha = world.luck.hex('merge', 40, made.id)
    made.mergedBy = world.users[0] ?? null
  }),
  'push commit': editing(mergeRequests, (made, { make, at }) => void make.commit(made, at)),
  'force push': editing(mergeRequests, (made, { make, at }) => {
    made.commits = []
    make.commit(made, at)
  }),
  'write note': editing(mergeRequests, (made, { make, at }) => make.note(made, at)),
  'edit note': editing(noted, (made, { at }, number) => {
    const note = pick(made.notes, number)
    if (note) Object.assign(note, { body: `${note.body}!`, updatedAt: at })
  }),
  // Nothing shows this removal, neither the merge request nor another list.
  'remove note': ({ project }, number, second) => {
    const notes = pick(noted(project), number)?.notes ?? []
    if (notes.length > 0) notes.splice(second % notes.length, 1)
  },
  'lose fork': editing(mergeRequests, (made) => {
    made.sourceProject = null
  }),
  'remove merge request': removing(mergeRequests),
  'start pipeline': ({ make, at }, number) => {
    const made = make.pipeline(at, ['push', 'parent_pipeline', 'external'][number % 3] as string, 0)
    Object.assign(made, { status: 'running', finishedAt: null })
    make.job(made, at, 'running')
  },
  'finish pipeline': editing(running, (pipeline, { at }, end) => finish(pipeline, at, ENDS[end % 3] as string)),
  // A running pipeline does not change when one of its jobs ends.
  'finish job': ({ project, at, make }, number) => {
    const pipeline = pick(running(project), number)
    if (!pipeline) return
    make.job(pipeline, at, 'success')
  },
  /** A retry by a person. The jobs that failed stay in the list. */
  'retry pipeline': editing(own, (pipeline, { make, at }) => {
    pipeline.status = 'running'
    pipeline.finishedAt = null
    make.job(pipeline, at, 'running')
  }),
  'remove pipeline': removing(pipelines),
  'start deployment': ({ make, at }) => make.deployment(at, 'running'),
  'end deployment': editing(deployments, (deployment, _acting, number) => {
    deployment.status = DEPLOYED[number % DEPLOYED.length] as string
  }),
  'remove deployment': removing(deployments),
  'publish release': ({ make, at }) => make.release(at),
  'edit release': ({ project }, number) => {
    const release = pick(project.releases, number)
    if (release) release.name += '!'
  },
  'remove release': removing(({ releases }) => releases),
  'add member': ({ world, project }, number) => {
    const user = pick(world.users, number)
    if (user && !project.members.includes(user)) project.members.push(user)
  },
  'rename user': ({ world }, number) => {
    const user = pick(world.users, number)
    if (user) user.name += '!'
  },
} as const satisfies Record<string, Act>
export type ActName = keyof typeof ACTS

export function applyChange(world: World, { project: path, act, with: numbers = [] }: Change, now: number): void {
  const project = world.project(path)
  world.version++
  const [first = 0, second = 0] = numbers
  ACTS[act]({ world, project, at: iso(now), make: makerOf(world, project) }, first, second)
}
