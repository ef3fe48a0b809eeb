/** What one list may cost when the source refuses it: that list, and neither the others nor what comes after them. */

import { HttpMisleadingError, isOfRequest } from '../http/index.ts'
import { isAskedAgain, type StoredGap, settleGaps } from '../raw/gaps.ts'
import { collectList } from './collect-list.ts'
import type { Collection, List } from './collection.ts'
import { gapList } from './list-gaps.ts'
import { listsOf } from './lists.ts'
import { forgetCheckpoint, forgetTags } from './run.ts'
import { requireScope } from './scope-check.ts'

/** So many lists in vain and none that came: the others would fare alike. */
const ENOUGH = 10

const THE_LIST = { kind: 'list', key: '', input: null } as const

/** The lists to ask for, as long as asking makes sense. */
export async function* listsToAskFor(collection: Collection): AsyncGenerator<List> {
  const lists = listsOf(collection)
  for (;;) {
    try {
      const { value, done } = await lists.next()
      if (done || collection.tally.isLost) return
      yield value
    } catch (error) {
      // Finding out what there is to ask for takes requests too.
      await lose(collection, THE_LIST, error)
      return
    }
  }
}

/** Collects a list. A failure that is about this list alone becomes a gap; any other is thrown. */
export async function ask(collection: Collection, list: List, signal: AbortSignal): Promise<void> {
  try {
    await collectList(collection, list, signal)
    collection.tally.answered.add(gapList(list))
  } catch (error) {
    if (signal.aborted) throw error
    await lose(collection, list, error)
  }
}

/** What a collector asks for besides its lists; it is asked for again by the next run. */
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
  const { task, client, spec, raw, run, tally } = collection
  const remark = await requireScope(task, client, error.status)
  const isOnly = gapList(list) === ''
  // What came from there may be wrong, and a checkpoint would lead past what is missing.
  if (error instanceof HttpMisleadingError) {
    await forgetCheckpoint(task.database, { raw_table: raw.name, params: task.params }, run, list.key)
  }
  tally.gaps.push({
    ...{ list: gapList(list), kind: 'lost', address: error.address, status: error.status ?? null },
    ...{ reason: [error.message, remark].filter(Boolean).join('. '), missing: null, since: list.since ?? run.since },
    input: spec.forEach && list.kind === 'list' ? list.input : null,
  })
  tally.refused.add(list.group)
  const lost = tally.gaps.filter(({ kind }) => kind === 'lost').length
  tally.isLost ||= isOnly || (list.kind !== 'refetch' && lost >= ENOUGH && tally.answered.size === 0)
}

/** Brings the stored gaps up to date, and has asked for again without tags what the next run is to ask for. */
export async function settle({
  subtaskKey,
  task,
  raw,
  before,
  run,
  tally,
  spec,
}: Collection): Promise<readonly StoredGap[]> {
  const { database, params } = task
  const { answered, isLost, gaps } = tally
  if (gaps.length === 0 && !before.hasGaps) return []
  const isAnswered = ({ list, kind, since, input }: StoredGap): boolean => {
    if (isLost || run.isFull) return !isLost
    if (list === '') return spec.forEach !== undefined || run.since === null || (since !== null && run.since <= since)
    // What was not final is asked for again as long as it is not.
    return (kind === 'lost' && input === null) || answered.has(list)
  }
  // Where all were lost alike, the first stands for them.
  const found = isLost && spec.forEach ? gaps.slice(0, 1).map((gap) => ({ ...gap, list: '', input: null })) : gaps
  const where = { raw_table: raw.name, params }
  const open = await settleGaps(
    database,
    { plugin: subtaskKey.plugin, subtask: subtaskKey.subtask, ...where },
    { found, isAnswered },
  )
  await forgetTags(
    database,
    where,
    open.filter(isAskedAgain).map(({ list }) => list),
  )
  return open
}
