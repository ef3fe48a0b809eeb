/** Asks the vendor and keeps every record as it came. A page and the checkpoint that counts it are stored together. */
import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { among, inPieces, type Piece } from '../database/pieces.ts'
import { retrying } from '../database/write.ts'
import { messageOf } from '../errors.ts'
import { createSourceClock, StartOver } from './collect-clock.ts'
import { ask, askBesides, roundsOf, settle } from './collect-gaps.ts'
import { requireSameIds, strangersIn } from './collect-identity.ts'
import { marksOf } from './collect-inputs.ts'
import { reconcile } from './collect-reconcile.ts'
import { type Collecting, cappedGap, type Tally } from './collect-series.ts'
import { type CollectSpec, hasOwnInputs, isAppending } from './collect-spec.ts'
import { type CollectRun, closeRun, forgetCollector, openRun } from './collect-state.ts'
import { createPageStore } from './collect-store.ts'
import { descendantsOf } from './descendants.ts'
import type { Entity } from './entity.ts'
import { earlier, gapSentences, isAskedAgain, type StoredGap, storedGaps } from './gaps.ts'
import { type ApiClient, createPlaces, DEFAULT_CONCURRENCY } from './http/index.ts'
import { eachInLanes } from './lanes.ts'
import type { Place } from './quarantine.ts'
import { type RawTable, rawTable } from './raw.ts'
import {
  inputsUpTo,
  keepNewest,
  lastRawId,
  ofInputs,
  removeElsewhere,
  removeRecords,
  removeRecordsWithin,
} from './raw-mirror.ts'
import { nameRecords } from './raw-names.ts'
import { fileReceipt, type Receipt } from './receipts.ts'
import { takeOverScope } from './siblings.ts'
import type { SourceTask } from './source-task.ts'
import type { SubtaskResult } from './subtask.ts'
import { withClient } from './task-client.ts'

const NOTHING: SubtaskResult = { records: 0, rows: 0, quarantined: 0 }

export function collect(entity: Entity, task: SourceTask, place: Place): Promise<SubtaskResult> {
  const spec = entity.spec.collect as CollectSpec<any, any>
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
    const policy = { fullSync: task.fullSync, timeAfter: task.timeAfter ?? null }
    await takeOverScope(task)
    await nameRecords(entity, task)
    const lanes = lanesFor(plugin.connection.limits?.concurrency ?? DEFAULT_CONCURRENCY)
    const filed: Filed = { last: undefined }
    const begin = async (again?: StartOver): Promise<SubtaskResult> => {
      const missing = (await storedGaps(database, where)).filter(isAskedAgain)
      const run = await openRun(database, where, {
        ...{ policy, lastRawId: await lastRawId(database, raw), marks: await marksOf(spec, task) },
        olderCount: await countRaw(task, raw),
        ...{ missingSince: missingSince(missing), startOver: again?.change },
      })
      const tally = tallyOf(run, again)
      const result = await collectWith({
        ...{ entity, spec, task, place, client, base, raw, run, lanes, missing, tally, filed },
        clock: createSourceClock(database, where, run, client, base, again !== undefined),
        store: createPageStore(await placeOfRun(entity, task, run)),
        unstored: createPlaces(lanes),
      })
      // What changed since it was cut off, in lists that were read by then.
      return run.isResumed && !tally.isLost ? together(result, await begin()) : result
    }
    try {
      return await begin()
    } catch (error) {
      if (!(error instanceof StartOver)) throw error
      task.log?.(`${place.subtask}: ${error.message}`)
      return await begin(error)
    }
  })
}

/** What was told of the first part of this collection. */
interface Filed {
  last: Receipt | undefined
}

const together = (one: SubtaskResult, other: SubtaskResult): SubtaskResult => ({
  ...other,
  records: one.records + other.records,
  rows: one.rows + other.rows,
  remarks: [...new Set([...(one.remarks ?? []), ...(other.remarks ?? [])])],
})

/** What is not asked for any more is not kept either; should it be again, everything is asked for. */
async function dropCollected(
  entity: Entity,
  { database, params, plugin, context }: SourceTask,
): Promise<SubtaskResult> {
  const raw = rawTable(entity.spec.raw as string)
  await forgetCollector(database, { raw_table: raw.name, params })
  await removeRecords({ database, raw, params }, descendantsOf(plugin, entity, context.scope), sql`1 = 1`)
  return NOTHING
}

