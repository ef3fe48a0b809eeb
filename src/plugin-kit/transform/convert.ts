/** Tool rows → domain rows, with the origin of the row they were made from. */

import { sql } from 'kysely'
import { type Joins, readInChunks } from '../../database/read.ts'
import type { AnyRow, AnyTable } from '../../database/table.ts'
import { retrying } from '../../database/write.ts'
import { convertedTables, extractedTables, isScoped } from '../raw/descendants.ts'
import type { RejectedRecord } from '../raw/quarantine.ts'
import { quarantinedIds } from '../raw/quarantine.ts'
import { rawTable } from '../raw/raw-table.ts'
import type { AnyConvertSpec, Entity, EntityTask } from '../spec/entity.ts'
import { finderOf } from '../spec/lookups.ts'
import type { PluginSpec, SourceTask } from '../spec/plugin.ts'
import type { SubtaskKey, SubtaskResult } from '../spec/subtask.ts'
import { familyEntities } from '../task/family.ts'
import { replaceOwned, withoutOwner } from './owned.ts'
import { sweepFollowers, sweepRows } from './sweep.ts'
import { runTransform } from './transform.ts'
import { dependenciesOf, openWindow } from './window.ts'

export async function convert(
  entity: Entity,
  task: EntityTask,
  subtaskKey: SubtaskKey,
  rawIds?: readonly number[],
): Promise<SubtaskResult> {
  const { database, context } = task
  const spec = entity.spec.convert as AnyConvertSpec
  const owner = spec.to[0] as AnyTable
  const owned = spec.owns ?? []
  const swept = { tables: convertedTables(entity), raws: rawTablesOf(entity, pluginOf(task)) }
  const isReferred = isReferredIn(pluginOf(task), entity.table)
  const window = await openWindow(database, subtaskKey, {
    fullSync: task.fullSync,
    config: await dependenciesOf(spec, task),
    ...(!rawIds && !isReferred && { made: swept }),
  })
  const { stamp, earlier, hasRejected } = window
  const scopeRow = scopeRowOf(entity)
  const madeFrom = (row: AnyRow): AnyRow => (spec.originFrom && row[spec.originFrom]) || row
  const since = spec.isIncremental ? window.since : null
  if (!since && !rawIds) await window.forget()
  const condition = since && !rawIds ? sql`t.updated_at >= ${since}` : undefined
  const where = spec.where ? spec.where(context.scope, context) : entity.scopeWhere(entity.table, context.scope)
  const items = readInChunks(database, {
    table: entity.table,
    joins: spec.joins,
    where: { connection_id: context.connectionId, ...where, ...(rawIds && { _raw_data_id: rawIds }) },
    ...(condition && { condition }),
  })
  const find = finderOf({ database, connectionId: context.connectionId, scope: context.scope }, spec.lookups ?? {})
  const result = await runTransform<AnyRow>(task, {
    subtaskKey,
    stamp,
    items,
    allowed: new Set(spec.to),
    originOf: (row, table) => originOf(isScoped(table, entity) ? scopeRow(row) : madeFrom(row)),
    describe: (row) => rejectionOf(entity.table, row),
    prepare: async (batch) => {
      const full = { ...context, lookups: await find(batch) }
      return (row) => spec.rows(row, full)
    },
    ...((since || rawIds) && {
      wrote: (rows) => replaceOwned(database, owner, rawIds ? withoutOwner(owned, owner) : owned, rows, stamp),
    }),
    ...(!rawIds && {
      sweep: async () => {
        if (isReferred) await sweepFollowers(database, context.connectionId, entity)
        else
          await retrying(database, () =>
            sweepRows(database, task.params, { ...swept, tables: [...earlier], stamp, isFull: !since }),
          )
      },
    }),
    released: hasRejected ? (rawIds ?? (since ? 'new' : 'all')) : 'none',
  })
  if (!rawIds) await window.succeeded()
  return result
}

const pluginOf = (task: EntityTask) => ('plugin' in task ? (task as SourceTask).plugin : undefined)
const isReferredIn = (plugin: PluginSpec | undefined, table: AnyTable) =>
  plugin?.referred?.some((each) => each.table === table) ?? false

const rejectionOf = (table: AnyTable, row: AnyRow): RejectedRecord => ({
  raw_table: row._raw_data_table,
  raw_id: row._raw_data_id,
  record_key: table.keys
    .map((position) => row[table.names[position] as string])
    .join(':')
    .slice(0, 255),
  entity: table.name,
  reason: '',
})

export const originOf = (row: AnyRow) => ({
  params: row._raw_data_params,
  table: row._raw_data_table,
  id: row._raw_data_id,
  remark: row._raw_data_remark,
})

/** For a row that several scopes share: finds the joined row that connects it to this scope, such as an issue's place on the board. */
export function scopeRowOf(entity: Entity): (row: AnyRow) => AnyRow {
  const joins: Joins = entity.spec.convert?.joins ?? {}
  const isTie = ([, join]: [string, Joins[string]]) => !join.isOptional && isScoped(join.table, entity)
  const [alias] = isScoped(entity.table, entity) ? [] : (Object.entries(joins).find(isTie) ?? [])
  return (row) => (alias ? row[alias] : row)
}

function rawTablesOf({ table, spec }: Entity, plugin: PluginSpec | undefined): string[] {
  const extracting = plugin ? familyEntities(plugin).filter((each) => extractedTables(each).includes(table)) : []
  const others = new Set(extracting.flatMap((each) => each.spec.raw ?? []))
  return (spec.convert?.replaces ?? (spec.raw ? [spec.raw] : [...others])).map((name) => rawTable(name).name)
}

export async function redriveConvert(entity: Entity, task: EntityTask, subtaskKey: SubtaskKey): Promise<SubtaskResult> {
  const ids = await quarantinedIds(task.database, subtaskKey)
  return ids.length === 0 ? { records: 0, rows: 0, quarantined: 0 } : convert(entity, task, subtaskKey, ids)
}
