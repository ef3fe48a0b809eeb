/**
 * A record from a delivery is processed like a collected one: stored raw, extracted, converted. The progress of collecting does
 * not change, so that the next run asks for the record again, and confirms or removes it.
 */

import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { parseExactBytes } from '../../database/exact-json.ts'
import { among, onePiece } from '../../database/pieces.ts'
import { conditions, readAll } from '../../database/read.ts'
import type { AnyTable, RawRecord, TableRow } from '../../database/table.ts'
import { write } from '../../database/write.ts'
import { domainTables } from '../../domain/index.ts'
import { withBareAddresses } from '../../secrets/address-secrets.ts'
import { collectorLatestState } from '../../system/state.ts'
import { isForeign, noteEarly } from '../collect/early-records.ts'
import { forgetTags, inputKey } from '../collect/run.ts'
import { overlapping } from '../collect/run-window.ts'
import { collectRuns, earlyRecords } from '../raw/collect-tables.ts'
import { extractedTables } from '../raw/descendants.ts'
import { lastRawId } from '../raw/raw-mirror.ts'
import { rawTable } from '../raw/raw-table.ts'
import { type AnyCollectSpec, groupOf, hasOwnInputs, recordKey } from '../spec/collect.ts'
import type { DeliveredRecord, DeliveredScopes, News } from '../spec/deliveries.ts'
import type { Entity } from '../spec/entity.ts'
import { finderOf } from '../spec/lookups.ts'
import type { PluginSpec, SourceTask } from '../spec/plugin.ts'
import type { TaskRun } from '../spec/subtask.ts'
import { prepareSourceTask, scopeKey } from '../task/source-task.ts'
import { rowsOfRecord } from '../transform/extract.ts'
import { stampOrigin } from '../transform/transform.ts'
import { openWindow } from '../transform/window.ts'
import { convertSome, deleteRowSet, isAmong, RowSet, readRowsOf } from './converted.ts'

export interface Applied {
  /** Number of records that were new and taken. */
  readonly records: number
  /** Number of rows of the domain model that were written or deleted. */
  readonly rows: number
  /** The reasons why other records were not taken. */
  readonly reasons: readonly string[]
}

/** Must be called within a transaction, by a caller that has the lease of the scope. */
export async function applyRecords(
  plugin: PluginSpec,
  run: Pick<TaskRun, 'database' | 'options' | 'signal'>,
  records: readonly DeliveredRecord[],
): Promise<Applied> {
  const task = await prepareSourceTask(plugin, { ...run, fullSync: false, progress: () => {} })
  const reasons: (string | undefined)[] = []
  for (const record of records) reasons.push(await whyNotTaken(task, record))
  let rows = 0
  let taken = 0
  for (const [index, record] of records.entries()) {
    if (reasons[index]) continue
    const written = await applyRecord(task, record)
    if (written === undefined) reasons[index] = 'it lacks what only collecting brings'
    else {
      rows += written
      taken++
    }
  }
  return { records: taken, rows, reasons: [...new Set(reasons.flatMap((reason) => reason ?? []))] }
}

/** Task options for the scopes that a delivery is about; empty: none of them is configured. */
export async function scopesOfDelivery(
  database: Database,
  plugin: PluginSpec,
  connectionId: number,
  { table = plugin.scope.table, where }: DeliveredScopes,
): Promise<Record<string, RawRecord>[]> {
  const key = scopeKey(plugin)
  const rows: RawRecord[] = await readAll(database, { table, where: { connection_id: connectionId, ...where } })
  const keys = onePiece(new Set(rows.map((row) => row[key])))
  const scopes: RawRecord[] =
    keys.length === 0
      ? []
      : await readAll(database, { table: plugin.scope.table, where: { connection_id: connectionId, [key]: keys } })
  const option = Object.entries(plugin.scope.options).find(([, column]) => column === key)?.[0] as string
  return scopes.map((scope) => ({ connectionId, [option]: scope[key] }))
}

