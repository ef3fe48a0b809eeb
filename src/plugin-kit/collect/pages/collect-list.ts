/** Collects one list: its first page, then the others. They are read in parallel if it is known which pages there are. */
import { readAll } from '../../../database/read.ts'
import type { RawRecord } from '../../../database/table.ts'
import {
  HttpFatalError,
  type HttpResponse,
  isHeavy,
  type PageState,
  pastLastPage,
  singlePage,
  type Verdict,
} from '../../http/index.ts'
import { collectCheckpoints, collectEtags } from '../../raw/collect-tables.ts'
import { pagingOf } from '../../spec/collect.ts'
import { type Collection, contextOf, type List, type OpenList, type Tally } from '../collection.ts'
import { gapList } from '../list-gaps.ts'
import { type CheckpointState, forgetCheckpoint, type PartState } from '../run/run.ts'
import { eachSideBySide } from '../side-by-side.ts'
import { firstKey, lastKey, type PartResult } from './page.ts'
import { readPart } from './read-part.ts'
import { recordsReader } from './records.ts'

export async function collectList(collection: Collection, list: List, signal: AbortSignal): Promise<void> {
  const { checkpoints } = collection.run
  if (checkpoints.get(list.key)?.is_done) return
  // A list that was cut in two and then interrupted stays cut: both halves have their own checkpoints.
  const smaller = list.cutInTwo?.() ?? []
  const isInTwo = smaller.some(({ key }) => checkpoints.has(key))
  try {
    if (!isInTwo) return await readWithRepeat(collection, list, signal)
  } catch (error) {
    if (!isHeavy(error) || smaller.length === 0) throw error
  }
  for (const each of smaller) await collectList(collection, each, signal)
}

async function readWithRepeat(collection: Collection, list: List, signal: AbortSignal): Promise<void> {
  const { task, subtaskKey, tally, run } = collection
  const open = await openList(collection, list)
  const first = await readList(collection, open, signal)
  if (list.isCapped || (!first.isShort && !first.hasShifted)) return
  // When pages are read in order, new records at the front only push others to later pages, which are still to be read.
  task.log?.(`${subtaskKey.subtask}: the list changed while it was read; reading it once more, in order`)
  discount(tally, first)
  const { ifNoneMatch: _, ...request } = open.request
  const again = await readPart(collection, { ...open, request }, { key: list.key }, signal)
  if (!again.isShort) return
  const { received, total = 0 } = again
  // Deleted records must not stay only because the source counts records that it never sends.
  if (list.group !== undefined) await collection.store({ rows: [], replaced: list.group })
  tally.gaps.push({
    list: gapList(list),
    kind: 'count',
    address: request.path,
    status: null,
    input: list.input,
    reason: `the source counts ${total} records, ${received} arrived (${request.path})`,
    since: list.since ?? run.since,
    missing: total - received,
  })
}

/** Takes a reading out of the tally, because its records will be read and counted again. */
function discount(tally: Tally, { received, total }: Pick<PartResult, 'received' | 'total'>): void {
  tally.received -= received
  if (total !== undefined) tally.expected = (tally.expected ?? 0) - total
}

/** Continues from the checkpoint of an earlier run. If the source refuses that, starts from the beginning. */
async function readList(collection: Collection, open: OpenList, signal: AbortSignal): Promise<PartResult> {
  const { run, task, subtaskKey, tally } = collection
  const { key } = open.list
  const saved = run.checkpoints.get(key)
  if (!saved) return readFrom(collection, open, signal)
  const before = tally.received
  try {
    return await readFrom(collection, open, signal)
  } catch (error) {
    // If a page has arrived since then, the source did not refuse the checkpoint.
    if (!(error instanceof HttpFatalError) || error.heavy || tally.received > before) throw error
    task.log?.(`${subtaskKey.subtask}: ${error.message}. The list is read from its beginning`)
    discount(tally, { received: receivedBefore(collection, key), total: saved.expected ?? undefined })
    await forgetCheckpoint(task.database, collection.key, run, key)
    return readFrom(collection, open, signal)
  }
}

/** Number of records that a list brought so far, itself or in parts that were read in parallel. */
function receivedBefore({ run: { checkpoints } }: Collection, key: string): number {
  const parts = [...checkpoints].filter(([each]) => each === key || each.startsWith(`${key}#`))
  return parts.reduce((sum, [, { received }]) => sum + received, 0)
}

