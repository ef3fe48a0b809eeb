/** Raw records → tool rows. */
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { parseExactBytes } from '../database/exact-json.ts'
import type { Cell } from '../database/fit.ts'
import { inPieces } from '../database/pieces.ts'
import type { Column, Source, Table, TableRow } from '../database/table.ts'
import { RecordError } from '../errors.ts'
import { extractedTables } from './descendants.ts'
import { type Entity, type ExtractContext, type ExtractSpec, valueAt } from './entity.ts'
import { subtaskName } from './entity-subtasks.ts'
import { finderOf } from './lookups.ts'
import { apart, replaceOwned } from './owned.ts'
import { runPass } from './pass.ts'
import type { PluginSpec } from './plugin.ts'
import { type Place, quarantinedIds } from './quarantine.ts'
import { type RawTable, rawTable } from './raw.ts'
import { lastRawId } from './raw-mirror.ts'
import { nameRecords } from './raw-names.ts'
import { replacedRaws } from './siblings.ts'
import type { EntityTask, SourceTask } from './source-task.ts'
import { dependenciesOf, forgetSuccess, openWindow } from './state.ts'
import type { SubtaskResult } from './subtask.ts'
import { earlierRows, sweepExtracted } from './sweep.ts'

interface RawRecord {
  readonly id: number
  readonly data: Buffer
  readonly input: any
}

const FETCH = 50

export async function extract(
  entity: Entity,
  task: EntityTask,
  place: Place,
  rawIds?: readonly number[],
): Promise<SubtaskResult> {
  const { database, context, params } = task
  const spec: ExtractSpec<any, any, any> = entity.spec.extract ?? {}
  const raw = rawTable(entity.spec.raw as string)
  await nameRecords(entity, task)
  const window = await openWindow(database, place, {
    fullSync: task.fullSync,
    config: await dependenciesOf(spec, task),
  })
  const { stamp } = window
  const tables = extractedTables(entity)
  const siblings = 'plugin' in task ? replacedRaws((task as SourceTask).plugin, tables) : []
  const raws = [raw.name, ...siblings]
  const earlier = rawIds ? new Set<Table<any>>() : await earlierRows(task, { tables, raws })
  // Messages that were pushed are kept one after the other, so that all of them tell what is there.
  const mark = entity.spec.collect ? window.rawMark : null
  const isFull = mark === null && !rawIds
  if (isFull) await window.forget()
  const last = await lastRawId(database, raw, params)

  let query = database.kysely
    .selectFrom(raw.name)
    .select(['id', 'data', 'input'])
    .where('params', '=', params)
    .where('id', '<=', last)
    .orderBy('id')
  if (rawIds) query = query.where('id', 'in', rawIds)
  else if (mark !== null) query = query.where('id', '>', mark)
  const find = finderOf({ database, connectionId: context.connectionId, scope: context.scope }, spec.lookups ?? {})
  const result = await runPass<RawRecord>(task, {
    place,
    stamp,
    items: query.stream(FETCH) as AsyncIterable<RawRecord>,
    expected: rawIds ? rawIds.length : await countRaw(database, raw, params, mark ?? 0),
    weigh: ({ data }) => data?.length ?? 0,
    allowed: new Set(tables),
    originOf: ({ id }) => ({ params, table: raw.name, id }),
    describe: ({ id }) => ({ raw_table: raw.name, raw_id: id, record_key: '', entity: entity.table.name, reason: '' }),
    prepare: async (batch) => {
      const parsed = new Map(batch.map((each) => [each, tryParse(each.data)]))
      const lookups = await find([...parsed.values()].filter((each) => !(each instanceof RecordError)))
      const shared = { ...context, lookups }
      return (item) => {
        const record = parsed.get(item)
        if (record instanceof RecordError) throw record
        const full: ExtractContext<any, any, any> = {
          ...shared,
          input: item.input,
          read: (table, from, values) => readerOf(table)(from, full, values),
        }
        return spec.rows ? spec.rows(record, full) : [full.read(entity.table, record)]
      }
    },
    ...(rawIds && !entity.spec.collect
      ? { wrote: (rows) => replaceOwned(database, entity.table, apart(spec.owns ?? [], entity.table), rows, stamp) }
      : {}),
    ...(!rawIds && { sweep: () => sweepExtracted(task, entity, { stamp, isFull, earlier }) }),
    released: rawIds ?? (isFull ? 'all' : 'new'),
  })
  if (rawIds) return result
  if (isFull && 'plugin' in task) {
    const { plugin } = task as SourceTask
    await forgetSuccess(database, place, [...readersOf(plugin, tables), ...laterWritersOf(plugin, entity)])
  }
  await window.succeeded(last)
  return result
}

