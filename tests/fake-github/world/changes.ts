import { timestamp } from './ground.ts'
import { CHILD_SPAN, parseSha } from './ids.ts'
import type { Item } from './records.ts'
import type { Collections, Repository } from './repository.ts'
import type { World } from './world.ts'

type RecordOf<K extends keyof Collections> = Collections[K] extends Iterable<infer T> ? T : never

/** Something that happens on the fake GitHub after it was generated. Plain data, so that it can be sent to a child process. */
export type Change =
  | { [K in keyof Collections]: RecordChange<K> }[keyof Collections]
  | { readonly repository: string; readonly forcePush: number }
  | { readonly repository: string; readonly rename: string }
  | { readonly repository: string; readonly archive: boolean }
  | { readonly repository: string; readonly delete: true }

export type RecordChange<K extends keyof Collections> =
  /** `parent`: number of the issue or pull request, index of the run, deployment or review. */
  | { readonly repository: string; readonly add: K; readonly parent?: number; readonly with?: Partial<RecordOf<K>> }
  | { readonly repository: string; readonly edit: K; readonly index: number; readonly with: Partial<RecordOf<K>> }
  | { readonly repository: string; readonly remove: K; readonly index: number }

/** Which collections' records are parents: a change to a child is an update of its parent, as on GitHub. */
const PARENTS: Partial<Record<keyof Collections, readonly (keyof Collections)[]>> = {
  comments: ['issues', 'pullRequests'],
  pullCommits: ['pullRequests'],
  reviews: ['pullRequests'],
  jobs: ['runs'],
  statuses: ['deployments'],
}

/** Applies a change at the time `now` (milliseconds) and returns the record that it made or changed, if any. */
export function applyChange(world: World, change: Change, now: number): Item | undefined {
  const repository = world.repository(change.repository)
  const at = timestamp(now)
  if ('rename' in change) return rename(repository, change.rename)
  if ('forcePush' in change) return forcePush(repository, change.forcePush, at)
  if ('archive' in change) {
    repository.isArchived = change.archive
    return undefined
  }
  if ('delete' in change) {
    repository.isGone = true
    return undefined
  }
  if ('add' in change) {
    const times = change.add === 'reviews' ? { submittedAt: at, state: 'COMMENTED' } : openTimes(change.add, at)
    const values = { createdAt: at, updatedAt: at, ...times, ...change.with }
    const item = repository[change.add].add(change.parent ?? 0, values as never)
    touch(repository, change.add, change.parent, at)
    return item
  }
  if ('edit' in change) {
    const item = repository[change.edit].edit(change.index, { updatedAt: at, ...change.with } as never)
    touch(repository, change.edit, Math.floor(change.index / CHILD_SPAN), at)
    return item
  }
  repository[change.remove].remove(change.index)
  return undefined
}

/** What was opened just now is neither closed nor finished. */
function openTimes(kind: keyof Collections, at: string): object {
  const open = { state: 'open', closedAt: null, closedBy: null }
  if (kind === 'issues') return open
  if (kind === 'pullRequests') return { ...open, mergedAt: null, mergedBy: null, mergeCommitSha: null }
  if (kind === 'runs') return { startedAt: at, status: 'queued', conclusion: null }
  return {}
}

function touch(repository: Repository, kind: keyof Collections, parent: number | undefined, at: string): void {
  for (const parentKind of PARENTS[kind] ?? []) {
    const parents = repository[parentKind]
    if (parent !== undefined && parents.get(parent) !== undefined) parents.edit(parent, { updatedAt: at } as never)
  }
}

function rename(repository: Repository, name: string): undefined {
  repository.formerNames.push(`${repository.owner}/${repository.name}`)
  const [owner, rest] = name.split('/') as [string, string]
  repository.owner = owner
  repository.name = rest
}

/** Replaces a pull request's commits by as many new ones. */
function forcePush({ pullCommits, pullRequests }: Repository, number: number, at: string): Item {
  const replaced = pullCommits.childrenOf(number)
  for (const commit of replaced) pullCommits.remove(commit.index)
  const added = replaced.map(() => pullCommits.add(number, { createdAt: at, updatedAt: at, authoredAt: at }))
  const headSha = added.at(-1)?.sha ?? pullRequests.get(number)!.headSha
  if (parseSha(headSha) === undefined) throw new Error(`not a generated commit: ${headSha}`)
  return pullRequests.edit(number, { headSha, updatedAt: at })
}