/** While some pages are stored or wait to be tried again, as many as the source allows are under way. */
const lanesFor = (concurrency: number): number => 2 * concurrency - 1

async function placeOfRun(
  entity: Entity,
  { database, params, plugin, context }: SourceTask,
  { rawMark: mark }: CollectRun,
) {
  const raw = rawTable(entity.spec.raw as string)
  const descendants = descendantsOf(plugin, entity, context.scope)
  return {
    ...{ database, raw, params, mark },
    hasOlder: (await lastRawId(database, raw, params)) > 0,
    removeOlder: (inside: Database, groups: Piece<string>) =>
      removeRecordsWithin({ database: inside, raw, params }, descendants, sql`id <= ${mark} and ${ofInputs(groups)}`),
  }
}

/** Where the records begin that the only list of a collector counted and did not bring. */
function missingSince(missing: readonly StoredGap[]): Date | null | undefined {
  const counted = missing.filter(({ kind, list }) => kind === 'count' && list === '').map(({ since }) => since)
  return counted.length === 0 ? undefined : counted.reduce(earlier)
}

async function collectWith(collecting: Collecting & { readonly filed: Filed }): Promise<SubtaskResult> {
  const { spec, task, place, client, raw, run, tally, lanes, clock, filed } = collecting
  const { database } = task
  const where = { raw_table: raw.name, params: task.params }
  const file = async (status: string, message: string) => {
    // Where all came, what was asked for at last does not hide what the collection as a whole got.
    const told = status === 'complete' && filed.last?.status === 'complete' ? filed.last : undefined
    filed.last = {
      ...{ plugin: place.plugin, ...where, subtask: place.subtask, status, message },
      expected: told ? told.expected : (tally.expected ?? null),
      received: told ? told.received : tally.received,
      ...{ since: told ? told.since : run.since, until: clock.startedAt() },
      stored: await countRaw(task, raw),
      requests: client.usage.requests,
      counted_requests: client.usage.counted,
    }
    await fileReceipt(database, filed.last)
  }
  try {
    await eachInLanes(roundsOf(collecting), lanes, task.signal, (round, signal) => ask(collecting, round, signal))
    // Also where a list was lost half-way: what came of it is extracted.
    await keepNewest({ database, raw, params: task.params }, run.rawMark)
    if (!tally.isLost) {
      await requireSameIds(collecting)
      await askBesides(collecting, 'reconcile', () => reconcile(collecting))
      await dropGone(collecting)
      await closeRun(database, where, run, clock.startedAt())
    }
    const left = gapSentences(await settle(collecting))
    const told = [...tally.remarks, ...left]
    await file(tally.isLost ? 'failed' : left.length > 0 ? 'gap' : 'complete', told.join('; '))
    for (const each of told) task.log?.(`${place.subtask}: ${each}`)
    const list = spec.forEach ? undefined : tally.isLost ? 'lost' : tally.hasList ? 'complete' : undefined
    return {
      ...{ records: tally.received, rows: tally.received, quarantined: 0 },
      ...(told.length > 0 && { remarks: told }),
      ...(list && { list }),
    }
  } catch (error) {
    if (!(error instanceof StartOver)) await file('failed', messageOf(error)).catch(() => {})
    throw error
  }
}

/** What earlier, cut off attempts of this run have counted. */
function tallyOf({ checkpoints }: CollectRun, again: StartOver | undefined): Tally {
  const tally: Tally = {
    ...{ received: 0, expected: undefined, isUnchanged: false, gaps: [], answered: new Set(), isLost: false },
    ...{ hasList: false, asked: new Set(), unwanted: new Set(), refused: new Set(), names: new Map() },
    ...{ gone: new Set(), known: new Set(), range: undefined },
    remarks: again ? [again.message] : [],
  }
  for (const [key, { received, expected, page }] of checkpoints) {
    if (page && 'capped' in page) tally.gaps.push(cappedGap({ kind: 'list', key }, page.capped, ''))
    // A list that is done counts what its parts counted.
    if (key.includes('#') && checkpoints.get(key.slice(0, key.indexOf('#')))?.is_done) continue
    tally.received += received
    if (expected !== null) tally.expected = (tally.expected ?? 0) + expected
    if (key === '' && page && 'unchanged' in page) tally.isUnchanged = true
  }
  return tally
}

