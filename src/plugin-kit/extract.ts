/** Raw records → tool rows. */
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { Cell } from '../database/fit.ts'
import type { Column, Source, Table, TableRow } from '../database/table.ts'
import { RecordError } from '../errors.ts'
import { isAppending } from './collect-spec.ts'
import { type Entity, type ExtractContext, type ExtractSpec, valueAt } from './entity.ts'
import { finderOf } from './lookups.ts'
import { apart, replaceOwned } from './owned.ts'
import { runPass } from './pass.ts'
import { type Place, quarantinedIds } from './quarantine.ts'
import { rawTable } from './raw.ts'
import type { EntityTask } from './source-task.ts'
import { nextStamp, openWindow } from './state.ts'
import type { SubtaskResult } from './subtask.ts'

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
  const raw = rawTable(entity.spec.raw as string).name
  const stamp = nextStamp()
  const config = JSON.stringify((spec.dependsOn ?? []).map((field) => task.settings[field]))
  const window = await openWindow(database, place, { fullSync: task.fullSync, config, startedAt: stamp })
  const records = rawIds
    ? { count: rawIds.length, hasOlder: false }
    : await describeRaw(database, raw, params, window.since)
  // A collector that starts over leaves only new records; then nothing old may stay either.
  const since = entity.spec.collect && isAppending(entity.spec.collect) && records.hasOlder ? window.since : null
  if (!since && !rawIds) await window.forget()

  let query = database.kysely.selectFrom(raw).select(['id', 'data', 'input']).where('params', '=', params).orderBy('id')
  if (rawIds) query = query.where('id', 'in', rawIds)
  else if (since) query = query.where('created_at', '>=', since)
  const find = finderOf({ database, connectionId: context.connectionId, scope: context.scope }, spec.lookups ?? {})
  const owned = spec.owns ?? []
  const result = await runPass<RawRecord>(task, {
    place,
    stamp,
    items: query.stream(FETCH) as AsyncIterable<RawRecord>,
    expected: records.count,
    weigh: ({ data }) => data?.length ?? 0,
    allowed: new Set([entity.table, ...(spec.writes ?? []), ...owned.map(({ table }) => table)]),
    originOf: ({ id }) => ({ params, table: raw, id }),
    describe: ({ id }) => ({ raw_table: raw, raw_id: id, record_key: '', entity: entity.table.name, reason: '' }),
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
    // A pass over everything sweeps at its end; a partial one must look after the owned rows itself.
    ...(since || rawIds
      ? {
          wrote: (rows) =>
            replaceOwned(database, entity.table, rawIds ? apart(owned, entity.table) : owned, rows, stamp),
        }
      : { replaces: [raw] }),
    ...(rawIds && { redriven: rawIds }),
  })
  if (!rawIds) await window.succeeded()
  return result
}

export async function redriveExtract(entity: Entity, task: EntityTask, place: Place): Promise<SubtaskResult> {
  const ids = await quarantinedIds(task.database, place)
  return ids.length === 0 ? { records: 0, rows: 0, quarantined: 0 } : extract(entity, task, place, ids)
}

function tryParse(data: Buffer | null): unknown {
  try {
    return JSON.parse((data ?? '').toString())
  } catch (error) {
    return new RecordError(`not JSON: ${(error as Error).message}`)
  }
}

async function describeRaw({ kysely }: Database, raw: string, params: string, since: Date | null) {
  const { rows } = await sql<{ count: number; older: number | null }>`
    select count(*) as count, sum(case when created_at < ${since ?? new Date(0)} then 1 else 0 end) as older
    from ${sql.table(raw)} where params = ${params}`.execute(kysely)
  const { count = 0, older } = rows[0] ?? {}
  return { count: since && older ? count - older : count, hasOlder: since !== null && (older ?? 0) > 0 }
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
