/**
 * Rows exist as long as the raw record from which they were made. A full pass deletes the rows that it did not write again. A
 * pass over new records deletes the rows whose record is gone.
 */

import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { among, inPieces, onePiece } from '../../database/pieces.ts'
import type { Joins } from '../../database/read.ts'
import { readRows } from '../../database/read.ts'
import type { AnyTable, RawRecord } from '../../database/table.ts'
import { retrying } from '../../database/write.ts'
import { descendantsOf, extractedTables } from '../raw/descendants.ts'
import { inputsUpTo, ofInputs, removeRecordsWithin, renewCounterpartsOf } from '../raw/raw-mirror.ts'
import { isRawTable, letGo, rawTable } from '../raw/raw-table.ts'
import { groupOf, hasOwnInputs } from '../spec/collect.ts'
import type { Entity, EntityTask } from '../spec/entity.ts'
import type { PluginSpec, Referred, SourceTask } from '../spec/plugin.ts'
import { familyEntities } from '../task/family.ts'
import { replacedRaws } from '../task/siblings.ts'

interface Sweep {
  readonly tables: readonly AnyTable[]
  /** Only rows that were made from these raw tables. */
  readonly raws: readonly string[]
  readonly stamp: Date
  /** The pass read everything. */
  readonly isFull: boolean
  /** The pass could not read records whose payload was removed, so it leaves their rows. */
  readonly isOfRecords?: boolean
}

const madeOf = (params: string, raw: string) => sql`_raw_data_params = ${params} and _raw_data_table = ${raw}`
const isGone = (table: AnyTable, raw: string) => sql`not exists (
  select 1 from ${sql.table(raw)} as record where record.id = ${sql.ref(`${table.name}._raw_data_id`)})`

const hasPayload = (table: AnyTable, raw: string) => sql`not exists (
  select 1 from ${sql.table(raw)} where ${letGo()} and id = ${sql.ref(`${table.name}._raw_data_id`)})`

/** Returns the tables that lost rows. */
export async function sweepRows(
  database: Database,
  params: string,
  { tables, raws, stamp, isFull, isOfRecords = false }: Sweep,
): Promise<Set<AnyTable>> {
  const lost = new Set<AnyTable>()
  for (const table of tables) {
    for (const raw of raws) {
      const left = isFull ? isOfRecords && hasPayload(table, raw) : isGone(table, raw)
      const gone = left && isRawTable(raw) ? sql`and ${left}` : sql``
      const { numAffectedRows } = await sql`delete from ${sql.table(table.name)} where ${madeOf(params, raw)}
        and (updated_at is null or updated_at <> ${stamp}) ${gone}`.execute(database.kysely)
      if (numAffectedRows) lost.add(table)
    }
  }
  return lost
}

/** Deletes, after an extraction, stale tool rows, people to whom only those referred, and raw records of inputs that came from them. */
export async function sweepExtracted(
  task: EntityTask,
  entity: Entity,
  { stamp, isFull, earlier }: { stamp: Date; isFull: boolean; earlier: ReadonlySet<AnyTable> },
): Promise<void> {
  if (earlier.size === 0) return
  const { database, params } = task
  const raw = rawTable(entity.spec.raw as string)
  const plugin = 'plugin' in task ? (task as SourceTask).plugin : undefined
  const referred = plugin?.referred ?? []
  const isReferred = new Set(referred.map(({ table }) => table))
  const tables = extractedTables(entity).filter((table) => earlier.has(table) && !isReferred.has(table))
  // Rows from a delivery in the form of a related plugin are deleted together with their record.
  const raws = [raw.name, ...(plugin ? replacedRaws(plugin, tables) : [])]
  const sweep = { tables, raws, stamp, isFull, isOfRecords: true }
  await retrying(database, () =>
    database.transaction(async (inside) => {
      if (plugin && isFull) {
        const descendants = descendantsOf(plugin, entity, task.context.scope)
        const shared = tables.filter((table) => !descendants.scoped.has(table))
        // Another scope may have other rules, so it extracts again the rows that this scope no longer makes.
        const condition = sql`${madeOf(params, raw.name)} and (updated_at is null or updated_at <> ${stamp})`
        await renewCounterpartsOf({ database: inside, raw, params }, shared, condition)
      }
      const lost = await sweepRows(inside, params, sweep)
      if (!plugin) return
      const written = extractedTables(entity).filter((table) => isReferred.has(table))
      for (const each of referred) {
        const unwritten = sql`${madeOf(params, raw.name)} and updated_at <> ${stamp} and ${hasPayload(each.table, raw.name)}`
        const isOwn = isFull && written.includes(each.table) && earlier.has(each.table)
        if (lost.size === 0 && !isOwn && !written.includes(each.table)) continue
        if (await sweepReferred(inside, plugin, task.context.connectionId, each, isOwn ? unwritten : undefined))
          lost.add(each.table)
      }
      for (const child of plugin.entities) if (isFedBy(child, lost)) await dropInputs(task as SourceTask, inside, child)
    }),
  )
}

