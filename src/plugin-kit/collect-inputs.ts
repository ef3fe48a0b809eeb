/** What a collector iterates over: one input or none, rows of a tool table, date windows, and rows that were not final. */
import { type RawBuilder, sql } from 'kysely'
import { byName } from '../by-name.ts'
import type { Database } from '../database/database.ts'
import { conditions, readAll, readRows } from '../database/read.ts'
import type { Table } from '../database/table.ts'
import { UserError } from '../errors.ts'
import { openBorrowing } from './borrow.ts'
import { type Collecting, cappedGap } from './collect-series.ts'
import {
  type Again,
  type CollectSpec,
  type ForEach,
  groupOf,
  isAppending,
  lookBackOf,
  pagingOf,
  type Refetch,
  reachOf,
  type Windows,
} from './collect-spec.ts'
import { type CollectRun, inputKey, type LastRun, type Marks, OVERLAP, rememberInputs } from './collect-state.ts'
import {
  type DateWindow,
  type HttpRequest,
  type HttpResponse,
  type Paging,
  safeUrl,
  singlePage,
  splitByDate,
  upTo,
} from './http/index.ts'
import { isRawTable } from './raw.ts'
import type { SourceTask } from './source-task.ts'

/** One series of pages. */
export interface Round {
  /** A list, a part of one by time, or one record asked for again. */
  readonly kind: 'list' | 'window' | 'refetch'
  /** Names its checkpoint. */
  readonly key: string
  /** What the request is made from. */
  readonly input: any
  /** What is stored with the records. */
  readonly stored: any
  /** Names the raw records that it replaces as a whole; absent: they are replaced one by one. */
  readonly group?: string
  /** Instead of what the collector's spec says. */
  readonly request?: HttpRequest
  readonly paging?: Paging
  readonly records?: (body: any) => readonly unknown[]
  /** Its only page, where counting already brought it. */
  readonly answer?: HttpResponse
  /** The same in two, where it asks for many things by name and the server finds them too many. */
  readonly halves?: () => readonly Round[]
  /** Where a part by time begins. */
  readonly since?: Date
  /** The raw record that is asked for again: where the source has it no more, it goes. */
  readonly record?: number
  /** The source counts more than it hands out, and that is known already. */
  readonly isCapped?: boolean
}

export async function* inputsOf(collecting: Collecting): AsyncGenerator<Round> {
  const { spec, run } = collecting
  if (spec.windows) yield* windowsOf(collecting, spec.windows)
  else if (spec.forEach) yield* rowsOf(collecting)
  else yield { kind: 'list', key: '', input: null, stored: null }
  if (!run.isFull) yield* unfinished(collecting)
}

async function* rowsOf(collecting: Collecting): AsyncGenerator<Round> {
  const { entity, spec, task, base, run, tally } = collecting
  const forEach = spec.forEach!
  const { table, joins, where, only, input, atOnce, changedBy } = forEach
  const { scope, connectionId } = task.context
  // As text, without the rest of their rows: there may be hundreds of thousands, and they wait until their turn.
  const inputs = new Set<string>()
  const rows = readRows(task.database, {
    table,
    ...(joins && { joins }),
    where: { connection_id: connectionId, ...(where?.(scope) ?? entity.scopeWhere(table, scope)) },
    ...(changedBy && addsToLast(run) && { condition: await newIn({ ...forEach, changedBy }, task, run) }),
  })
  for await (const row of rows as AsyncIterable<any>) {
    if (only?.(row) ?? true) inputs.add(JSON.stringify(input(row)))
    else tally.unwanted.add(groupOf(spec, input(row)))
  }
  const missing = run.isFull ? [] : await missingInputs(collecting)
  const size = atOnce?.(base.server)
  if (size === undefined) for (const each of missing.flat()) inputs.add(JSON.stringify(each))
  if (size === undefined) {
    const borrow = await openBorrowing(collecting)
    for (const text of inputs) {
      const each = JSON.parse(text)
      const group = groupOf(spec, each)
      tally.asked.add(group)
      if (await borrow(each, group)) continue
      yield { kind: 'list', key: inputKey(each), input: each, stored: each, group }
    }
    return
  }
  const all = [...inputs].map((text) => JSON.parse(text))
  const batches = Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  )
  for (const some of [...batches, ...missing]) {
    yield batch<unknown>(some, (items) => ({ kind: 'list', key: inputKey(items), input: items, stored: null }))
  }
}

