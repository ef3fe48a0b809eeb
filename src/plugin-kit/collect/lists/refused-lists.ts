/** If the source refuses one list, only that list is lost: neither the other lists nor the steps after them fail. */

import { HttpMisleadingError, isOfRequest } from '../../http/index.ts'
import { isAskedAgain, type StoredGap, settleGaps } from '../../raw/gaps.ts'
import type { Collection, List } from '../collection.ts'
import { gapList } from '../list-gaps.ts'
import { requireScope } from '../pages/absence.ts'
import { collectList } from '../pages/collect-list.ts'
import { forgetCheckpoint, forgetTags } from '../run/run.ts'
import { listsOf } from './lists.ts'

/** After this many refused lists without a single success, the others would fail too. */
const ENOUGH = 10

const THE_LIST = { kind: 'list', key: '', input: null } as const

/** The lists to ask for; stops when the run is lost. */
export async function* listsToAskFor(collection: Collection): AsyncGenerator<List> {
  const lists = listsOf(collection)
  for (;;) {
    try {
      const { value, done } = await lists.next()
      if (done || collection.tally.isLost) return
      yield value
    } catch (error) {
      // Finding out which lists there are takes requests too, and these may fail.
      await lose(collection, THE_LIST, error)
      return
    }
  }
}

/** Collects a list. A failure that concerns only this list becomes a gap; any other is thrown. */
export async function ask(collection: Collection, list: List, signal: AbortSignal): Promise<void> {
  try {
    await collectList(collection, list, signal)
    collection.tally.answered.add(gapList(list))
  } catch (error) {
    if (signal.aborted) throw error
    await lose(collection, list, error)
  }
}

/** Asks for something besides the lists. If it fails, it becomes a gap, and the next run asks for it again. */
export async function askBesides(collection: Collection, key: string, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (collection.task.signal.aborted) throw error
    await lose(collection, { kind: 'refetch', key, input: null }, error)
  }
}

type Lost = Pick<List, 'kind' | 'key' | 'input' | 'since' | 'group'>

async function lose(collection: Collection, list: Lost, error: unknown): Promise<void> {
  if (!isOfRequest(error)) throw error
  const { task, client, spec, key, run, tally } = collection
  const remark = await requireScope(task, client, error.status)
  const isOnly = gapList(list) === ''
  // The records that arrived of this list may be wrong, and its checkpoint would skip the missing ones.
  if (error instanceof HttpMisleadingError) {
    await forgetCheckpoint(task.database, key, run, list.key)
  }
  tally.gaps.push({
    list: gapList(list),
    kind: 'lost',
    address: error.address,
    status: error.status ?? null,
    reason: [error.message, remark].filter(Boolean).join('. '),
    missing: null,
    since: list.since ?? run.since,
    input: spec.forEach && list.kind === 'list' ? list.input : null,
  })
  tally.refused.add(list.group)
  const lost = tally.gaps.filter(({ kind }) => kind === 'lost').length
  tally.isLost ||= isOnly || (list.kind !== 'refetch' && lost >= ENOUGH && tally.answered.size === 0)
}

/** Updates the stored gaps, and forgets the tags of lists that the next run has to ask for again. Returns the open gaps. */
export async function settle({
  subtaskKey,
  task: { database },
  key,
  before,
  run,
  tally,
  spec,
}: Collection): Promise<readonly StoredGap[]> {
  const { answered, isLost, gaps } = tally
  if (gaps.length === 0 && !before.hasGaps) return []
  const isAnswered = ({ list, kind, since, input }: StoredGap): boolean => {
    if (isLost || run.isFull) return !isLost
    if (list === '') return spec.forEach !== undefined || run.since === null || (since !== null && run.since <= since)
    // Records that are not final are asked for in every run anyway.
    return (kind === 'lost' && input === null) || answered.has(list)
  }
  // If all lists were lost in the same way, one gap stands for all.
  const found = isLost && spec.forEach ? gaps.slice(0, 1).map((gap) => ({ ...gap, list: '', input: null })) : gaps
  const open = await settleGaps(
    database,
    { plugin: subtaskKey.plugin, subtask: subtaskKey.subtask, ...key },
    { found, isAnswered },
  )
  await forgetTags(
    database,
    key,
    open.filter(isAskedAgain).map(({ list }) => list),
  )
  return open
}
