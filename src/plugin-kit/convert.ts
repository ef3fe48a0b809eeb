/** Tool rows → domain rows, with the origin of the row they were made from. */
import { sql } from 'kysely'
import { type Joins, readRows } from '../database/read.ts'
import type { Table } from '../database/table.ts'
import { retrying } from '../database/write.ts'
import { convertedTables, isScoped } from './descendants.ts'
import type { ConvertSpec, Entity } from './entity.ts'
import { finderOf } from './lookups.ts'
import { apart, replaceOwned } from './owned.ts'
import { runPass } from './pass.ts'
import type { PluginSpec } from './plugin.ts'
import { type Place, quarantinedIds } from './quarantine.ts'
import { rawTable } from './raw.ts'
import type { EntityTask, SourceTask } from './source-task.ts'
import { dependenciesOf, openWindow } from './state.ts'
import type { SubtaskResult } from './subtask.ts'
import { earlierRows, sweepFollowers, sweepRows } from './sweep.ts'

export async function convert(
  entity: Entity,
  task: EntityTask,
  place: Place,
  rawIds?: readonly number[],
): Promise<SubtaskResult> {
  const { database, context } = task
  const spec = entity.spec.convert as ConvertSpec<any, any, any, any, any>
  const owner = spec.to[0] as Table<any>
  const owned = spec.owns ?? []
  const window = await openWindow(database, place, {
    fullSync: task.fullSync,
    config: await dependenciesOf(spec, task),
  })
  const { stamp } = window
  const swept = { tables: convertedTables(entity), raws: rawTablesOf(entity) }
  const earlier = rawIds ? new Set<Table<any>>() : await earlierRows(task, swept)
  const isReferred = 'plugin' in task && isReferredIn((task as SourceTask).plugin, entity.table)
  const tables = isReferred ? [] : [...earlier]
  const scopeRow = scopeRowOf(entity, context.scope)
  const since = spec.isIncremental ? window.since : null
  if (!since && !rawIds) await window.forget()
  const condition = since && !rawIds ? sql`t.updated_at >= ${since}` : undefined
  const where = spec.where ? spec.where(context.scope, context) : entity.scopeWhere(entity.table, context.scope)
  const items = readRows(database, {
    table: entity.table,
    joins: spec.joins,
    where: { connection_id: context.connectionId, ...where, ...(rawIds && { _raw_data_id: rawIds }) },
    ...(condition && { condition }),
  })
  const find = finderOf({ database, connectionId: context.connectionId, scope: context.scope }, spec.lookups ?? {})
  const result = await runPass<any>(task, {
    place,
    stamp,
    items,
    allowed: new Set(spec.to),
    originOf: (row, table) => originOf(isScoped(table, entity, context.scope) ? scopeRow(row) : row),
    describe: (row) => ({
      raw_table: row._raw_data_table,
      raw_id: row._raw_data_id,
      record_key: entity.table.keys
        .map((position) => row[entity.table.names[position] as string])
        .join(':')
        .slice(0, 255),
      entity: entity.table.name,
      reason: '',
    }),
    prepare: async (batch) => {
      const full = { ...context, lookups: await find(batch) }
      return (row) => spec.rows(row, full)
    },
    ...((since || rawIds) && {
      wrote: (rows) => replaceOwned(database, owner, rawIds ? apart(owned, owner) : owned, rows, stamp),
    }),
    ...(!rawIds && {
      sweep: async () => {
        if (isReferred) await sweepFollowers(database, context.connectionId, entity.table, owner)
        else
          await retrying(database, () => sweepRows(database, task.params, { ...swept, tables, stamp, isFull: !since }))
      },
    }),
    released: rawIds ?? (since ? 'new' : 'all'),
  })
  if (!rawIds) await window.succeeded()
  return result
}

const isReferredIn = ({ referred = [] }: PluginSpec, table: Table<any>) => referred.some((each) => each.table === table)

const originOf = (row: any) => ({
  params: row._raw_data_params,
  table: row._raw_data_table,
  id: row._raw_data_id,
  remark: row._raw_data_remark,
})

/** Of a row that several scopes share, the row that ties it to this one: an issue and its place on the board. */
function scopeRowOf(entity: Entity, scope: unknown): (row: any) => any {
  const joins: Joins = entity.spec.convert?.joins ?? {}
  const isTie = ([, join]: [string, Joins[string]]) => !join.isOptional && isScoped(join.table, entity, scope)
  const [alias] = isScoped(entity.table, entity, scope) ? [] : (Object.entries(joins).find(isTie) ?? [])
  return (row) => (alias ? row[alias] : row)
}

const rawTablesOf = ({ spec }: Entity): string[] =>
  (spec.convert?.replaces ?? (spec.raw ? [spec.raw] : [])).map((name) => rawTable(name).name)

export async function redriveConvert(entity: Entity, task: EntityTask, place: Place): Promise<SubtaskResult> {
  const ids = await quarantinedIds(task.database, place)
  return ids.length === 0 ? { records: 0, rows: 0, quarantined: 0 } : convert(entity, task, place, ids)
}
