/** What a collector iterates over: one input or none, rows of a tool table, date windows, and rows that were not final. */
import { sql } from 'kysely'
import { readAll } from '../database/read.ts'
import { type CollectContext, type CollectSpec, pagingOf, type Refetch, type Windows } from './collect-spec.ts'
import { type CollectRun, inputKey, rememberInputs } from './collect-state.ts'
import type { Entity } from './entity.ts'
import {
  type ApiClient,
  type DateWindow,
  type HttpRequest,
  type Paging,
  singlePage,
  splitByDate,
} from './http/index.ts'
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
  /** Instead of what the collector's spec says. */
  readonly request?: HttpRequest
  readonly paging?: Paging
  readonly records?: (body: any) => readonly unknown[]
}

interface Collecting {
  readonly entity: Entity
  readonly spec: CollectSpec<any, any>
  readonly task: SourceTask
  readonly client: ApiClient
  readonly base: Omit<CollectContext<any, any>, 'input'>
  readonly run: CollectRun
  readonly where: { readonly raw_table: string; readonly params: string }
}

export async function* inputsOf(collecting: Collecting): AsyncGenerator<Round> {
  const { spec, run } = collecting
  if (spec.windows) yield* windowsOf(collecting, spec.windows)
  else if (spec.forEach) yield* rowsOf(collecting)
  else yield { kind: 'list', key: '', input: null, stored: null }
  if (!run.isFull && spec.incremental && 'refetch' in spec.incremental) yield* unfinished(collecting)
}

async function* rowsOf({ entity, spec, task, base, run }: Collecting): AsyncGenerator<Round> {
  const { table, joins, where, only, input, atOnce, changedBy } = spec.forEach!
  const { scope, connectionId } = task.context
  const rows = await readAll(task.database, {
    table,
    ...(joins && { joins }),
    where: { connection_id: connectionId, ...(where?.(scope) ?? entity.scopeWhere(table, scope)) },
    ...(changedBy && !run.isFull && run.since && { condition: sql`${sql.ref(`t.${changedBy}`)} > ${run.since}` }),
  })
  const inputs = new Map(rows.filter((row) => only?.(row) ?? true).map((row) => [inputKey(input(row)), input(row)]))
  const size = atOnce?.(base.server)
  if (size === undefined) {
    for (const [key, each] of inputs) yield { kind: 'list', key, input: each, stored: each }
    return
  }
  const all = [...inputs.values()]
  for (let start = 0; start < all.length; start += size) {
    const some = all.slice(start, start + size)
    yield { kind: 'list', key: inputKey(some), input: some, stored: null }
  }
}

/** Windows that the vendor hands out whole; found once a run, since each costs a request to count. */
async function* windowsOf(collecting: Collecting, windows: Windows): AsyncGenerator<Round> {
  const { spec, task, client, base, run, where } = collecting
  const paging = pagingOf(spec, base.server)
  const smallest = paging.resize?.(paging.first(), 1) ?? paging.first()
  const request = (window: DateWindow): HttpRequest => {
    const plain = spec.request({ ...base, input: null })
    return { ...plain, query: { ...plain.query, ...windows.query(window) } }
  }
  const count = async (window: DateWindow) => {
    const probe = { ...paging.at(request(window), smallest), accept: spec.emptyOn ?? [] }
    const response = await client.send(probe, task.signal)
    return spec.emptyOn?.includes(response.status) ? 0 : windows.total(response)
  }
  let found = run.inputs as { from: string; to: string }[] | null
  if (!found) {
    found = []
    const range = { from: run.since ?? windows.earliest, to: run.startedAt }
    for await (const { from, to } of splitByDate({ ...range, cap: windows.cap, probe: count })) {
      found.push({ from: from.toISOString(), to: to.toISOString() })
    }
    await rememberInputs(task.database, where, found)
  }
  for (const { from, to } of found) {
    const window = { from: new Date(from), to: new Date(to) }
    yield { kind: 'window', key: inputKey({ from, to }), input: null, stored: null, request: request(window) }
  }
}

async function* unfinished({ entity, spec, task, base, run }: Collecting): AsyncGenerator<Round> {
  const { refetch } = (spec.incremental ?? {}) as { refetch?: Refetch }
  if (!refetch) return
  const { scope, connectionId } = task.context
  const rows = await readAll(task.database, {
    table: entity.table,
    where: { connection_id: connectionId, ...entity.scopeWhere(entity.table, scope), ...refetch.where },
  })
  const rounds = new Map<string, Round>()
  for (const row of rows as any[]) {
    const request = refetch.request(row, { ...base, input: null })
    const key = inputKey({ refetch: request.path })
    rounds.set(key, {
      ...{ kind: 'refetch', key, request, input: null, stored: refetch.input?.(row) ?? null },
      ...{ paging: singlePage, records: refetch.records ?? ((body: unknown) => [body]) },
    })
  }
  for (const round of rounds.values()) if (!run.checkpoints.get(round.key)?.is_done) yield round
}