/** Why a record is not taken; undefined: it is new. Every record that is taken is from the time that the next run asks for. */
async function whyNotTaken(task: SourceTask, delivered: DeliveredRecord): Promise<string | undefined> {
  const { database, params } = task
  const { entity, news } = delivered
  if (!news.at) return 'it does not say when it was changed'
  const collectors = collectorsOf(task.plugin, entity)
  const [open] = await readAll(database, { table: collectRuns, where: { raw_table: collectors, params } })
  if (open) return 'a collection that was interrupted brings it when it continues'
  const states = await readAll(database, {
    table: collectorLatestState,
    where: { raw_data_table: collectors, raw_data_params: params },
  })
  const begun = states.map(({ latest_success_start }) => latest_success_start).filter((each) => each !== null)
  const since = begun.length === 0 ? undefined : overlapping(new Date(Math.max(...begun.map(Number))))
  if (since && news.at < since) return 'the last collection began after it, and has what came of it'
  const stored = await readNews(task, news)
  if (!stored || stored.at < news.at) return undefined
  if (stored.at > news.at) return 'what is stored is newer'
  // Times are in seconds, so equal times decide nothing. An unconfirmed record is asked for again anyway, so the later delivery wins.
  const isOpen = await isUnconfirmed(database, params, stored.row)
  if (isOpen) return undefined
  return (await isKnown(task, delivered)) ? 'it is known already' : undefined
}

/** The raw tables of the collectors that will confirm such records. */
function collectorsOf(plugin: PluginSpec, { table, spec }: Entity): string[] {
  const own = rawTable(spec.raw as string).name
  if (!isForeign(plugin, own)) return [own]
  return plugin.entities.flatMap((each) =>
    each.spec.collect && each.spec.raw && extractedTables(each).includes(table) ? rawTable(each.spec.raw).name : [],
  )
}

const NEVER = new Date(0)

async function readNews({ database, context }: SourceTask, { table, where, timeOf }: News) {
  const [row]: RawRecord[] = await readAll(database, {
    table,
    where: { connection_id: context.connectionId, ...where },
  })
  return row && { row, at: timeOf(row) ?? NEVER }
}

async function isUnconfirmed(database: Database, params: string, row: RawRecord): Promise<boolean> {
  const where = { raw_table: row._raw_data_table, params, raw_id: row._raw_data_id }
  return (await readAll(database, { table: earlyRecords, where })).length > 0
}

/** True if rows of the record are stored, or if it makes none. */
async function isKnown(task: SourceTask, { entity, record, input }: DeliveredRecord): Promise<boolean> {
  const own = (await extractOne(task, entity, record, input)).rows(entity.table)
  return own.length === 0 || (await readRowsOf(task.database, entity.table, isAmong(entity.table, own, 't'))).length > 0
}

/** Returns the number of rows of the domain model that were written; undefined: nothing can be made from the record. */
async function applyRecord(task: SourceTask, delivered: DeliveredRecord): Promise<number | undefined> {
  const { database, plugin, params } = task
  const { entity, input = null, news } = delivered
  const collect = entity.spec.collect as AnyCollectSpec
  const raw = rawTable(entity.spec.raw as string)
  const input_key = input !== null && hasOwnInputs(collect) ? groupOf(collect, input) : ''
  const older = await olderVersions(task, delivered, input_key)
  const whole = delivered.merge ? delivered.merge(older.at(-1)?.record) : delivered.record
  if (whole === undefined) return undefined
  const record = withBareAddresses(whole)
  const { stamp } = await openWindow(
    database,
    { plugin: plugin.name, subtask: 'delivery', params },
    { fullSync: false, config: '' },
  )
  const made = await extractOne(task, entity, record, input)
  const before = await storedRows(task, entity, made, older)
  const affected = new RowSet()
  affected.add(before)
  affected.add(made)
  const converts = convertsOf(plugin)
  const former = await convertAll(task, converts, affected)

  await deleteOlder(task, entity, older)
  const data = Buffer.from(JSON.stringify(record))
  await write(database, [
    raw.row({
      params,
      data,
      url: '',
      input,
      input_key,
      record_key: recordKey(collect, record),
      created_at: new Date(),
    }),
  ])
  const id = await lastRawId(database, raw, params)
  for (const row of made) stampOrigin(row, { params, table: raw.name, id }, new Set(extractedTables(entity)))
  await deleteRowSet(database, before.without(made))
  await write(database, [...made], stamp)
  const rows = await convertAnew(task, { converts, affected, former, stamp })
  const own = { raw_table: raw.name, params }
  // An answer of "unchanged" would leave the record unconfirmed.
  await forgetTags(database, own, [input_key === '' ? '' : inputKey(input)])
  const listed_at = news.listedAt === undefined ? news.at : news.listedAt
  await noteEarly(database, { ...own, raw_id: id, tool_table: entity.table.name, input, listed_at })
  return rows
}

interface Version {
  readonly id: number
  readonly record: unknown
}

/** The stored versions of the record, the newest last. */
async function olderVersions(
  { database, params }: SourceTask,
  { entity, record }: DeliveredRecord,
  inputKey: string,
): Promise<Version[]> {
  const collect = entity.spec.collect as AnyCollectSpec
  const raw = rawTable(entity.spec.raw as string)
  const named = recordKey(collect, record)
  const { rows } = await sql<{ id: number; data: Buffer }>`select id, data from ${sql.table(raw.name)}
    where params = ${params} and input_key = ${inputKey} and record_key = ${named} order by id for update`.execute(
    database.kysely,
  )
  return rows.map(({ id, data }) => ({ id, record: parseExactBytes(data) }))
}