/** When all was asked for that was to be: what did not come again is gone. */
async function dropGone(collecting: Collecting): Promise<void> {
  const { entity, spec, task, raw, run, tally } = collecting
  const { database, params, plugin, context } = task
  const place = { database, raw, params }
  const descendants = descendantsOf(plugin, entity, context.scope)
  const remove = (condition: RawBuilder<unknown>) => removeRecords(place, descendants, condition)
  if (spec.isForAll && tally.refused.size === 0) {
    const mark = tally.isUnchanged ? 0 : run.rawMark
    await retrying(database, () => removeElsewhere(place, descendants, mark))
  }
  if ((run.isFull || !isAppending(spec)) && !tally.isUnchanged) {
    const stays = refusedOf(tally)
    const left = await countRaw(task, raw, run.rawMark)
    tally.remarks.push(...strangersIn(collecting, { before: run.olderCount, left }))
    if (stays) await remove(sql`id <= ${run.rawMark} ${stays}`)
  } else if (hasOwnInputs(spec)) {
    const isAll = !spec.forEach?.changedBy
    const stored = isAll || tally.unwanted.size > 0 ? await inputsUpTo(place, run.rawMark) : []
    const gone = stored.filter((key) => key !== '' && (isAll ? !tally.asked.has(key) : tally.unwanted.has(key)))
    for (const some of inPieces(gone)) await remove(sql`id <= ${run.rawMark} and ${ofInputs(some)}`)
  }
  for (const id of await missingIn(collecting)) tally.gone.add(id)
  for (const ids of inPieces(tally.gone)) await remove(among(sql.ref('id'), ids))
}

/** Records of a time whose records all came: those that did not. A run that goes on with another has not seen them all. */
async function missingIn({ entity, spec, task, raw, run, tally }: Collecting): Promise<number[]> {
  const { range } = tally
  const isSeen = tally.gaps.length === 0 && tally.refused.size === 0 && run.checkpoints.size === 0
  if (!isSeen || run.isFull || !range || !spec.windows?.by) return []
  const time = sql.ref(`made.${spec.windows.by}`)
  const { rows } = await sql<{ id: number; record_key: string | null }>`select record.id, record.record_key
    from ${sql.table(raw.name)} as record inner join ${sql.table(entity.table.name)} as made
      on made._raw_data_id = record.id and made._raw_data_table = ${raw.name} and made._raw_data_params = ${task.params}
    where record.params = ${task.params} and record.id <= ${run.rawMark}
      and ${time} >= ${range.from} and ${time} <= ${range.to}`.execute(task.database.kysely)
  return rows.flatMap(({ id, record_key }) => (record_key && !tally.known.has(record_key) ? [id] : []))
}

/** What stays because its list was refused, as a condition; undefined: it cannot be told from the rest. */
function refusedOf({ refused }: Tally): RawBuilder<unknown> | undefined {
  if (refused.size === 0) return sql``
  const [groups, ...more] = inPieces([...refused] as string[])
  return refused.has(undefined) || !groups || more.length > 0 ? undefined : sql`and not ${ofInputs(groups)}`
}

async function countRaw({ database, params }: SourceTask, raw: RawTable, upTo?: number): Promise<number> {
  const older = upTo === undefined ? sql`` : sql`and id <= ${upTo}`
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(raw.name)}
    where params = ${params} ${older}`.execute(database.kysely)
  return rows[0]?.count ?? 0
}

const probed = new WeakMap<object, Promise<unknown>>()
/** Asked once a task: its subtasks share the options object. */
function probe({ plugin, options, signal }: SourceTask, client: ApiClient): Promise<unknown> {
  const ask = plugin.connection.probe
  if (!ask) return Promise.resolve(undefined)
  const answer = probed.get(options) ?? ask(async (path) => (await client.send({ path }, signal)).body)
  probed.set(options, answer)
  return answer
}
