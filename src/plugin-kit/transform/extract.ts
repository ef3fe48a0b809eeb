/** Raw records → tool rows. */

import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { parseExactBytes } from '../../database/exact-json.ts'
import { knowing } from '../../database/kysely.ts'
import { inPieces } from '../../database/pieces.ts'
import { inChunks, readTogether } from '../../database/read.ts'
import type { AnyTable, RawRecord, TableRow } from '../../database/table.ts'
import { RecordError } from '../../errors.ts'
import { extractedTables } from '../raw/descendants.ts'
import { quarantinedIds } from '../raw/quarantine.ts'
import { lastRawId } from '../raw/raw-mirror.ts'
import { letGo, type RawTable, rawTable } from '../raw/raw-table.ts'
import type { AnyExtractContext, AnyExtractSpec, EntityTask } from '../spec/entity.ts'
import { type Entity, subtaskName } from '../spec/entity.ts'
import { finderOf } from '../spec/lookups.ts'
import type { PluginSpec, SourceTask } from '../spec/plugin.ts'
import type { SubtaskKey, SubtaskResult } from '../spec/subtask.ts'
import { nameRecords } from '../task/name-records.ts'
import { replacedRaws } from '../task/siblings.ts'
import { replaceOwned, withoutOwner } from './owned.ts'
import { readerOf } from './record-reader.ts'
import { sweepExtracted } from './sweep.ts'
import { runTransform } from './transform.ts'
import { dependenciesOf, forgetSuccess, openWindow } from './window.ts'

interface StoredRecord {
  readonly id: number
  readonly data: Buffer
  readonly input: RawRecord
}

interface Extracted {
  readonly last: number
  readonly mark: number | null
  readonly rawIds: readonly number[] | undefined
}

const FETCH = 50

export async function extract(
  entity: Entity,
  task: EntityTask,
  subtaskKey: SubtaskKey,
  rawIds?: readonly number[],
): Promise<SubtaskResult> {
  const { database, params } = task
  const spec: AnyExtractSpec = entity.spec.extract ?? {}
  const raw = rawTable(entity.spec.raw as string)
  await nameRecords(entity, task)
  const tables = extractedTables(entity)
  const siblings = 'plugin' in task ? replacedRaws((task as SourceTask).plugin, tables) : []
  const window = await openWindow(database, subtaskKey, {
    fullSync: task.fullSync,
    config: await dependenciesOf(spec, task),
    ...(!rawIds && { made: { tables, raws: [raw.name, ...siblings] } }),
  })
  const { stamp, earlier, hasRejected } = window
  // Pushed messages are stored one after the other and not replaced, so all of them must be read.
  const mark = entity.spec.collect ? window.rawMark : null
  const isFull = mark === null && !rawIds
  if (isFull) await window.forget()
  const { last, newer } = await reachOf(database, raw, params, mark ?? 0)
  const result = await runTransform<StoredRecord>(task, {
    subtaskKey,
    stamp,
    items: recordsOf(task, raw, { last, mark, rawIds }),
    expected: rawIds ? rawIds.length : newer,
    weigh: ({ data }) => data?.length ?? 0,
    allowed: new Set(tables),
    originOf: ({ id }) => ({ params, table: raw.name, id }),
    describe: ({ id }) => ({ raw_table: raw.name, raw_id: id, record_key: '', entity: entity.table.name, reason: '' }),
    prepare: rowsMaker(entity, task),
    ...(rawIds && !entity.spec.collect
      ? {
          wrote: (rows) =>
            replaceOwned(database, entity.table, withoutOwner(spec.owns ?? [], entity.table), rows, stamp),
        }
      : {}),
    ...(!rawIds && { sweep: () => sweepExtracted(task, entity, { stamp, isFull, earlier }) }),
    released: hasRejected ? (rawIds ?? (isFull ? 'all' : 'new')) : 'none',
  })
  if (rawIds) return result
  if (isFull && 'plugin' in task) {
    const { plugin } = task as SourceTask
    await forgetSuccess(database, subtaskKey, [...readersOf(plugin, tables), ...laterWritersOf(plugin, entity)])
  }
  await window.succeeded(last)
  return result
}

/** Reads only the records `rawIds`, or all records after `mark` up to `last`. */
function recordsOf({ database, params }: EntityTask, raw: RawTable, { last, mark, rawIds }: Extracted) {
  let query = knowing(database.kysely, raw)
    .selectFrom(raw.name)
    .select(['id', 'data', 'input'])
    .where('params', '=', params)
    .where('id', '<=', last)
    .where(sql<boolean>`(data is null or not ${letGo()})`)
    .orderBy('id')
  if (rawIds) query = query.where('id', 'in', rawIds)
  else if (mark !== null) query = query.where('id', '>', mark)
  return inChunks<StoredRecord>(database, query, FETCH)
}

