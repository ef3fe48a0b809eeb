/** Asks the vendor and stores every record as it came. A page and the checkpoint that counts it are stored together. */
import { sql } from 'kysely'
import { messageOf } from '../../errors.ts'
import type { ApiClient } from '../http/index.ts'
import { descendantsOf } from '../raw/descendants.ts'
import { gapSentences } from '../raw/gaps.ts'
import { keepNewest, removeRecords } from '../raw/raw-mirror.ts'
import { rawTable } from '../raw/raw-table.ts'
import type { AnyCollectSpec } from '../spec/collect.ts'
import type { Entity } from '../spec/entity.ts'
import type { SourceTask } from '../spec/plugin.ts'
import type { SubtaskKey, SubtaskResult } from '../spec/subtask.ts'
import { withClient } from '../task/client.ts'
import { oncePerTask } from '../task/known-of-task.ts'
import { nameRecords } from '../task/name-records.ts'
import { takeOverScope } from '../task/siblings.ts'
import type { Collection } from './collection.ts'
import { dropGone } from './gone/drop-gone.ts'
import { confirmEarly } from './gone/early-records.ts'
import { reconcile } from './gone/reconcile.ts'
import { ask, askBesides, listsToAskFor, settle } from './lists/refused-lists.ts'
import { openCollection } from './open-collection.ts'
import { requireSameIds } from './pages/identity.ts'
import { openReceipt } from './receipt.ts'
import { closeRun, forgetCollector } from './run/run.ts'
import { StartOver } from './run/source-clock.ts'
import { eachSideBySide } from './side-by-side.ts'

const NOTHING: SubtaskResult = { records: 0, rows: 0, quarantined: 0 }

export function collect(entity: Entity, task: SourceTask, subtaskKey: SubtaskKey): Promise<SubtaskResult> {
  const spec = entity.spec.collect as AnyCollectSpec
  const { connectionId, connection, scope, scopeConfig } = task.context
  return withClient(task, async (client) => {
    const base = { connectionId, connection, scope, scopeConfig, server: await probe(task, client) }
    if (spec.when && !spec.when(base)) return dropCollected(entity, task)
    await takeOverScope(task)
    await nameRecords(entity, task)
    const file = openReceipt()
    const begin = async (again?: StartOver): Promise<SubtaskResult> => {
      const collection = await openCollection({ entity, spec, task, subtaskKey, client, base }, again)
      const result = await collectAll(collection, file)
      // A second run gets changes since the interruption in lists that had been read by then.
      return collection.run.isResumed && !collection.tally.isLost ? together(result, await begin()) : result
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

const together = (one: SubtaskResult, other: SubtaskResult): SubtaskResult => ({
  ...other,
  records: one.records + other.records,
  rows: one.rows + other.rows,
  remarks: [...new Set([...(one.remarks ?? []), ...(other.remarks ?? [])])],
})

/** Deletes the records of a collector that is not wanted any more. If it is wanted again later, everything is asked for. */
async function dropCollected(entity: Entity, { database, params, plugin }: SourceTask): Promise<SubtaskResult> {
  const raw = rawTable(entity.spec.raw as string)
  await forgetCollector(database, { raw_table: raw.name, params })
  await removeRecords({ database, raw, params }, descendantsOf(plugin, entity), sql`1 = 1`)
  return NOTHING
}

async function collectAll(collection: Collection, file: ReturnType<typeof openReceipt>): Promise<SubtaskResult> {
  const { spec, task, subtaskKey, key, records, run, tally, concurrency, clock } = collection
  try {
    await eachSideBySide(listsToAskFor(collection), concurrency, task.signal, (list, signal) =>
      ask(collection, list, signal),
    )
    // Also needed if a list failed half-way: the records that it brought are extracted.
    await keepNewest(records, run.rawMark)
    if (!tally.isLost) {
      await requireSameIds(collection)
      await askBesides(collection, 'reconcile', () => reconcile(collection))
      await dropGone(collection)
      // A resumed run is followed by another run, which also sees what came in the meantime.
      if (!run.isResumed) await confirmEarly(collection)
      await closeRun(task.database, key, run, clock.startedAt())
    }
    const openGaps = gapSentences(await settle(collection))
    const remarks = [...tally.remarks, ...openGaps]
    await file(collection, tally.isLost ? 'failed' : openGaps.length > 0 ? 'gap' : 'complete', remarks.join('; '))
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
    if (!(error instanceof StartOver)) await file(collection, 'failed', messageOf(error)).catch(() => {})
    throw error
  }
}

function probe(task: SourceTask, client: ApiClient): Promise<unknown> {
  const ask = task.plugin.connection.probe
  if (!ask) return Promise.resolve(undefined)
  return oncePerTask(task, 'probe', () => ask(async (path) => (await client.send({ path }, task.signal)).body))
}