const addsToLast = (run: CollectRun): run is CollectRun & { readonly since: Date; readonly last: LastRun } =>
  run.since !== null && run.last !== null

/** What earlier runs asked for in vain and is still there, by the lists that were lost. */
async function missingInputs(collecting: Collecting): Promise<unknown[][]> {
  const { entity, spec, task, tally } = collecting
  const { table, joins, where, only, input } = spec.forEach!
  const { scope, connectionId } = task.context
  const lists = collecting.missing.filter((gap) => gap.input !== null)
  if (lists.length === 0) return []
  const wanted = new Set(lists.flatMap((gap) => [gap.input].flat().map((each) => JSON.stringify(each))))
  const found = new Set<string>()
  const rows = readRows(task.database, {
    ...{ table, ...(joins && { joins }) },
    where: { connection_id: connectionId, ...(where?.(scope) ?? entity.scopeWhere(table, scope)) },
  })
  for await (const row of rows as AsyncIterable<any>) {
    const text = JSON.stringify(input(row))
    if (wanted.has(text) && (only?.(row) ?? true)) found.add(text)
  }
  const isThere = (each: unknown) => found.has(JSON.stringify(each))
  return lists.flatMap((gap) => {
    const there = [gap.input].flat().filter(isThere)
    // What nothing asks about any more is missing no longer.
    if (there.length === 0) tally.answered.add(gap.list)
    return there.length === 0 ? [] : [there]
  })
}

function batch<Item>(items: readonly Item[], roundOf: (items: readonly Item[]) => Round): Round {
  const middle = Math.ceil(items.length / 2)
  const halves = () => [batch(items.slice(0, middle), roundOf), batch(items.slice(middle), roundOf)]
  return { ...roundOf(items), ...(items.length > 1 && { halves }) }
}

/** From when a list was read until something is asked for each of its records. */
const LONGEST_RUN = 24 * 3_600_000

/**
 * Rows that the vendor changed since, or whose record arrived since: a change may have come after this collector began, yet
 * before the list that told of it was read again. And those that are to be asked for again in any case.
 */
