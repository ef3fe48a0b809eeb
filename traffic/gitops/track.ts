/** One branch of one repository: how a change gets onto it, and how far the change has got. */
import { messageOf, UserError } from '../core.ts'
import { finding, TrafficError } from '../model/finding.ts'
import type { GitOpsSettings } from '../model/gitops.ts'
import { PushRefused } from './push-failure.ts'
import type { Changes, Repository, Tree } from './repository.ts'

/** The changes that a tree still needs; none if it has the change. */
export type Compute = (tree: Tree) => Promise<Changes>

interface Order {
  readonly compute: Compute
  /** First line of the commit message. */
  readonly title: string
  readonly dryRun?: boolean
  readonly isRollback?: boolean
  /** Commits even if nothing is left to change, so that another process that is about to push finds the branch moved. */
  readonly isFence?: boolean
}

/** The condition that a change waits for, and the end of the wait. */
export interface Waiting {
  readonly text: string
  /** Milliseconds since 1970. */
  readonly until: number
}

export interface Track {
  /** Makes sure that the change is under way: makes a commit, unless there is one already. */
  ensure(order: Order): Promise<void>
  /** Tells how far the last change of this process is. */
  waiting(): Promise<Waiting | undefined>
  /** Reads the newest state of the branch. */
  look<Result>(read: (tree: Tree) => Promise<Result>): Promise<Result>
  /** Tells whether the branch has the change, and no open proposal would undo it. */
  isSettled(compute: Compute): Promise<boolean>
  /** A proposal by Weir that nobody has merged. */
  openProposal(): Promise<string | undefined>
  /** Removes the proposal, as far as the server allows that. */
  withdraw(): Promise<void>
}

interface TrackSettings
  extends Pick<
    GitOpsSettings,
    'merge' | 'mergeTimeoutSeconds' | 'syncTimeoutSeconds' | 'rollbackMerge' | 'rollbackMergeSeconds' | 'author'
  > {
  readonly repository: Repository
  readonly branch: string
  readonly proposal: string
  /** Name of the plan. */
  readonly name: string
  /** Called before every push; throws if another process has the switch now. */
  mayWrite?(): Promise<void>
}

interface Last {
  readonly order: Order
  state: 'on-branch' | 'proposed'
  since: number
  refusal?: string
  /** The last look: the commit, and whether it had the change. */
  seen?: { readonly head: string; readonly isThere: boolean }
}

const SWITCH = 'Weir-Switch: '
const BASE = 'Weir-Base: '
const BEFORE = 'Weir-Before: '
const valuesOf = (message: string, trailer: string): readonly string[] =>
  message
    .split('\n')
    .filter((line) => line.startsWith(trailer))
    .map((line) => line.slice(trailer.length))

const guarded = ({ repository, mayWrite = async () => {} }: TrackSettings): Repository => ({
  ...repository,
  async push(commit, branch) {
    await mayWrite()
    await repository.push(commit, branch)
  },
  async replace(commit, branch, expected) {
    await mayWrite()
    await repository.replace(commit, branch, expected)
  },
})

