import { timestamp } from './ground.ts'
import { CHILD_SPAN, parseSha } from './ids.ts'
import type { Commit, Item, PullRequest } from './records.ts'
import type { Collections, Repository } from './repository.ts'
import type { World } from './world.ts'

type RecordOf<K extends keyof Collections> = Collections[K] extends Iterable<infer T> ? T : never

/**
 * A change on the fake GitHub after it was generated, as plain data, so that it can be sent to a child process. A test passes
 * changes to `update` while the world is in use (fake-github.ts describes each of them).
 */
export type Change = { [K in keyof Collections]: RecordChange<K> }[keyof Collections] | (InRepository & WholeChange)

interface InRepository {
  /** The repository's name `owner/name` at that time. */
  readonly repository: string
}
/** Changes that are more than one edit. Issues and pull requests are named by number, runs by index. */
type WholeChange =
  | { readonly close: number }
  | { readonly reopen: number }
  | { readonly merge: number }
  | { readonly forcePush: number }
  | { readonly rerun: number }
  | { readonly rename: string }
  | { readonly archive: boolean }
  | { readonly hasIssues: boolean }
  | { readonly delete: true }

export type RecordChange<K extends keyof Collections> = InRepository &
  (
    | /** `parent`: number of the issue or pull request, index of the run, deployment or review. */
    { readonly add: K; readonly parent?: number; readonly with?: Partial<RecordOf<K>> }
    | { readonly edit: K; readonly index: number; readonly with: Partial<RecordOf<K>> }
    | { readonly remove: K; readonly index: number }
  )

/**
 * The collections whose records are parents: a new or edited child counts as an update of its parent, as on GitHub. A removal
 * leaves no trace on the parent, and an edited label or milestone leaves none on the records that have it.
 */
const PARENTS: Partial<Record<keyof Collections, readonly (keyof Collections)[]>> = {
  comments: ['issues', 'pullRequests'],
  pullCommits: ['pullRequests'],
  reviews: ['pullRequests'],
  reviewComments: ['reviews'],
  jobs: ['runs'],
  statuses: ['deployments'],
}
/** The person who closes and merges. */
const CLOSER = 'user-1'

/** Applies a change at the time `now` (milliseconds). Returns the record that it made or changed, if any. */
export function applyChange(world: World, change: Change, now: number): Item | undefined {
  const repository = world.repository(change.repository)
  const at = timestamp(now)
  if ('add' in change) return add(repository, change, at)
  if ('edit' in change) {
    makeLabels(repository, change.with, at)
    const item = repository[change.edit].edit(change.index, { updatedAt: at, ...change.with } as never)
    touch(repository, change.edit, Math.floor(change.index / CHILD_SPAN), at)
    return item
  }
  if ('remove' in change) {
    repository[change.remove].remove(change.index)
    return undefined
  }
  if ('close' in change) return end(repository, change.close, { state: 'closed', closedAt: at, closedBy: CLOSER }, at)
  if ('reopen' in change) return end(repository, change.reopen, { state: 'open', closedAt: null, closedBy: null }, at)
  if ('merge' in change) return merge(repository, change.merge, at)
  if ('forcePush' in change) return forcePush(repository, change.forcePush, at)
  if ('rerun' in change) return rerun(repository, change.rerun, at)
  repository.updatedAt = at
  if ('rename' in change) rename(repository, change.rename)
  else if ('archive' in change) repository.isArchived = change.archive
  else if ('hasIssues' in change) repository.hasIssues = change.hasIssues
  else repository.isGone = true
  return undefined
}

type Addition = { readonly add: keyof Collections; readonly parent?: number; readonly with?: object }

function add(repository: Repository, { add: kind, parent, with: given = {} }: Addition, at: string): Item {
  makeLabels(repository, given, at)
  const times = kind === 'reviews' ? { submittedAt: at, state: 'COMMENTED' } : openTimes(kind, at)
  const item = repository[kind].add(parent ?? 0, { createdAt: at, updatedAt: at, ...times, ...given } as never)
  if (kind === 'pullCommits') repository.pullRequests.edit(parent!, { headSha: (item as Commit).sha })
  touch(repository, kind, parent, at)
  return item
}

