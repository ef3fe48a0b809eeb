import { readAll } from '../../database/read.ts'
import type { RawRecord } from '../../database/table.ts'
import {
  type HttpRequest,
  type HttpResponse,
  type Paging,
  pastLastPage,
  singlePage,
  type Verdict,
} from '../http/index.ts'
import { collectEtags } from '../raw/collect-tables.ts'
import { type AnyCollectContext, type AnyCollectSpec, pagingOf } from '../spec/collect.ts'
import type { TimeSource } from '../spec/times.ts'
import { type Collection, contextOf, type List } from './collection.ts'
import { recordsReader } from './records.ts'

/** A list, ready to be asked for. */
export interface OpenList {
  readonly list: List
  readonly request: HttpRequest
  readonly paging: Paging
  /** The time that the records are sorted by, if they come newest first. */
  readonly newestFirstBy: TimeSource | undefined
  /** Asked for without filter or window, so that its first page may tell that nothing has changed. */
  readonly isWhole: boolean
}

/** Attempts at a heavy list that can be asked for as two lists instead. */
const HEAVY_ATTEMPTS = 2

export async function openList(collection: Collection, list: List): Promise<OpenList> {
  const { spec, task, base, run, raw } = collection
  const { since, isFull, checkpoints } = run
  const { incremental, longList } = spec
  const pages = pagingOf(spec, base.server, task.options)
  // If one request covers many inputs, nobody could tell which stored records a 304 is about.
  const isWhole =
    !(incremental && 'filterBy' in incremental && since) && list.kind !== 'window' && !spec.forEach?.atOnce
  const isConditional = isWhole && !isFull && !checkpoints.has(list.key)
  const where = { raw_table: raw.name, params: task.params, input_key: list.key }
  const [etag] = isConditional ? await readAll(task.database, { table: collectEtags, where }) : []
  const asked = list.request ?? withFilter(spec, contextOf(collection, list.input), since)
  const paging = list.paging ?? (longList?.older ? pastLastPage(pages, longList.mostPages, longList.older) : pages)
  const records = recordsReader(list.records ?? spec.records, paging !== singlePage)
  return {
    list,
    isWhole,
    paging,
    newestFirstBy:
      incremental && 'newestFirstBy' in incremental && (list.kind === 'list' || list.reachesTo)
        ? incremental.newestFirstBy
        : undefined,
    request: {
      ...asked,
      // An answer without a list does not mean that the list has ended: it is asked for again.
      check: (response, ...known) => asked.check?.(response, ...known) ?? noList(response, records.wrongWith),
      accept: [...(spec.emptyOn ?? []), ...(spec.endsOn ?? [])],
      ...(list.cutInTwo && { heavyAttempts: HEAVY_ATTEMPTS }),
      ...(etag && { ifNoneMatch: etag.etag, preferCredential: etag.credential }),
    },
  }
}

function noList({ status, body }: HttpResponse, wrongWith: (body: RawRecord) => string | undefined) {
  const wrong = status === 204 ? undefined : wrongWith(body)
  const verdict: Verdict = { kind: 'retry', reason: `${status} with ${wrong}`, heavy: false }
  return wrong === undefined ? undefined : verdict
}

function withFilter(spec: AnyCollectSpec, context: AnyCollectContext, since: Date | null): HttpRequest {
  const request = spec.request(context)
  if (!since || !spec.incremental || !('filterBy' in spec.incremental)) return request
  return { ...request, query: { ...request.query, ...spec.incremental.filterBy(since, context) } }
}