async function newIn(
  { table, joins = {}, changedBy, again }: ForEach<any> & { readonly changedBy: string },
  { database, params, plugin }: SourceTask,
  { since, last, openedAt }: CollectRun & { readonly since: Date; readonly last: LastRun },
) {
  const from = new Date(since.getTime() - (again?.within ?? 0))
  const changed = sql`${sql.ref(`t.${changedBy}`)} >= ${from}`
  // Of a list that is read whole in every run all records arrive each time: there only rows are new that were not there.
  const isRepeated = new Set(
    plugin.entities.flatMap(({ spec }) => (spec.collect && !isAppending(spec.collect) ? `_raw_${spec.raw}` : [])),
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
async function originsOf({ kysely }: Database, table: Table<any>, params: string): Promise<string[]> {
  if (table.origin < 0) return []
  const { rows } = await sql<{ name: string }>`select distinct _raw_data_table as name from ${sql.table(table.name)}
    where _raw_data_params = ${params}`.execute(kysely)
  return rows.map(({ name }) => name).filter(isRawTable)
}

/** How far the records go by now that a collector iterates over: ids grow, whatever happens to clocks. */
export async function marksOf({ forEach }: CollectSpec<any, any>, { database, params }: SourceTask): Promise<Marks> {
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

/** Windows that the vendor hands out whole. Each costs a request to count: a run that goes on knows those of the last. */
async function* windowsOf(collecting: Collecting, windows: Windows): AsyncGenerator<Round> {
  const { spec, task, client, base, run, raw, clock, tally } = collecting
  const paging = pagingOf(spec, base.server, task.options)
  // Later runs find little: the answer that counts it may as well bring it.
  const isLater = !run.isFull && run.since !== null
  const size = isLater ? paging.first() : (paging.resize?.(paging.first(), 1) ?? paging.first())
  const answers = new Map<string, HttpResponse>()
  const known: { from: string; to: string; counts: Record<string, number> } = run.inputs?.to
    ? run.inputs
    : {
        from: (await startOf(collecting, windows)).toISOString(),
        to: new Date(Math.max(run.openedAt.getTime(), client.firstAnsweredAt?.getTime() ?? 0) + OVERLAP).toISOString(),
        counts: {},
      }
  const request = ({ from, to, value }: Part): HttpRequest => {
    const plain = spec.request({ ...base, input: null })
    const end = windows.isEndExclusive ? new Date(to.getTime() + 1000) : to
    const split = value === undefined ? {} : windows.split?.query(value)
    return { ...plain, query: { ...plain.query, ...windows.query({ from, to: end }), ...split } }
  }
  const count = async (window: Part): Promise<number> => {
    const key = windowKey(window)
    const counted = known.counts[key]
    if (counted !== undefined) return counted
    const probe = { ...paging.at(request(window), size), accept: spec.emptyOn ?? [] }
    const response = await client.send(probe, task.signal)
    await clock.check()
    const total = spec.emptyOn?.includes(response.status) ? 0 : windows.total(response)
    if (!Number.isSafeInteger(total)) {
      throw new UserError(`${safeUrl(response.url)} does not say how much there is. Check that the endpoint is the API`)
    }
    if (isLater && total > 0 && total <= size.size) answers.set(key, response)
    known.counts[key] = total
    await rememberInputs(task.database, { raw_table: raw.name, params: task.params }, known)
    return total
  }
  const rangeOf = () => ({ from: wholeSecond(known.from), to: wholeSecond(known.to) })
  // The first answer tells the source's time, which may be ahead of ours.
  if (!windows.longest) await count(rangeOf())
  else await count({ from: new Date(Date.parse(known.to) - 1000), to: new Date(known.to) })
  const now = client.firstAnsweredAt
  if (!run.inputs && now && now.toISOString() > known.to) known.to = now.toISOString()
  const { cap, longest, split } = windows
  // Windows end with whole seconds.
  tally.range = { from: new Date(known.from), to: new Date(Math.floor(Date.parse(known.to) / 1000) * 1000) }
  for await (const window of splitByDate({ ...rangeOf(), cap, longest, probe: count })) {
    const parts = window.isOver && split ? split.values.map((value) => ({ ...window, value })) : [window]
    for (const part of parts) yield* roundOf(part)
  }

  async function* roundOf(part: Part): AsyncGenerator<Round> {
    const total = await count(part)
    if (total === 0) return
    const key = windowKey(part)
    const answer = answers.get(key)
    answers.delete(key)
    const round = { kind: 'window', key: inputKey(key), input: null, stored: null, since: part.from } as const
    if (total > cap) {
      const when = `at ${part.from.toISOString()}${part.value === undefined ? '' : ` (${part.value})`}`
      const reason = `the source hands out ${cap} of ${total} records ${when}; the rest is missing`
      tally.gaps.push({ ...cappedGap(round, reason, request(part).path), missing: total - cap })
    }
    yield {
      ...round,
      request: request(part),
      ...(answer && { answer }),
      ...(total > cap && { isCapped: true, paging: upTo(paging, cap) }),
    }
  }
}

const wholeSecond = (time: string): Date => new Date(Math.floor(Date.parse(time) / 1000) * 1000)

/** A window, or what a second dimension leaves of it. */
type Part = DateWindow & { readonly value?: string }

const windowKey = ({ from, to, value }: Part): string =>
  `${from.toISOString()}/${to.toISOString()}${value === undefined ? '' : `/${value}`}`

/** A window is opened before `since` for what may still change, as far as one page reaches. */
async function startOf(collecting: Collecting, { by, earliest }: Windows): Promise<Date> {
  const { since, isFull } = collecting.run
  if (!since || isFull || !by) return since ?? earliest
  const start = reachOf(lookBackOf(collecting.spec, collecting.run), since)
  const reach = await reachOfPage(collecting, by)
  const times = (await unfinishedRows(collecting)).map((row): number => row[by]?.getTime() ?? 0)
  return new Date(Math.min(start.getTime(), ...times.filter((time) => time > reach)))
}

/** How far back the newest rows lie that fill one page, by what is stored. */
async function reachOfPage({ entity, spec, task, base }: Collecting, by: string): Promise<number> {
  const { scope, connectionId } = task.context
  const where = { connection_id: connectionId, ...entity.scopeWhere(entity.table, scope) }
  const filters = Object.entries(where).map(([name, value]) => sql`${sql.ref(name)} = ${value}`)
  const { rows } = await sql<{ time: Date | null }>`select ${sql.ref(by)} as time from ${sql.table(entity.table.name)}
    where ${sql.join(filters, sql` and `)} order by ${sql.ref(by)} desc limit 1 offset ${pagingOf(spec, base.server, task.options).size}`.execute(
    task.database.kysely,
  )
  return rows[0]?.time?.getTime() ?? 0
}

const refetchOf = ({ incremental }: CollectSpec<any, any>): Refetch | undefined =>
  incremental && 'refetch' in incremental ? incremental.refetch : undefined

async function unfinishedRows({ entity, spec, task }: Collecting): Promise<any[]> {
  const refetch = refetchOf(spec)
  if (!refetch) return []
  const { scope, connectionId } = task.context
  const where = { connection_id: connectionId, ...entity.scopeWhere(entity.table, scope), ...refetch.where }
  return readAll(task.database, { table: entity.table, where })
}

async function* unfinished(collecting: Collecting): AsyncGenerator<Round> {
  const { spec, base, run } = collecting
  const refetch = refetchOf(spec)
  if (!refetch) return
  const by = spec.windows?.by
  const reach = by ? await reachOfPage(collecting, by) : Number.POSITIVE_INFINITY
  const isInWindow = (row: any) => by !== undefined && (row[by]?.getTime() ?? 0) > reach
  const rows = (await unfinishedRows(collecting)).filter((row) => !isInWindow(row))
  const roundOf = (some: readonly any[]): Round => {
    const request = refetch.request(refetch.atOnce ? some : some[0], { ...base, input: null })
    const stored = refetch.input?.(some[0]) ?? null
    // Under the key of its input the tag of the first answer holds, so that an unchanged one is not counted.
    const key = inputKey(stored ?? { refetch: request.path, body: request.body })
    const { paging = singlePage } = refetch
    const records = refetch.records ?? (refetch.paging ? spec.records : (body: unknown) => [body])
    const group = stored !== null && { group: groupOf(spec, stored) }
    const record = stored === null && !refetch.atOnce && { record: some[0]._raw_data_id as number }
    const how = { ...group, ...record, paging, ...(records && { records }) }
    return { kind: 'refetch', key, request, input: null, stored, ...how }
  }
  const size = refetch.atOnce ?? 1
  const rounds = new Map<string, Round>()
  for (let start = 0; start < rows.length; start += size) {
    const round = batch(rows.slice(start, start + size), roundOf)
    rounds.set(round.key, round)
  }
  for (const round of rounds.values()) if (!run.checkpoints.get(round.key)?.is_done) yield round
}