export function openTrack(settings: TrackSettings): Track {
  const { branch, proposal, name, author } = settings
  const repository = guarded(settings)
  const where = `branch ${branch} of ${repository.url}`
  let last: Last | undefined
  /** Changes under way, by title. */
  const begun = new Map<string, Last>()

  async function headOfBranch(): Promise<string> {
    const found = await repository.head(branch)
    if (found !== undefined) return found
    const message = `There is no ${where}.`
    throw new TrafficError('invalid', `${message} Nothing was committed. Correct gitops.branch.`, {
      findings: [finding('TS-O02', 'gitops.branch', message)],
    })
  }
  async function changesIn(commit: string, compute: Compute): Promise<Changes> {
    const tree = repository.tree(commit)
    const wanted = await compute(tree)
    const changed = new Map<string, string | null>()
    for (const [path, text] of wanted) if (((await tree.read(path)) ?? null) !== text) changed.set(path, text)
    return changed
  }
  const messageFor = async (title: string, base: string, changes: Changes): Promise<string> => {
    const before = await repository.fileIds(base, [...changes.keys()])
    return [title, '', `${SWITCH}${name}`, `${BASE}${base}`, ...before.map((id) => `${BEFORE}${id}`), ''].join('\n')
  }
  const write = async (parent: string, changes: Changes, { title }: Order): Promise<string> =>
    repository.commit(parent, changes, await messageFor(title, parent, changes), author)

  /** True for a single commit by Weir on top of the branch, without commits of others. */
  async function isOurs(tip: string): Promise<boolean> {
    const { message, parents } = await repository.describe(tip)
    const [base] = valuesOf(message, BASE)
    return valuesOf(message, SWITCH).includes(name) && parents.length === 1 && parents[0] === base
  }
  /** True if the proposal has the change, and the files that it was made from are still the same. */
  async function isCurrent(tip: string, head: string, changes: Changes): Promise<boolean> {
    const { message } = await repository.describe(tip)
    const before = await repository.fileIds(head, [...changes.keys()])
    if (JSON.stringify(valuesOf(message, BEFORE)) !== JSON.stringify(before)) return false
    const tree = repository.tree(tip)
    for (const [path, text] of changes) if (((await tree.read(path)) ?? null) !== text) return false
    return true
  }

  async function propose(head: string, changes: Changes, order: Order): Promise<void> {
    const tip = await repository.head(proposal)
    if (tip === undefined || (await isOurs(tip))) {
      if (tip !== undefined && (await isCurrent(tip, head, changes))) return
      return repository.replace(await write(head, changes, order), proposal, tip)
    }
    if (order.isRollback !== true)
      throw new TrafficError(
        'conflict',
        `Branch ${proposal} of ${repository.url} has commits that are not Weir's; nothing was overwritten. Merge or delete it, or choose another gitops.proposalBranch.`,
      )
    await addTo(tip, order)
  }
  /** Removes a proposal and tells whether it is gone. Without permission to delete branches, that is left to the server. */
  async function isTakenAway(tip: string): Promise<boolean> {
    try {
      if (!(await isOurs(tip))) return false
      await repository.replace(undefined, proposal, tip)
      return true
    } catch (error) {
      if (!(error instanceof UserError) || error instanceof TrafficError) throw error
      return false
    }
  }
  /** Removes a proposal that is merged, or must not be merged any more. */
  async function retire(order: Order): Promise<void> {
    const tip = await repository.head(proposal)
    if (tip !== undefined && !(await isTakenAway(tip)) && order.isRollback === true) await addTo(tip, order)
  }
  /** Adds the rollback to whatever somebody put there: when merged, it must not move traffic again. */
  async function addTo(tip: string, order: Order): Promise<void> {
    const left = await changesIn(tip, order.compute)
    if (left.size > 0) await repository.push(await write(tip, left, order), proposal)
  }

  function remember(order: Order, state: Last['state'], refusal?: string): void {
    // Routes that roll back side by side place their orders in turn. None of them begins to wait again because of another.
    const before = begun.get(order.title)
    const since = before?.state === state ? before.since : Date.now()
    last = { order, state, since, ...(refusal === undefined ? {} : { refusal }) }
    begun.set(order.title, last)
  }

  async function fence(head: string, order: Order): Promise<void> {
    try {
      await repository.push(await write(head, new Map(), order), branch)
    } catch (error) {
      // If Weir may not push there, no other process of Weir may either.
      if (!(error instanceof PushRefused)) throw error
    }
  }

  async function ensure(order: Order): Promise<void> {
    const head = await headOfBranch()
    const changes = await changesIn(head, order.compute)
    if (order.dryRun === true) return
    if (changes.size === 0) {
      if (order.isFence === true) await fence(head, order)
      await retire(order)
      return remember(order, 'on-branch')
    }
    let refusal: string | undefined
    if (settings.merge === 'push' || (order.isRollback === true && settings.rollbackMerge === 'skip')) {
      try {
        await repository.push(await write(head, changes, order), branch)
        await retire(order)
        return remember(order, 'on-branch')
      } catch (error) {
        if (!(error instanceof PushRefused) || order.isRollback !== true) throw error
        refusal = messageOf(error)
      }
    }
    await propose(head, changes, order)
    remember(order, 'proposed', refusal)
  }

  async function waiting(): Promise<Waiting | undefined> {
    if (last === undefined) return undefined
    const { order } = last
    const head = await headOfBranch()
    if (last.seen?.head !== head) last.seen = { head, isThere: (await changesIn(head, order.compute)).size === 0 }
    const { isThere } = last.seen
    if (isThere && last.state === 'proposed') {
      await retire(order)
      remember(order, 'on-branch')
    }
    if (isThere)
      return {
        text: `${where} has "${order.title}", but the cluster does not show it yet: look at the tool that follows the branch`,
        until: last.since + settings.syncTimeoutSeconds * 1000,
      }
    if (last.state === 'on-branch' && order.isRollback !== true)
      throw new TrafficError(
        'conflict',
        `"${order.title}" was taken out of ${where} again by somebody else; nothing more was committed. Repeat to commit it again, or roll back.`,
      )
    if (order.isRollback !== true && (await repository.head(proposal)) === undefined)
      throw new TrafficError(
        'conflict',
        `Branch ${proposal} of ${repository.url} was deleted and its change is not in ${branch}: somebody declined it. Repeat to propose it again, or roll back.`,
      )
    const seconds = order.isRollback === true ? settings.rollbackMergeSeconds : settings.mergeTimeoutSeconds
    const reason = last.refusal === undefined ? '' : ` (${last.refusal})`
    return {
      text: `merge branch ${proposal} into ${branch} of ${repository.url}: "${order.title}" waits for it${reason}`,
      until: last.since + seconds * 1000,
    }
  }

  return {
    ensure: (order) => repository.alone(() => ensure(order)),
    waiting: () => repository.alone(waiting),
    look: (read) => repository.alone(async () => read(repository.tree(await headOfBranch()))),
    isSettled: (compute) =>
      repository.alone(async () => {
        if ((await changesIn(await headOfBranch(), compute)).size > 0) return false
        const tip = await repository.head(proposal)
        return tip === undefined || (await changesIn(tip, compute)).size === 0
      }),
    openProposal: () =>
      repository.alone(async () => {
        const tip = await repository.head(proposal)
        return tip !== undefined && (await isOurs(tip)) ? `branch ${proposal} of ${repository.url}` : undefined
      }),
    withdraw: () =>
      repository.alone(async () => {
        const tip = await repository.head(proposal)
        if (tip !== undefined) await isTakenAway(tip)
      }),
  }
}
