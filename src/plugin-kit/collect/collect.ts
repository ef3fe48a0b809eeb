/** Asks the vendor and stores every record as it came. A page and the checkpoint that counts it are stored together. */

import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { Piece } from '../../database/pieces.ts'
import { messageOf } from '../../errors.ts'
import { type ApiClient, createSlots, DEFAULT_CONCURRENCY } from '../http/index.ts'
import { descendantsOf } from '../raw/descendants.ts'
import { earlier, gapSentences, isAskedAgain, storedGaps } from '../raw/gaps.ts'
import { keepNewest, ofInputs, removeRecords, removeRecordsWithin } from '../raw/raw-mirror.ts'
import { rawTable } from '../raw/raw-table.ts'
import { fileReceipt, type Receipt } from '../raw/receipts.ts'
import type { AnyCollectSpec } from '../spec/collect.ts'
import { numberedOf } from '../spec/collect.ts'
import type { Entity } from '../spec/entity.ts'
import type { SourceTask } from '../spec/plugin.ts'
import type { SubtaskKey, SubtaskResult } from '../spec/subtask.ts'
import { withClient } from '../task/client.ts'
import { oncePerTask } from '../task/known-of-task.ts'
import { nameRecords } from '../task/name-records.ts'
import { takeOverScope } from '../task/siblings.ts'
import { readBefore } from './before.ts'
import type { Collection, Missing, Tally } from './collection.ts'
import { countRaw, dropGone } from './drop-gone.ts'
import { confirmEarly, earlyInputs } from './early-records.ts'
import { requireSameIds } from './identity.ts'
import { cappedGap } from './list-gaps.ts'
import { marksOf } from './new-rows.ts'
import { readReaches } from './numbered.ts'
import { createPageStore } from './page-store.ts'
import { reconcile } from './reconcile.ts'
import { ask, askBesides, listsToAskFor, settle } from './refused-lists.ts'
import { type CollectRun, closeRun, forgetCollector, openRun } from './run.ts'
import { eachSideBySide } from './side-by-side.ts'
import { createSourceClock, StartOver } from './source-clock.ts'

const NOTHING: SubtaskResult = { records: 0, rows: 0, quarantined: 0 }

export function collect(entity: Entity, task: SourceTask, subtaskKey: SubtaskKey): Promise<SubtaskResult> {
  const spec = entity.spec.collect as AnyCollectSpec
  const { plugin, context } = task
  return withClient(task, async (client) => {
    const server = await probe(task, client)
    const base = {
      connectionId: context.connectionId,
      scope: context.scope,
      scopeConfig: context.scopeConfig,
      connection: context.connection,
      server,
    }
    if (spec.when && !spec.when(base)) return dropCollected(entity, task)
    const { database, params } = task
    const raw = rawTable(entity.spec.raw as string)
    const where = { raw_table: raw.name, params }
    const policy = {
      fullSync: task.fullSync,
      timeAfter: task.timeAfter,
      isWhole: spec.windows?.isWhole ?? false,
    }
    await takeOverScope(task)
    await nameRecords(entity, task)
    const concurrency = requestsAtOnce(plugin.connection.limits?.concurrency ?? DEFAULT_CONCURRENCY)
    const filed: Filed = { last: undefined }
    const begin = async (again?: StartOver): Promise<SubtaskResult> => {
      const before = await readBefore(database, raw, params)
      const asked = before.hasGaps ? (await storedGaps(database, where)).filter(isAskedAgain) : []
      const early = before.hasEarly ? await earlyInputs(database, where) : []
      const missing: readonly Missing[] = [...asked, ...early]
      const run = await openRun(database, where, before, {
        policy,
        marks: await marksOf(spec, task),
        missingSince: missingSince(missing),
        startOver: again?.change,
      })
      const tally = tallyOf(run, again)
      const result = await collectWith({
        entity,
        spec,
        task,
        subtaskKey,
        client,
        base,
        raw,
        before,
        run,
        concurrency,
        missing,
        tally,
        filed,
        clock: createSourceClock(database, where, run, client, base, again !== undefined),
        store: createPageStore(recordsOfRun(entity, task, run, before.lastOwnId > 0)),
        unstored: createSlots(concurrency),
        reaches:
          (numberedOf(spec) || spec.forEach?.tellsChange) && !run.isFull ? await readReaches(task, raw) : new Map(),
      })
      // A second run gets changes since the interruption in lists that had been read by then.
      return run.isResumed && !tally.isLost ? together(result, await begin()) : result
    }
    try {
      return await begin()
    } catch (error) {
      if (!(error instanceof StartOver)) throw error
      task.log?.(`${subtaskKey.subtask}: ${error.message}`)
      return await begin(error)
    }
  })
}

/** Holds the receipt of the first run for the second run: an interrupted run, once finished, is followed by another. */
interface Filed {
  last: Receipt | undefined
}

const together = (one: SubtaskResult, other: SubtaskResult): SubtaskResult => ({
  ...other,
  records: one.records + other.records,
  rows: one.rows + other.rows,
  remarks: [...new Set([...(one.remarks ?? []), ...(other.remarks ?? [])])],
})

