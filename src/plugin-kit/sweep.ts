/**
 * Rows live as long as the raw record that they were made of. After a pass over everything, what it did not write again
 * goes; after one over new records, what was made of records that are gone.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { inPieces } from '../database/pieces.ts'
import { readRows } from '../database/read.ts'
import type { Table } from '../database/table.ts'
import { retrying } from '../database/write.ts'
import { groupOf, hasOwnInputs } from './collect-spec.ts'
import { descendantsOf, extractedTables } from './descendants.ts'
import type { Entity } from './entity.ts'
import type { PluginSpec, Referred } from './plugin.ts'
import { isRawTable, rawTable } from './raw.ts'
import { inputsUpTo, ofInputs, removeRecordsWithin, renewTwinsOf } from './raw-mirror.ts'
import { familyEntities, replacedRaws } from './siblings.ts'
import type { EntityTask, SourceTask } from './source-task.ts'

export interface Sweep {
  readonly tables: readonly Table<any>[]
  /** Of rows that were made from these raw tables. */
  readonly raws: readonly string[]
  readonly stamp: Date
  /** The pass was about everything. */
  readonly isFull: boolean
}

const madeOf = (params: string, raw: string) => sql`_raw_data_params = ${params} and _raw_data_table = ${raw}`
const isGone = (table: Table<any>, raw: string) => sql`not exists (
  select 1 from ${sql.table(raw)} as record where record.id = ${sql.ref(`${table.name}._raw_data_id`)})`

/** Which tables hold rows from before; a first load has nothing to sweep. */
export async function earlierRows({ database, params }: EntityTask, { tables, raws }: Pick<Sweep, 'tables' | 'raws'>) {
  const found = new Set<Table<any>>()
  for (const table of tables) {
    for (const raw of table.origin < 0 ? [] : raws) {
      const { rows } = await sql`select 1 from ${sql.table(table.name)} where ${madeOf(params, raw)} limit 1`.execute(
        database.kysely,
      )
      if (rows.length > 0) found.add(table)
    }
  }
  return found
}

/** Gives the tables that lost rows. */
export async function sweepRows(
  database: Database,
  params: string,
  { tables, raws, stamp, isFull }: Sweep,
): Promise<Set<Table<any>>> {
  const lost = new Set<Table<any>>()
  for (const table of tables) {
    for (const raw of raws) {
      const gone = isFull || !isRawTable(raw) ? sql`` : sql`and ${isGone(table, raw)}`
      const { numAffectedRows } = await sql`delete from ${sql.table(table.name)} where ${madeOf(params, raw)}
        and (updated_at is null or updated_at <> ${stamp}) ${gone}`.execute(database.kysely)
      if (numAffectedRows) lost.add(table)
    }
  }
  return lost
}

/** After an extraction: tool rows, the people whom only they named, and the records of what hung on them. */
export async function sweepExtracted(
  task: EntityTask,
  entity: Entity,
  { stamp, isFull, earlier }: { stamp: Date; isFull: boolean; earlier: ReadonlySet<Table<any>> },
): Promise<void> {
  if (earlier.size === 0) return
  const { database, params } = task
  const raw = rawTable(entity.spec.raw as string)
  const plugin = 'plugin' in task ? (task as SourceTask).plugin : undefined
  const referred = plugin?.referred ?? []
  const isReferred = new Set(referred.map(({ table }) => table))
  const tables = extractedTables(entity).filter((table) => earlier.has(table) && !isReferred.has(table))
  const raws = [raw.name, ...(isFull && plugin ? replacedRaws(plugin, tables) : [])]
  const sweep = { tables, raws, stamp, isFull }
  await retrying(database, () =>
    database.transaction(async (inside) => {
      if (plugin && isFull) {
        const descendants = descendantsOf(plugin, entity, task.context.scope)
        const shared = tables.filter((table) => !descendants.scoped.has(table))
        // Another scope may have other rules: it looks at what this one no longer makes.
        const condition = sql`${madeOf(params, raw.name)} and (updated_at is null or updated_at <> ${stamp})`
        await renewTwinsOf({ database: inside, raw, params }, shared, condition)
      }
      const lost = await sweepRows(inside, params, sweep)
      if (!plugin) return
      const written = extractedTables(entity).filter((table) => isReferred.has(table))
      const unwritten = sql`${madeOf(params, raw.name)} and updated_at <> ${stamp}`
      for (const each of referred) {
        const isOwn = isFull && written.includes(each.table) && earlier.has(each.table)
        if (lost.size === 0 && !isOwn && !written.includes(each.table)) continue
        if (await sweepReferred(inside, plugin, task.context.connectionId, each, isOwn ? unwritten : undefined))
          lost.add(each.table)
      }
      for (const child of plugin.entities) if (isFedBy(child, lost)) await dropInputs(task as SourceTask, inside, child)
    }),
  )
}

/** Deletes rows of people and the like whose last record is gone, and to which nothing refers. */
export async function sweepReferred(
  { kysely }: Database,
  plugin: PluginSpec,
  connectionId: number,
  { table, by, isScoped = false }: Referred,
  unwritten?: RawBuilder<unknown>,
): Promise<boolean> {
  const name = (column: string) => sql.ref(`${table.name}.${column}`)
  const raws = new Set(
    familyEntities(plugin).flatMap((each) => (extractedTables(each).includes(table) ? (each.spec.raw ?? []) : [])),
  )
  const gone = [...raws].map((raw) => {
    const { name: rawName } = rawTable(raw)
    return sql`(_raw_data_table = ${rawName} and ${isGone(table, rawName)})`
  })
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

/** Domain rows that stand for people and the like follow the tool rows that they are named after. */
export async function sweepFollowers(
  database: Database,
  connectionId: number,
  table: Table<any>,
  follower: Table<any>,
): Promise<void> {
  const keys = table.keys.map((position) => sql.ref(`made.${table.names[position]}`))
  const id = sql.ref(`${follower.name}.${follower.names[follower.keys[0] as number]}`)
  const prefix = `${table.idPrefix}:${connectionId}:`
  await retrying(database, () =>
    sql`delete from ${sql.table(follower.name)} where substr(${id}, 1, ${sql.lit(prefix.length)}) = ${prefix}
      and ${id} not in (select concat_ws(':', ${sql.lit(table.idPrefix)}, ${sql.join(keys)}) from ${sql.table(table.name)} as made
        where made.connection_id = ${connectionId})`.execute(database.kysely),
  )
}

const isFedBy = ({ spec }: Entity, tables: ReadonlySet<Table<any>>): boolean => {
  const { collect } = spec
  if (!collect?.forEach || !hasOwnInputs(collect)) return false
  const { table, joins = {} } = collect.forEach
  return [table, ...Object.values(joins).map((join) => join.table)].some((each) => tables.has(each))
}

/** Raw records of inputs that are no more: comments of an issue that has left the board. */
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
  for await (const row of rows) if (only?.(row) ?? true) asked.add(groupOf(collect, input(row)))
  const place = { database: inside, raw: rawTable(child.spec.raw as string), params }
  const gone = (await inputsUpTo(place, Number.MAX_SAFE_INTEGER)).filter((key) => key !== '' && !asked.has(key))
  const descendants = descendantsOf(plugin, child, context.scope)
  for (const some of inPieces(gone)) await removeRecordsWithin(place, descendants, ofInputs(some))
}