async function deleteOlder({ database }: SourceTask, { spec }: Entity, older: readonly Version[]): Promise<void> {
  if (older.length === 0) return
  const ids = onePiece(older.map(({ id }) => id))
  await sql`delete from ${sql.table(rawTable(spec.raw as string).name)} where ${among(sql.ref('id'), ids)}`.execute(
    database.kysely,
  )
}

async function extractOne(task: SourceTask, entity: Entity, record: unknown, input: unknown): Promise<RowSet> {
  const { database, context } = task
  const lookups = entity.spec.extract?.lookups ?? {}
  const find = finderOf({ database, connectionId: context.connectionId, scope: context.scope }, lookups)
  const rows = new RowSet()
  rows.add(rowsOfRecord(entity, { ...context, lookups: await find([record]) }, record, input))
  return rows
}

/** Stored tool rows of the record. The new version may not make all of them again. */
async function storedRows(task: SourceTask, entity: Entity, made: RowSet, older: readonly Version[]): Promise<RowSet> {
  const { database, params, plugin } = task
  const raw = rawTable(entity.spec.raw as string)
  const rows = new RowSet()
  const own = made.rows(entity.table)
  if (own.length > 0) rows.add(await readRowsOf(database, entity.table, isAmong(entity.table, own, 't')))
  const isReferred = new Set((plugin.referred ?? []).map(({ table }) => table))
  const ids = onePiece(older.map(({ id }) => id))
  for (const table of extractedTables(entity)) {
    if (table.origin < 0 || isReferred.has(table) || ids.length === 0) continue
    const isMadeOfIt = sql`t._raw_data_params = ${params} and t._raw_data_table = ${raw.name}
      and ${among(sql.ref('t._raw_data_id'), ids)}`
    rows.add(await readRowsOf(database, table, isMadeOfIt))
  }
  for (const { table, by, where = {} } of entity.spec.extract?.owns ?? []) {
    if (table === entity.table) continue
    for (const owner of own) rows.add(await readRowsOf(database, table, isOwnedBy(owner, by, where)))
  }
  return rows
}

const isOwnedBy = ({ table, cells }: TableRow, by: Readonly<Record<string, string>>, where: object) =>
  sql.join(
    conditions('t', {
      ...Object.fromEntries(Object.entries(by).map(([name, of]) => [name, cells[table.names.indexOf(of)]])),
      ...where,
    }),
    sql` and `,
  )

/** The conversions of a plugin; conversions whose rows others read come first. */
function convertsOf({ entities }: PluginSpec): Entity[] {
  const all = entities.filter(({ spec }) => spec.convert)
  const isFirst = ({ spec }: Entity) => spec.convert?.to.some((table) => all.some((each) => each.table === table))
  return [...all.filter(isFirst), ...all.filter((each) => !isFirst(each))]
}

/** Converts the stored rows among `affected` as they are now. Resulting rows of tool tables are added to `affected`. */
async function convertAll(task: SourceTask, converts: readonly Entity[], affected: RowSet): Promise<RowSet> {
  const former = new RowSet()
  for (const entity of converts) {
    const rows = await convertSome(entity, task, affected)
    former.add(rows)
    affected.add(rows.filter(({ table }) => !domainTables.includes(table)))
  }
  return former
}

interface Anew {
  readonly converts: readonly Entity[]
  readonly affected: RowSet
  /** The converted rows from before the change. */
  readonly former: RowSet
  readonly stamp: Date
}

async function convertAnew(task: SourceTask, { converts, affected, former, stamp }: Anew): Promise<number> {
  const { database } = task
  const latter = new RowSet()
  for (const entity of converts) {
    const rows = await convertSome(entity, task, affected)
    latter.add(rows)
    const between = entity.spec.convert?.to.filter((table: AnyTable) => !domainTables.includes(table)) ?? []
    if (between.length === 0) continue
    // The next conversions read these rows.
    affected.add(rows)
    const gone = new RowSet()
    for (const table of between) gone.add(former.rows(table))
    await deleteRowSet(database, gone.without(latter))
    await write(database, rows, stamp)
  }
  const deleted = await deleteRowSet(database, former.without(latter))
  const rows = [...latter].filter(({ table }) => domainTables.includes(table))
  await write(database, rows, stamp)
  return rows.length + deleted
}