/** Deletes the records of a collector that is not wanted any more. If it is wanted again later, everything is asked for. */
async function dropCollected(
  entity: Entity,
  { database, params, plugin, context }: SourceTask,
): Promise<SubtaskResult> {
  const raw = rawTable(entity.spec.raw as string)
  await forgetCollector(database, { raw_table: raw.name, params })
  await removeRecords({ database, raw, params }, descendantsOf(plugin, entity), sql`1 = 1`)
  return NOTHING
}

/** Enough requests that the source's limit is used even while other pages are being stored or wait for a retry. */
const requestsAtOnce = (concurrency: number): number => 2 * concurrency - 1

function recordsOfRun(
  entity: Entity,
  { database, params, plugin, context }: SourceTask,
  { rawMark: mark }: CollectRun,
  hasOlder: boolean,
) {
  const raw = rawTable(entity.spec.raw as string)
  const descendants = descendantsOf(plugin, entity)
  return {
    database,
    raw,
    params,
    mark,
    hasOlder,
    removeOlder: (inside: Database, groups: Piece<string>) =>
      removeRecordsWithin({ database: inside, raw, params }, descendants, sql`id <= ${mark} and ${ofInputs(groups)}`),
  }
}

/** The time from which records are missing that the only list of a collector counted and did not send. */
function missingSince(missing: readonly Missing[]): Date | null | undefined {
  const counted = missing.filter(({ kind, list }) => kind === 'count' && list === '').map(({ since }) => since)
  return counted.length === 0 ? undefined : counted.reduce(earlier)
}

async function collectWith(collection: Collection & { readonly filed: Filed }): Promise<SubtaskResult> {
  const { spec, task, subtaskKey, client, raw, run, tally, concurrency, clock, filed } = collection
  const { database } = task
  const where = { raw_table: raw.name, params: task.params }
  const file = async (status: string, message: string) => {
    // If both runs are complete, the receipt of the second run must not hide the numbers of the first.
    const before = status === 'complete' && filed.last?.status === 'complete' ? filed.last : undefined
    filed.last = {
      plugin: subtaskKey.plugin,
      ...where,
      subtask: subtaskKey.subtask,
      status,
      message,
      expected: before ? before.expected : (tally.expected ?? null),
      received: before ? before.received : tally.received,
      since: before ? before.since : run.since,
      until: clock.startedAt(),
      stored: await countRaw(task, raw),
      requests: client.usage.requests,
      counted_requests: client.usage.counted,
      tells_incidents: spec.tellsIncidents ?? false,
    }
    await fileReceipt(database, filed.last)
  }
  try {
    await eachSideBySide(listsToAskFor(collection), concurrency, task.signal, (list, signal) =>
      ask(collection, list, signal),
    )
    // Also needed if a list failed half-way: the records that it brought are extracted.
    await keepNewest({ database, raw, params: task.params }, run.rawMark)
    if (!tally.isLost) {
      await requireSameIds(collection)
      await askBesides(collection, 'reconcile', () => reconcile(collection))
      await dropGone(collection)
      // A resumed run is followed by another run, which also sees what came in the meantime.
      if (!run.isResumed) await confirmEarly(collection)
      await closeRun(database, where, run, clock.startedAt())
    }
    const openGaps = gapSentences(await settle(collection))
    const remarks = [...tally.remarks, ...openGaps]
    await file(tally.isLost ? 'failed' : openGaps.length > 0 ? 'gap' : 'complete', remarks.join('; '))
    for (const each of remarks) task.log?.(`${subtaskKey.subtask}: ${each}`)
    const list = spec.forEach ? undefined : tally.isLost ? 'lost' : tally.hasList ? 'complete' : undefined
    return {
      records: tally.received,
      rows: tally.received,
      quarantined: 0,
      ...(remarks.length > 0 && { remarks }),
      ...(list && { list }),
    }
  } catch (error) {
    if (!(error instanceof StartOver)) await file('failed', messageOf(error)).catch(() => {})
    throw error
  }
}

/** A tally that starts with the counts of earlier, interrupted attempts at this run. */
function tallyOf({ checkpoints }: CollectRun, again: StartOver | undefined): Tally {
  const tally: Tally = {
    received: 0,
    expected: undefined,
    isUnchanged: false,
    gaps: [],
    answered: new Set(),
    isLost: false,
    hasList: false,
    asked: new Set(),
    unwanted: new Set(),
    refused: new Set(),
    names: new Map(),
    gone: new Set(),
    known: new Set(),
    range: undefined,
    remarks: again ? [again.message] : [],
  }
  for (const [key, { received, expected, page }] of checkpoints) {
    if (page && 'capped' in page) tally.gaps.push(cappedGap({ kind: 'list', key }, page.capped, ''))
    // The checkpoint of a finished list includes the counts of its parts.
    if (key.includes('#') && checkpoints.get(key.slice(0, key.indexOf('#')))?.is_done) continue
    tally.received += received
    if (expected !== null) tally.expected = (tally.expected ?? 0) + expected
    if (key === '' && page && 'unchanged' in page) tally.isUnchanged = true
  }
  return tally
}

function probe(task: SourceTask, client: ApiClient): Promise<unknown> {
  const ask = task.plugin.connection.probe
  if (!ask) return Promise.resolve(undefined)
  return oncePerTask(task, 'probe', () => ask(async (path) => (await client.send({ path }, task.signal)).body))
}
