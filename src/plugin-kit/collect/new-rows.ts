/** Which rows of another table have changed since the last run, so that what hangs on them is asked for again. */
import { type RawBuilder, sql } from 'kysely'
import { byName } from '../../by-name.ts'
import type { Database } from '../../database/database.ts'
import { conditions } from '../../database/read.ts'
import type { AnyTable } from '../../database/table.ts'
import { isRawTable, rawName } from '../raw/raw-table.ts'
import { type Again, type AnyCollectSpec, type AnyForEach, isAppending } from '../spec/collect.ts'
import type { SourceTask } from '../spec/plugin.ts'
import type { CollectRun, LastRun, Marks } from './run.ts'

/** From when a list was read until something is asked for each of its records. */
const LONGEST_RUN = 24 * 3_600_000

/**
 * Rows that the vendor changed since, or whose record arrived since: a change may have come after this collector began, yet
 * before the list that told of it was read again. And those that are to be asked for again in any case.
 */
export async function newIn(
  { table, joins = {}, changedBy, again }: AnyForEach & { readonly changedBy: string },
  { database, params, plugin }: SourceTask,
  { since, last, openedAt }: CollectRun & { readonly since: Date; readonly last: LastRun },
) {
  const from = new Date(since.getTime() - (again?.within ?? 0))
  const changed = sql`${sql.ref(`t.${changedBy}`)} >= ${from}`
  // Of a list that is read whole in every run all records arrive each time: there only rows are new that were not there.
  const isRepeated = new Set(
    plugin.entities.flatMap(({ spec }) =>
      spec.collect && !isAppending(spec.collect) ? rawName(spec.raw as string) : [],
    ),
  )
  const isNew = ['t', ...Object.keys(joins)].map((alias) => sql`${sql.ref(`${alias}.created_at`)} >= ${last.startedAt}`)
  const recently = sql`${sql.ref(`t.${changedBy}`)} >= ${new Date(from.getTime() - LONGEST_RUN)}`
  // Where our clock was set back it does not tell what is new: then all are asked for.
  const isClockBack = !last.startedAt || openedAt < last.startedAt
  const repeated = isClockBack ? sql`1 = 1` : sql.join([...isNew, recently], sql` or `)
  const arrived = (await originsOf(database, table, params)).map((name) =>
    isRepeated.has(name)
      ? sql`or (t._raw_data_table = ${name} and (${repeated}))`
      : sql`or (t._raw_data_table = ${name} and t._raw_data_id > ${last.marks[name] ?? 0})`,
  )
  return sql`(${changed} ${sql.join([...arrived, againIn(again)], sql` `)})`
}

/** The raw tables that the rows of a scope come from. */
async function originsOf({ kysely }: Database, table: AnyTable, params: string): Promise<string[]> {
  if (table.origin < 0) return []
  const { rows } = await sql<{ name: string }>`select distinct _raw_data_table as name from ${sql.table(table.name)}
    where _raw_data_params = ${params}`.execute(kysely)
  return rows.map(({ name }) => name).filter(isRawTable)
}

/** How far the records go by now that a collector iterates over: ids grow, whatever happens to clocks. */
export async function marksOf({ forEach }: AnyCollectSpec, { database, params }: SourceTask): Promise<Marks> {
  const marks: Record<string, number> = byName()
  for (const name of forEach ? await originsOf(database, forEach.table, params) : []) {
    const { rows } = await sql<{ last: number | null }>`select max(id) as last from ${sql.table(name)}
      where params = ${params}`.execute(database.kysely)
    marks[name] = Number(rows[0]?.last ?? 0)
  }
  return marks
}

function againIn({ where, having }: Again = {}): RawBuilder<unknown> {
  const own = where ? sql`or (${sql.join(conditions('t', where), sql` and `)})` : sql``
  if (!having) return own
  const by = Object.entries(having.by).map(([name, of]) => sql`${sql.ref(`h.${name}`)} = ${sql.ref(`t.${of}`)}`)
  return sql`${own} or exists (select 1 from ${sql.table(having.table.name)} as h
    where ${sql.join([...by, ...conditions('h', having.where)], sql` and `)})`
}
