/** One series of pages of a collection: read, kept, and counted by a checkpoint. */
import { readAll } from '../database/read.ts'
import type { RowOf } from '../database/table.ts'
import { write } from '../database/write.ts'
import { FatalError, messageOf } from '../errors.ts'
import type { Round } from './collect-inputs.ts'
import { type CollectContext, type CollectSpec, pagingOf } from './collect-spec.ts'
import { type CollectRun, collectCheckpoints, collectEtags } from './collect-state.ts'
import { type Entity, valueAt } from './entity.ts'
import { type ApiClient, type HttpRequest, type HttpResponse, type Page, type Paging, safeUrl } from './http/index.ts'
import type { Place } from './quarantine.ts'
import type { RawTable } from './raw.ts'
import type { SourceTask } from './source-task.ts'

export interface Collecting {
  readonly entity: Entity
  readonly spec: CollectSpec<any, any>
  readonly task: SourceTask
  readonly place: Place
  readonly client: ApiClient
  readonly base: Omit<CollectContext<any, any>, 'input'>
}

export interface Tally {
  received: number
  expected: number | undefined
  /** The source said that what is stored is still right. */
  isUnchanged: boolean
  readonly gaps: string[]
}

/** All pages for one input. Once more when the total fell while reading, since a record may then have slipped by. */
export async function collectRound(
  collecting: Collecting,
  run: CollectRun,
  raw: RawTable,
  round: Round,
  tally: Tally,
): Promise<void> {
  const { task, place } = collecting
  const done = run.checkpoints.get(round.key)
  if (done?.is_done) return
  for (let attempt = 1; ; attempt++) {
    const { received, total, hasShifted } = await readRound(
      collecting,
      run,
      raw,
      round,
      tally,
      attempt === 1 ? done?.page : null,
    )
    const isShort = total !== undefined && received < total
    if (!isShort && !hasShifted) return
    if (attempt === 2) {
      if (isShort) tally.gaps.push(`the source counts ${total} records, ${received} arrived`)
      return
    }
    task.log?.(`${place.subtask}: the list changed while it was read; reading it once more`)
  }
}

async function readRound(
  { spec, task, client, base, place }: Collecting,
  run: CollectRun,
  raw: RawTable,
  round: Round,
  tally: Tally,
  from: any,
): Promise<{ received: number; total: number | undefined; hasShifted: boolean }> {
  const { database, signal } = task
  const context = { ...base, input: round.input }
  const where = { raw_table: raw.name, params: task.params }
  const since = run.since
  const isFiltered = spec.incremental && 'filterBy' in spec.incremental && since !== null
  const conditional = !run.isFull && !from && !isFiltered && round.kind !== 'window'
  const [etag] = conditional
    ? await readAll(database, { table: collectEtags, where: { ...where, input_key: round.key } })
    : []
  const request: HttpRequest = {
    ...(round.request ?? withFilter(spec, context, since)),
    accept: spec.emptyOn ?? [],
    ...(etag && { ifNoneMatch: etag.etag, preferCredential: etag.credential }),
  }
  const paging = round.paging ?? pagingOf(spec, base.server)
  const newestFirst =
    spec.incremental && 'newestFirstBy' in spec.incremental && round.kind === 'list'
      ? spec.incremental.newestFirstBy
      : undefined
  let received = 0
  let firstTotal: number | undefined
  let total: number | undefined
  const records = recordsReader(round.records ?? spec.records)
  const pages = round.answer
    ? [pageOf(round.answer, records.of, paging)]
    : client.pages(request, paging, signal, {
        from: from ?? undefined,
        records: records.of,
        ...(newestFirst && since && { lookAhead: 0 }),
      })
  for await (const page of pages) {
    if (page.response.status === 304) {
      tally.isUnchanged = round.key === ''
      await write(database, [collectCheckpoints.row({ ...where, input_key: round.key, is_done: true })])
      break
    }
    const isEmpty = spec.emptyOn?.includes(page.response.status) ?? false
    if (!isEmpty) records.check()
    const all = isEmpty ? [] : page.records
    const fresh = newestFirst && since ? untilOlder(all, newestFirst, since) : all
    for (const record of fresh) await complete(record)
    const isLast = isEmpty || fresh.length < all.length || !page.state
    await store(page, fresh, isLast)
    received += all.length
    tally.received += fresh.length
    if (isEmpty || fresh.length < all.length) return { received, total: undefined, hasShifted: false }
    if (firstTotal === undefined && page.total !== undefined) tally.expected = (tally.expected ?? 0) + page.total
    firstTotal ??= page.total
    total = page.total ?? total
    task.progress({
      done: tally.received,
      ...(tally.expected !== undefined && { expected: tally.expected }),
      requests: client.usage.requests,
    })
  }
  const isResumed = Boolean(from)
  return {
    received,
    total: isResumed || round.kind === 'refetch' ? undefined : total,
    hasShifted: total !== undefined && firstTotal !== undefined && total < firstTotal,
  }

  /** Lists inside of a record that go on past what the query asked for. */
  async function complete(record: unknown) {
    for (const { list, request: ask, paging: rest } of spec.completes ?? []) {
      const found = list(record)
      if (!found?.pageInfo.hasNextPage) continue
      const from = { ...rest.first(), cursor: found.pageInfo.endCursor ?? '' }
      for await (const page of client.pages(ask(record, context), rest, signal, { from }))
        found.nodes.push(...page.records)
    }
  }

  /** One transaction: the records, the checkpoint that counts them, and the tag that may spare asking again. */
  async function store(page: Page, fresh: readonly unknown[], isLast: boolean) {
    const now = new Date()
    const url = safeUrl(page.response.url)
    const tag = conditionalTag(page, Boolean(newestFirst), isLast)
    const rows = fresh.map((record) =>
      raw.row({
        id: null as never,
        params: task.params,
        data: Buffer.from(JSON.stringify(record)),
        url,
        input: round.stored,
        created_at: now,
      }),
    )
    await database.transaction(async (transaction) => {
      await write(transaction, rows)
      await write(transaction, [
        collectCheckpoints.row({ ...where, input_key: round.key, page: page.state ?? null, is_done: isLast }),
        ...(tag && !isFiltered ? [collectEtags.row({ ...where, input_key: round.key, ...tag })] : []),
      ])
    })
    if (rows.length > 0) task.log?.(`${place.subtask}: ${rows.length} records`)
  }
}