/** Parses a batch, reads the rows that it looks up, and returns a function that makes the rows of one record. */
function rowsMaker(entity: Entity, { database, context }: EntityTask) {
  const { lookups }: AnyExtractSpec = entity.spec.extract ?? {}
  if (!lookups) {
    // Parsed one at a time: short-lived objects cost nothing to clear away.
    const shared = { ...context, lookups: {} }
    return async () => (item: StoredRecord) => rowsOfRecord(entity, shared, parse(item.data), item.input)
  }
  const find = finderOf({ database, connectionId: context.connectionId, scope: context.scope }, lookups)
  return async (batch: readonly StoredRecord[]) => {
    const parsed = new Map(batch.map((each) => [each, tryParse(each.data)]))
    const found = await find([...parsed.values()].filter((each) => !(each instanceof RecordError)))
    const shared = { ...context, lookups: found }
    return (item: StoredRecord): Iterable<TableRow> => {
      const record = parsed.get(item)
      if (record instanceof RecordError) throw record
      return rowsOfRecord(entity, shared, record, item.input)
    }
  }
}

/** The conversions of these tables. They notice rows that a full extraction deleted only if they read all rows. */
const readersOf = ({ entities, spelling }: PluginSpec, tables: readonly AnyTable[]): string[] =>
  entities
    .filter(({ table, spec }) => spec.convert && tables.includes(table))
    .map((entity) => subtaskName(spelling, 'convert', entity))

/**
 * The later extractions that write to the same tables. Example: requests for a review and then reviews both write reviewers.
 * The later extraction must win, but a full pass of the earlier one has overwritten its rows. Rows of people are excepted,
 * because they are the same from every extraction.
 */
function laterWritersOf({ entities, spelling, referred = [] }: PluginSpec, entity: Entity): string[] {
  const shared = extractedTables(entity).filter((table) => !referred.some((each) => each.table === table))
  return entities
    .slice(entities.indexOf(entity) + 1)
    .filter((later) => later.spec.raw && extractedTables(later).some((table) => shared.includes(table)))
    .map((later) => subtaskName(spelling, 'extract', later))
}

/**
 * For entities that extract lists of the same records, such as issues of a board and epics. The later list wins, so it is
 * extracted again. An earlier list may have to supply a record that this list has lost.
 */
export async function extractWithKin(entity: Entity, task: SourceTask, subtaskKey: SubtaskKey): Promise<SubtaskResult> {
  const { database, params } = task
  const { entities, spelling } = task.plugin
  const result = await extract(entity, task, subtaskKey)
  const isRelated = ({ table, spec }: Entity) => table === entity.table && spec.raw && spec.raw !== entity.spec.raw
  const position = entities.indexOf(entity)
  const nameOf = (related: Entity) => subtaskName(spelling, 'extract', related)
  const later = entities.filter((each, index) => isRelated(each) && index > position)
  if (result.records > 0) await forgetSuccess(database, subtaskKey, later.map(nameOf))
  for (const related of entities.slice(0, position).filter(isRelated)) {
    const own = { ...subtaskKey, subtask: nameOf(related) }
    const config = await dependenciesOf(related.spec.extract ?? {}, task)
    const window = await openWindow(database, own, { fullSync: false, config })
    const last = await lastRawId(database, rawTable(related.spec.raw as string), params)
    if (window.rawMark !== null && last > window.rawMark) await extract(related, { ...task, fullSync: false }, own)
  }
  return result
}

export async function redriveExtract(entity: Entity, task: EntityTask, subtaskKey: SubtaskKey): Promise<SubtaskResult> {
  const total = { records: 0, rows: 0, quarantined: 0 }
  for (const ids of inPieces(await quarantinedIds(task.database, subtaskKey))) {
    const { records, rows, quarantined } = await extract(entity, task, subtaskKey, ids)
    total.records += records
    total.rows += rows
    total.quarantined += quarantined
  }
  return total
}

/** The tool rows that are made from a record. */
export function rowsOfRecord(
  { table: own, spec }: Entity,
  shared: Omit<AnyExtractContext, 'input' | 'read'>,
  record: unknown,
  input: unknown,
): Iterable<TableRow> {
  const full: AnyExtractContext = {
    ...shared,
    input,
    read: (table, from, values) => readerOf(table)(from, full, values),
  }
  return spec.extract?.rows ? spec.extract.rows(record, full) : [full.read(own, record)]
}

const NO_BYTES = new Uint8Array()
function parse(data: Buffer | null): unknown {
  try {
    return parseExactBytes(data ?? NO_BYTES)
  } catch (error) {
    throw new RecordError(`not JSON: ${(error as Error).message}`)
  }
}

function tryParse(data: Buffer | null): unknown {
  try {
    return parse(data)
  } catch (error) {
    return error
  }
}

/** The id of the last record, and the number of records after `mark`. */
async function reachOf(database: Database, raw: RawTable, params: string, mark: number) {
  const own = sql`from ${sql.table(raw.name)} where params = ${params}`
  const { values } = await readTogether(database, {
    rows: [],
    values: [sql<number | null>`(select max(id) ${own})`, sql<number>`(select count(*) ${own} and id > ${mark})`],
  })
  return { last: values[0] ?? 0, newer: values[1] }
}