/** Creates labels that somebody puts on an issue, as GitHub does. */
function makeLabels({ labels }: Repository, given: object, at: string): void {
  const names = (given as Partial<PullRequest>).labels ?? []
  const known = new Set([...labels].map(({ name }) => name))
  for (const name of names) if (!known.has(name)) labels.add(0, { name, createdAt: at, updatedAt: at })
}

/** A record that was just opened is neither closed nor finished. */
function openTimes(kind: keyof Collections, at: string): object {
  const open = { state: 'open', closedAt: null, closedBy: null }
  if (kind === 'issues') return open
  if (kind === 'pullRequests') return { ...open, mergedAt: null, mergedBy: null, mergeCommitSha: null }
  if (kind === 'runs') return { startedAt: at, status: 'queued', conclusion: null }
  if (kind === 'jobs') return { startedAt: at, completedAt: null, status: 'queued', conclusion: null }
  if (kind === 'pullCommits' || kind === 'commits') return { authoredAt: at }
  return {}
}

function touch(repository: Repository, kind: keyof Collections, parent: number | undefined, at: string): void {
  for (const parentKind of PARENTS[kind] ?? []) {
    const parents = repository[parentKind]
    if (parent === undefined || parents.get(parent) === undefined) continue
    parents.edit(parent, { updatedAt: at } as never)
    touch(repository, parentKind, Math.floor(parent / CHILD_SPAN), at)
  }
}

/** Closes or reopens an issue or a pull request. GitHub lists closing among the events. */
function end(repository: Repository, number: number, values: Partial<PullRequest>, at: string): Item {
  const { issues, pullRequests, events } = repository
  if (values.state === 'closed')
    events.add(number, { event: 'closed', actor: CLOSER, commitSha: null, createdAt: at, updatedAt: at })
  const tickets = issues.has(number) ? issues : pullRequests
  return tickets.edit(number, { ...values, updatedAt: at })
}

function merge(repository: Repository, number: number, at: string): Item {
  const merged = { mergedAt: at, mergedBy: CLOSER, mergeCommitSha: repository.mergeSha(number) }
  return end(repository, number, { state: 'closed', closedAt: at, closedBy: CLOSER, isDraft: false, ...merged }, at)
}

/** Starts another attempt: other jobs of the same run, which keeps its time of creation. */
function rerun({ runs, jobs }: Repository, index: number, at: string): Item {
  const earlier = jobs.childrenOf(index)
  for (const job of earlier) jobs.remove(job.index)
  for (const { name } of earlier)
    jobs.add(index, { name, createdAt: at, updatedAt: at, ...openTimes('jobs', at) } as never)
  const attempt = runs.get(index)!.attempt + 1
  return runs.edit(index, { attempt, status: 'queued', conclusion: null, startedAt: at, updatedAt: at })
}

function rename(repository: Repository, name: string): void {
  repository.formerNames.push(`${repository.owner}/${repository.name}`)
  const [owner, rest] = name.split('/') as [string, string]
  repository.owner = owner
  repository.name = rest
}

/** Replaces a pull request's commits by the same number of new ones. */
function forcePush({ pullCommits, pullRequests }: Repository, number: number, at: string): Item {
  const replaced = pullCommits.childrenOf(number)
  for (const commit of replaced) pullCommits.remove(commit.index)
  const added = replaced.map(() => pullCommits.add(number, { createdAt: at, updatedAt: at, authoredAt: at }))
  const headSha = added.at(-1)?.sha ?? pullRequests.get(number)!.headSha
  if (parseSha(headSha) === undefined) throw new Error(`not a generated commit: ${headSha}`)
  return pullRequests.edit(number, { headSha, updatedAt: at })
}