const pageOf = (response: HttpResponse, records: (body: any) => readonly unknown[], paging: Paging): Page => ({
  response,
  records: records(response.body),
  total: paging.total?.(response),
  at: paging.first(),
  state: undefined,
})

/** An unchanged first page proves an unchanged list only when it is the whole list, or the newest come first. */
function conditionalTag(
  { response, at }: Page,
  isNewestFirst: boolean,
  isLast: boolean,
): Pick<RowOf<typeof collectEtags>, 'etag' | 'credential'> | undefined {
  const { etag } = response.headers
  const isFirst = !at.offset && !at.cursor && !at.url
  return etag && isFirst && (isLast || isNewestFirst) ? { etag, credential: response.credential } : undefined
}

function withFilter(spec: CollectSpec<any, any>, context: CollectContext<any, any>, since: Date | null): HttpRequest {
  const request = spec.request(context)
  if (!since || !spec.incremental || !('filterBy' in spec.incremental)) return request
  return { ...request, query: { ...request.query, ...spec.incremental.filterBy(since, context) } }
}

/** Reading the records of an error's body may fail; that counts only when the answer was no accepted error. */
function recordsReader(read: ((body: any) => readonly unknown[]) | undefined) {
  let failure: unknown
  return {
    of: (body: any): readonly unknown[] => {
      failure = undefined
      try {
        return read ? read(body) : listIn(body)
      } catch (error) {
        failure = error
        return []
      }
    },
    check() {
      if (failure) throw new FatalError(`the answer has another form than expected: ${messageOf(failure)}`)
    },
  }
}

/** The body itself, or the only list in it. */
function listIn(body: any): readonly unknown[] {
  if (Array.isArray(body)) return body
  const lists = Object.values(body ?? {}).filter(Array.isArray)
  return lists.length === 1 ? (lists[0] as unknown[]) : [body]
}

function untilOlder(records: readonly unknown[], path: string, since: Date): readonly unknown[] {
  const index = records.findIndex((record) => {
    const value = valueAt(record, path)
    return typeof value === 'string' && Date.parse(value) < since.getTime()
  })
  return index < 0 ? records : records.slice(0, index)
}
