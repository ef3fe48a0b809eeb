/**
 * The lists of a collector: one, or one for each row of a tool table; and records that were not final. Later runs ask only about
 * rows that have changed.
 */
import { type RawBuilder, sql } from 'kysely'
import { byName } from '../../../basics/by-name.ts'
import type { Database } from '../../../database/database.ts'
import { conditions } from '../../../database/read.ts'
import type { AnyTable } from '../../../database/table.ts'
import { isRawTable, rawName } from '../../raw/raw-table.ts'
import { type Again, type AnyCollectSpec, type AnyForEach, groupOf, isAppending } from '../../spec/collect.ts'
import type { SourceTask } from '../../spec/plugin.ts'
import { inputRows } from '../../task/input-rows.ts'
import { batchesOf, type Collection, type List, listOfMany } from '../collection.ts'
import { inputReach, isSameReach } from '../run/reaches.ts'
import { type CollectRun, inputKey } from '../run/run.ts'
import type { Marks } from '../run/run-window.ts'
import { openBorrowing } from './borrow.ts'
import { unfinishedLists } from './refetch.ts'

export async function* listsOf(collection: Collection): AsyncGenerator<List> {
  const { spec, way, run } = collection
  if (way.lists) yield* way.lists(collection)
  else if (spec.forEach) yield* rowsOf(collection)
  else yield { kind: 'list', key: '', input: null, stored: null }
  if (!run.isFull) yield* unfinishedLists(collection)
}

async function* rowsOf(collection: Collection): AsyncGenerator<List> {
  const { entity, spec, way, task, base, run, inputs: groups, reaches } = collection
  const forEach = spec.forEach!
  const { only, input, atOnce, tellsChange } = forEach
  // Kept as text and without the rest of their rows: hundreds of thousands of inputs may wait here for their turn.
  const inputs = new Set<string>()
  for await (const row of inputRows(task.database, task, entity, forEach, await newIn(forEach, task, run))) {
    const group = groupOf(spec, input(row))
    const known = reaches.get(group)
    if (only && !only(row)) groups.unwanted.add(group)
    else if (way.isUpToDate?.(row, known, run)) groups.asked.add(group)
    else if (tellsChange && isSameReach(inputReach(input(row)), known)) groups.asked.add(group)
    else inputs.add(JSON.stringify(input(row)))
  }
  const missing = run.isFull ? [] : await missingInputs(collection)
  const size = atOnce?.(base.server)
  if (size === undefined) for (const each of missing.flat()) inputs.add(JSON.stringify(each))
  if (size === undefined) {
    const borrow = await openBorrowing(collection)
    for (const text of inputs) {
      const each = JSON.parse(text)
      const group = groupOf(spec, each)
      groups.asked.add(group)
      if (await borrow(each, group)) continue
      const reach = tellsChange && { reach: inputReach(each) }
      yield { kind: 'list', key: inputKey(each), input: each, stored: each, group, ...reach }
    }
    return
  }
  const all = [...inputs].map((text): unknown => JSON.parse(text))
  for (const some of [...batchesOf(all, size), ...missing]) {
    yield listOfMany<unknown>(some, (items) => ({ kind: 'list', key: inputKey(items), input: items, stored: null }))
  }
}

/** Inputs of lists that earlier runs asked for without success, if their rows still exist; one array for each list. */
async function missingInputs(collection: Collection): Promise<unknown[][]> {
  const { entity, spec, task, tally } = collection
  const { only, input } = spec.forEach!
  const lists = collection.missing.filter((gap) => gap.input !== null)
  if (lists.length === 0) return []
  const wanted = new Set(lists.flatMap((gap) => [gap.input].flat().map(orderedText)))
  const found = new Map<string, unknown>()
  for await (const row of inputRows(task.database, task, entity, spec.forEach!)) {
    const asked = input(row)
    const text = orderedText(asked)
    if (wanted.has(text) && (only?.(row) ?? true)) found.set(text, asked)
  }
  return lists.flatMap((gap) => {
    const there = [gap.input].flat().flatMap((each) => found.get(orderedText(each)) ?? [])
    // The rows that the list was about are gone, so nothing is missing any more.
    if (there.length === 0) tally.answered.add(gap.list)
    return there.length === 0 ? [] : [there]
  })
}

/** Gives the same text for the same input. A database may return the fields of stored JSON in another order. */
const orderedText = (input: unknown): string =>
  JSON.stringify(input, (_name, value) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  )

/** The longest time between reading a list and asking for something about each of its records. */
const LONGEST_RUN = 24 * 3_600_000

/**
 * Condition for rows that the vendor has changed since the last run, or whose record has arrived since. The second is needed
 * because a change may come after this collector began and before the list that tells of it is read again. Rows that must be
 * asked for again in any case are added.
 */
async function newIn(
  { table, joins = {}, changedBy, again }: AnyForEach,
  { database, params, plugin }: SourceTask,
  { since, last, openedAt }: CollectRun,
) {
  if (!changedBy || !since || !last) return undefined
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
