/** Finds the rows of another table that have changed since the last run, so that the lists about them are asked for again. */
import { type RawBuilder, sql } from 'kysely'
import { byName } from '../../basics/by-name.ts'
import type { Database } from '../../database/database.ts'
import { conditions } from '../../database/read.ts'
import type { AnyTable } from '../../database/table.ts'
import { isRawTable, rawName } from '../raw/raw-table.ts'
import { type Again, type AnyCollectSpec, type AnyForEach, isAppending } from '../spec/collect.ts'
import type { SourceTask } from '../spec/plugin.ts'
import type { CollectRun } from './run.ts'
import type { LastRun, Marks } from './run-window.ts'

/** The longest time between reading a list and asking for something about each of its records. */
const LONGEST_RUN = 24 * 3_600_000

/**
 * Condition for rows that the vendor has changed since the last run, or whose record has arrived since. The second is needed
 * because a change may come after this collector began and before the list that tells of it is read again. Rows that must be
 * asked for again in any case are added.
 */
export async function newIn(
  { table, joins = {}, changedBy, again }: AnyForEach & { readonly changedBy: string },
  { database, params, plugin }: SourceTask,
  { since, last, openedAt }: CollectRun & { readonly since: Date; readonly last: LastRun },
) {
  const from = new Date(since.getTime() - (again?.within ?? 0))
  const changed = sql`${sql.ref(`t.${changedBy}`)} >= ${from}`
  // If a list is read completely in every run, all its records arrive each time. Then only rows that did not exist before are new.
  const isRepeated = new Set(
    plugin.entities.flatMap(({ spec }) =>
      spec.collect && !isAppending(spec.collect) ? rawName(spec.raw as string) : [],
    ),
  )
  const isNew = ['t', ...Object.keys(joins)].map((alias) => sql`${sql.ref(`${alias}.created_at`)} >= ${last.startedAt}`)
  const recently = sql`${sql.ref(`t.${changedBy}`)} >= ${new Date(from.getTime() - LONGEST_RUN)}`
  // If our clock was set back, it cannot tell which rows are new. Then all are asked for.
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

/** The highest raw ids of the records that a collector iterates over. Ids grow, whatever happens to clocks. */
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