async function readFrom(collection: Collection, open: OpenList, signal: AbortSignal): Promise<PartResult> {
  const { run, way } = collection
  const { list } = open
  const saved = run.checkpoints.get(list.key)
  const state = saved?.page ?? null
  if (isSideBySide(state)) {
    const { received = 0, expected } = saved ?? {}
    const before = { received, total: expected ?? undefined, isShort: false, hasShifted: false }
    return readRest(collection, { open, starts: state.places, first: before }, signal)
  }
  // A reader that stops at the first known record must not ask for the pages after it.
  const mayLeaveRest = !state && !(way.isNewestFirst?.(list) && run.since)
  const resume = state ? { from: state as PartState, received: saved?.received ?? 0 } : undefined
  const first = await readPart(collection, open, { key: list.key, resume, mayLeaveRest }, signal)
  return first.rest ? readRest(collection, { open, starts: first.rest, first }, signal) : first
}

const isSideBySide = (state: CheckpointState | null): state is { readonly places: readonly PageState[] } =>
  state !== null && 'places' in state

/** The pages after the first page of a list. */
interface RestOfList {
  readonly open: OpenList
  readonly starts: readonly PageState[]
  readonly first: PartResult
}

/** Limit for the answers to one list that are in progress. Parsed and being stored, they take several times as much memory. */
const BYTES_AT_ONCE = 4 * 1024 * 1024

/** Reads the pages after the first, each with its own checkpoint. The last one continues if the list has grown. */
async function readRest(
  collection: Collection,
  { open, starts, first }: RestOfList,
  signal: AbortSignal,
): Promise<PartResult> {
  const { run, concurrency } = collection
  const { list } = open
  const { total } = first
  let { received } = first
  let hasShifted = false
  const most = Math.max(1, Math.floor(BYTES_AT_ONCE / (first.pageBytes ?? 1)))
  await eachSideBySide(starts.entries(), Math.min(concurrency, most), signal, async ([index, start], stop) => {
    const key = `${list.key}#${index + 1}`
    const saved = run.checkpoints.get(key)
    if (saved?.is_done) {
      received += saved.received
      return
    }
    const resume = saved?.page ? { from: saved.page as PartState, received: saved.received } : undefined
    const part = await readPart(collection, open, { key, start, resume, goesToEnd: index === starts.length - 1 }, stop)
    received += part.received
    hasShifted ||= part.total !== total && part.total !== undefined
  })
  const isShort = total !== undefined && received < total
  hasShifted ||= await haveEndsMoved(collection, open, starts, signal)
  await finish(collection, list, { received, expected: total ?? null, isDone: !isShort && !hasShifted })
  return { received, total, isShort, hasShifted }
}

/** Stores the checkpoint of a list after all its parts. */
async function finish(
  { store, key: own }: Collection,
  { key, group }: List,
  { received, expected, isDone }: { received: number; expected: number | null; isDone: boolean },
): Promise<void> {
  const rows = [collectCheckpoints.row({ ...own, input_key: key, page: null, is_done: isDone, received, expected })]
  await store({ rows, ...(isDone && group !== undefined && { replaced: group }) })
}

/** Asks for both ends again, with their tags. If both are unchanged, nothing was added, deleted or moved, and it costs nothing. */
async function haveEndsMoved(
  { client, task, key }: Collection,
  { list, request, paging }: OpenList,
  starts: readonly PageState[],
  signal: AbortSignal,
): Promise<boolean> {
  const ends = new Map([
    [firstKey(list), paging.first()],
    [lastKey(list), starts.at(-1) as PageState],
  ])
  const where = { ...key, input_key: [...ends.keys()] }
  for (const { input_key, etag, credential } of await readAll(task.database, { table: collectEtags, where })) {
    const at = ends.get(input_key) as PageState
    const again = paging.at({ ...request, ifNoneMatch: etag, preferCredential: credential }, at)
    if ((await client.send(again, signal)).status !== 304) return true
  }
  return false
}

/** Attempts at a heavy list that can be asked for as two lists instead. */
const HEAVY_ATTEMPTS = 2

async function openList(collection: Collection, list: List): Promise<OpenList> {
  const { spec, way, task, base, run, key } = collection
  const { since, isFull, checkpoints } = run
  const { longList } = spec
  const pages = pagingOf(spec, base.server, task.options)
  // If one request covers many inputs, nobody could tell which stored records a 304 is about.
  const isWhole = !(way.filter && since) && list.kind !== 'window' && !spec.forEach?.atOnce
  const isConditional = isWhole && !isFull && !checkpoints.has(list.key)
  const where = { ...key, input_key: list.key }
  const [etag] = isConditional ? await readAll(task.database, { table: collectEtags, where }) : []
  const context = contextOf(collection, list.input)
  const plain = list.request ?? spec.request(context)
  const filter = list.request || !since ? undefined : way.filter?.(since, context)
  const asked = filter ? { ...plain, query: { ...plain.query, ...filter } } : plain
  const paging = list.paging ?? (longList?.older ? pastLastPage(pages, longList.mostPages, longList.older) : pages)
  const records = recordsReader(list.records ?? spec.records, paging !== singlePage)
  return {
    list,
    isWhole,
    paging,
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