/** The conversions of these tables: what an extraction of everything took away they find only when they look at all. */
const readersOf = ({ entities, spelling }: PluginSpec, tables: readonly Table<any>[]): string[] =>
  entities
    .filter(({ table, spec }) => spec.convert && tables.includes(table))
    .map((entity) => subtaskName(spelling, 'convert', entity))

/**
 * The extractions that come later and write to the same tables, such as those of reviews to reviewers, who were asked for one
 * before: theirs is the last word, which a pass over everything has written over. People say the same wherever they come from.
 */
function laterWritersOf({ entities, spelling, referred = [] }: PluginSpec, entity: Entity): string[] {
  const shared = extractedTables(entity).filter((table) => !referred.some((each) => each.table === table))
  return entities
    .slice(entities.indexOf(entity) + 1)
    .filter((later) => later.spec.raw && extractedTables(later).some((table) => shared.includes(table)))
    .map((later) => subtaskName(spelling, 'extract', later))
}

/**
 * Lists of the same records, such as issues of a board and epics: those that come later have the last word, so they are
 * extracted again; one that came before may have to stand in for a record that this one has lost.
 */
export async function extractWithKin(entity: Entity, task: SourceTask, place: Place): Promise<SubtaskResult> {
  const { database, params } = task
  const { entities, spelling } = task.plugin
  const result = await extract(entity, task, place)
  const isKin = ({ table, spec }: Entity) => table === entity.table && spec.raw && spec.raw !== entity.spec.raw
  const position = entities.indexOf(entity)
  const nameOf = (kin: Entity) => subtaskName(spelling, 'extract', kin)
  const later = entities.filter((each, index) => isKin(each) && index > position)
  if (result.records > 0) await forgetSuccess(database, place, later.map(nameOf))
  for (const kin of entities.slice(0, position).filter(isKin)) {
    const own = { ...place, subtask: nameOf(kin) }
    const config = await dependenciesOf(kin.spec.extract ?? {}, task)
    const window = await openWindow(database, own, { fullSync: false, config })
    const last = await lastRawId(database, rawTable(kin.spec.raw as string), params)
    if (window.rawMark !== null && last > window.rawMark) await extract(kin, { ...task, fullSync: false }, own)
  }
  return result
}

export async function redriveExtract(entity: Entity, task: EntityTask, place: Place): Promise<SubtaskResult> {
  const total = { records: 0, rows: 0, quarantined: 0 }
  for (const ids of inPieces(await quarantinedIds(task.database, place))) {
    const { records, rows, quarantined } = await extract(entity, task, place, ids)
    total.records += records
    total.rows += rows
    total.quarantined += quarantined
  }
  return total
}

const NO_BYTES = new Uint8Array()
function tryParse(data: Buffer | null): unknown {
  try {
    return parseExactBytes(data ?? NO_BYTES)
  } catch (error) {
    return new RecordError(`not JSON: ${(error as Error).message}`)
  }
}

async function countRaw({ kysely }: Database, raw: RawTable, params: string, mark: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(raw.name)}
    where params = ${params} and id > ${mark}`.execute(kysely)
  return rows[0]?.count ?? 0
}

type Reader = (record: unknown, context: unknown, values?: Record<string, unknown>) => TableRow
const readers = new WeakMap<Table<any>, Reader>()

/** Made once a table: for each column the function that finds its value. */
function readerOf(table: Table<any>): Reader {
  const existing = readers.get(table)
  if (existing) return existing
  const finders = table.names.map((name) => finderFor(name, table.columns[name] as Column))
  const reader: Reader = (record, context, values) => {
    const cells: Cell[] = new Array(finders.length)
    for (let position = 0; position < finders.length; position++) {
      const given = values?.[table.names[position] as string]
      const value = given === undefined ? (finders[position] as Finder)(record, context) : given
      cells[position] = (table.fitters[position] as (value: unknown) => Cell)(value)
    }
    return { table, cells }
  }
  readers.set(table, reader)
  return reader
}

type Finder = (record: any, context: any) => unknown
/** Columns that the engine fills are not read: a vendor's own `created_at` is another thing. */
const FILLED = new Set([
  'created_at',
  'updated_at',
  '_raw_data_params',
  '_raw_data_table',
  '_raw_data_id',
  '_raw_data_remark',
])
function finderFor(name: string, { source }: { source?: Source }): Finder {
  if (typeof source === 'function') return source
  if (source === undefined) return FILLED.has(name) ? () => undefined : (record) => record?.[name]
  return (record) => valueAt(record, source)
}
