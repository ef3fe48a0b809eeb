/** A part of a list: one or more of its pages that share a checkpoint. */
import { type Page, type PageState, type Paging, safeUrl } from '../http/index.ts'
import { collectCheckpoints, collectEtags, collectReaches } from '../raw/collect-tables.ts'
import { lookBackOf, type Reach, recordKey } from '../spec/collect.ts'
import type { Collection, List } from './collection.ts'
import { inputReach } from './numbered.ts'
import type { OpenList } from './open-list.ts'
import type { Found, recordsReader } from './records.ts'
import type { CheckpointState, PartState } from './run.ts'

export interface Part {
  /** Key of its checkpoint. */
  readonly key: string
  /** The place and the count in the checkpoint of an earlier run. */
  readonly resume?: { readonly from: PartState; readonly received: number } | undefined
  /** Its first page, if parts are read in parallel; absent: the first page of the list. */
  readonly start?: PageState
  /** Read on after its first page to the end of the list. */
  readonly goesToEnd?: boolean
  /** Leave the pages after the first to the caller, if it is known which they are. */
  readonly mayLeaveRest?: boolean
}

export interface PartResult {
  readonly received: number
  readonly total: number | undefined
  /** The source counts more than arrived. */
  readonly isShort: boolean
  /** The source counted fewer records at the end than at the beginning. A record that moved up may have been missed. */
  readonly hasShifted: boolean
  /** Pages that are left to the caller, with the size of the first page. */
  readonly rest?: readonly PageState[]
  readonly pageBytes?: number
}

/** A part while it is read. */
export interface Reading {
  readonly collection: Collection
  readonly open: OpenList
  readonly part: Part
  readonly signal: AbortSignal
  readonly records: ReturnType<typeof recordsReader>
  /** Number of records that have arrived so far. */
  received: number
  /** The first and the latest total that the source gave. */
  firstTotal: number | undefined
  total: number | undefined
  /** Number of records asked for so far. */
  read: number
  /**
   * `known`: reach of a numbered list from before, unset when it turns out to be another list. `newest`: the record that this
   * reading began with.
   */
  known: Reach | undefined
  newest: Reach | undefined
  /** Reading stopped before the end of the list, because nothing after this page is needed. */
  isCut: boolean
}

export function resultOf({ received, total, firstTotal, isCut, part, open }: Reading): PartResult {
  // If this is one of many parts, only the caller can tell.
  const isExact = !isCut && !part.start && !open.paging.isTotalVague
  const isShort = isExact && total !== undefined && received < total
  return { received, total, isShort, hasShifted: isExact && (total ?? 0) < (firstTotal ?? 0) }
}

/** Adds a page to the counts; `arrived` is its number of records. */
export function count(reading: Reading, page: Page, arrived: number): void {
  const { collection, part, open } = reading
  const { tally, client, task } = collection
  reading.received += arrived
  tally.received += arrived
  if (reading.firstTotal === undefined && page.total !== undefined && part.key === open.list.key) {
    tally.expected = (tally.expected ?? 0) + page.total
  }
  reading.firstTotal ??= page.total
  reading.total = page.total ?? reading.total
  const { usage, requestsLeft } = client
  task.progress({
    done: tally.received,
    ...(tally.expected !== undefined && { expected: tally.expected }),
    ...(requestsLeft !== undefined && { requestsLeft }),
    requests: usage.requests,
  })
}

const keyOf = ({ raw, task }: Collection) => ({ raw_table: raw.name, params: task.params })

export function checkpointRow(reading: Reading, state: CheckpointState | null, is_done: boolean) {
  const { collection, part, open, received, firstTotal } = reading
  const expected = part.key === open.list.key ? (firstTotal ?? null) : null
  return collectCheckpoints.row({ ...keyOf(collection), input_key: part.key, page: state, is_done, received, expected })
}

export function rawRow({ collection, open: { list } }: Reading, { record, response }: Found, data: Buffer) {
  const { raw, task, spec } = collection
  const at = { url: safeUrl(response.url), input: list.stored, created_at: new Date() }
  const keys = { input_key: list.group ?? '', record_key: recordKey(spec, record) }
  return raw.row({ id: null as never, params: task.params, data, ...at, ...keys })
}

/** The reach of a numbered list that has been read to its end, or the digest of the input that was answered. */
export function reachRows({ collection, open: { list }, newest }: Reading) {
  const reach = collection.spec.forEach?.tellsChange && list.kind === 'list' ? inputReach(list.input) : newest
  if (!reach || list.group === undefined) return []
  return [collectReaches.row({ ...keyOf(collection), input_key: list.group, ...reach })]
}

/** Keys under which the tags of both ends of a list are stored. */
export const firstKey = ({ key }: List): string => `${key}#first`
export const lastKey = ({ key }: List): string => `${key}#last`

/** An unchanged first page proves an unchanged list only when it is the whole list, or the newest come first. */
export function tagRows(reading: Reading, { response, at }: Page, isLast: boolean, isFirstOfMany: boolean) {
  const { collection, part, open } = reading
  const { etag } = response.headers
  if (!etag) return []
  const isEnd = part.goesToEnd && isLast && at === part.start
  const looksBack = lookBackOf(collection.spec, { isFull: false }) !== undefined
  const keys = [
    ...(open.isWhole && isFirst(at) && (isLast || (open.newestFirstBy && !looksBack)) ? [open.list.key] : []),
    ...(isFirstOfMany ? [firstKey(open.list)] : []),
    ...(isEnd ? [lastKey(open.list)] : []),
  ]
  return keys.map((input_key) =>
    collectEtags.row({ ...keyOf(collection), input_key, etag, credential: response.credential }),
  )
}

/** Stores the tag of a confirmed answer again, so that other scopes may copy the answer as a fresh one. */
export function confirmedTagRows({ collection, open: { request, list } }: Reading) {
  const { ifNoneMatch: etag, preferCredential: credential } = request
  if (!collection.spec.forEach?.isShared || !etag || !credential) return []
  return [collectEtags.row({ ...keyOf(collection), input_key: list.key, etag, credential })]
}

/** True for a place past the last numbered page. */
export const isPastLast = ({ until }: PageState) => until !== undefined
export const isFirst = ({ offset, cursor, url, until }: PageState) => !offset && !cursor && !url && !until

/** The pages after a full first page, if the source says which there are and a change would be noticed. */
export function pagesAhead({ response, records, at, state, total }: Page, paging: Paging) {
  const isNoticed = response.headers.etag !== undefined || total !== undefined
  const isFull = at.size === paging.size && state?.size === at.size
  const starts = isNoticed && isFull ? [...(paging.ahead?.(at, { response, records }) ?? [])] : []
  return starts.length > 0 ? starts : undefined
}