/** Deletes referred rows, such as people, whose last record is gone and to which nothing refers. */
export async function sweepReferred(
  { kysely }: Database,
  plugin: PluginSpec,
  connectionId: number,
  { table, by, isScoped = false }: Referred,
  unwritten?: RawBuilder<unknown>,
): Promise<boolean> {
  const name = (column: string) => sql.ref(`${table.name}.${column}`)
  const gone = rawsOf(plugin, table).map((raw) => sql`(_raw_data_table = ${raw} and ${isGone(table, raw)})`)
  const unreferred = by.map(({ table: other, columns }) => {
    const on = Object.entries(columns).map(([own, its]) => sql`${sql.ref(`other.${its}`)} = ${name(own)}`)
    if (isScoped) on.push(sql`other._raw_data_params = ${name('_raw_data_params')}`)
    if ('connection_id' in other.columns) on.push(sql`other.connection_id = ${connectionId}`)
    return sql`and not exists (select 1 from ${sql.table(other.name)} as other where ${sql.join(on, sql` and `)})`
  })
  const own = 'connection_id' in table.columns ? sql`${name('connection_id')} = ${connectionId}` : sql`1 = 1`
  const { numAffectedRows } = await sql`delete from ${sql.table(table.name)} where ${own}
    and (${sql.join([...gone, ...(unwritten ? [sql`(${unwritten})`] : [])], sql` or `)})
    ${sql.join(unreferred, sql` `)}`.execute(kysely)
  return Boolean(numAffectedRows)
}

/** The raw tables from which rows of such a table are made. */
const rawsOf = (plugin: PluginSpec, table: AnyTable): string[] => [
  ...new Set(
    familyEntities(plugin).flatMap((each) =>
      extractedTables(each).includes(table) && each.spec.raw ? rawTable(each.spec.raw).name : [],
    ),
  ),
]

/** When a scope is deleted: gives its referred rows, such as people, the origin of rows in other scopes that refer to them. */
export async function handOverReferred(
  { kysely }: Database,
  plugin: PluginSpec,
  params: string,
  { table, by, isScoped = false }: Referred,
): Promise<void> {
  const raws = rawsOf(plugin, table)
  if (isScoped || raws.length === 0) return
  for (const { table: other, columns } of by) {
    if (!('connection_id' in table.columns) || !('connection_id' in other.columns)) continue
    const on = Object.entries({ ...columns, connection_id: 'connection_id' }).map(
      ([own, its]) => sql`${sql.ref(`other.${its}`)} = ${sql.ref(`${table.name}.${own}`)}`,
    )
    const referring = sql`from ${sql.table(other.name)} as other
      where ${sql.join(on, sql` and `)} and ${among(sql.ref('other._raw_data_table'), onePiece(raws))}`
    const first = (column: string) =>
      sql`${sql.id(column)} = (select other.${sql.id(column)} ${referring} order by other._raw_data_id limit 1)`
    const origin = ['_raw_data_table', '_raw_data_id', '_raw_data_params'].map(first)
    await sql`update ${sql.table(table.name)} set ${sql.join(origin)}
      where _raw_data_params = ${params} and exists (select 1 ${referring})`.execute(kysely)
  }
}

/** Deletes domain rows of people and the like, if no tool row has the key from which their id was made. */
export async function sweepFollowers(
  database: Database,
  connectionId: number,
  { table, spec }: Pick<Entity, 'table' | 'spec'>,
): Promise<void> {
  const follower = spec.convert?.to[0] as AnyTable
  const { named, by } = spec.convert?.follows ?? { named: table, by: [] }
  const id = sql.ref(`${follower.name}.${follower.names[follower.keys[0] as number]}`)
  const prefix = `${named.idPrefix}:${connectionId}:`
  const keysOf = (kept: AnyTable, columns: readonly string[]) =>
    sql`and ${id} not in (select concat_ws(':', ${sql.lit(named.idPrefix)}, ${sql.join(
      columns.map((column) => sql.ref(`made.${column}`)),
    )}) from ${sql.table(kept.name)} as made where made.connection_id = ${connectionId})`
  const kept =
    by.length === 0
      ? [
          keysOf(
            table,
            table.keys.map((position) => table.names[position] as string),
          ),
        ]
      : by.map((each) => keysOf(each.table, ['connection_id', each.column]))
  await retrying(database, () =>
    sql`delete from ${sql.table(follower.name)} where substr(${id}, 1, ${sql.lit(prefix.length)}) = ${prefix}
      ${sql.join(kept, sql` `)}`.execute(database.kysely),
  )
}

const isFedBy = ({ spec }: Entity, tables: ReadonlySet<AnyTable>): boolean => {
  const { collect } = spec
  if (!collect?.forEach || !hasOwnInputs(collect)) return false
  const { table, joins = {} }: { table: AnyTable; joins?: Joins } = collect.forEach
  return [table, ...Object.values(joins).map((join) => join.table)].some((each) => tables.has(each))
}

/** Deletes raw records of inputs that no longer exist, such as comments of an issue that has left the board. */
async function dropInputs({ params, plugin, context }: SourceTask, inside: Database, child: Entity): Promise<void> {
  const { collect } = child.spec
  if (!collect?.forEach) return
  const { table, joins, where, only, input } = collect.forEach
  const asked = new Set<string>()
  const rows = readRows(inside, {
    table,
    ...(joins && { joins }),
    where: {
      connection_id: context.connectionId,
      ...(where?.(context.scope) ?? child.scopeWhere(table, context.scope)),
    },
  })
  for await (const row of rows as AsyncIterable<RawRecord>)
    if (only?.(row) ?? true) asked.add(groupOf(collect, input(row)))
  const records = { database: inside, raw: rawTable(child.spec.raw as string), params }
  const gone = (await inputsUpTo(records, Number.MAX_SAFE_INTEGER)).filter((key) => key !== '' && !asked.has(key))
  const descendants = descendantsOf(plugin, child, context.scope)
  for (const some of inPieces(gone)) await removeRecordsWithin(records, descendants, ofInputs(some))
}
