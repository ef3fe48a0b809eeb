/** All pages for one input. Those whose places are known are read side by side, and stored as they arrive. */
import { readAll } from '../database/read.ts'
import type { Round } from './collect-inputs.ts'
import {
  type Collecting,
  firstKey,
  gapList,
  lastKey,
  type Outcome,
  openSeries,
  readStretch,
  type Series,
  type Tally,
} from './collect-series.ts'
import {
  collectCheckpoints,
  collectEtags,
  forgetCheckpoint,
  type Standing,
  type StretchState,
} from './collect-state.ts'
import { HttpFatalError, isHeavy, type PageState } from './http/index.ts'
import { eachInLanes } from './lanes.ts'

export async function collectRound(collecting: Collecting, round: Round, signal: AbortSignal): Promise<void> {
  const { checkpoints } = collecting.run
  if (checkpoints.get(round.key)?.is_done) return
  // One that was cut off in halves goes on so, since they have checkpoints of their own.
  const halves = round.halves?.() ?? []
  const isHalved = halves.some(({ key }) => checkpoints.has(key))
  try {
    if (!isHalved) return await collectAtOnce(collecting, round, signal)
  } catch (error) {
    if (!isHeavy(error) || halves.length === 0) throw error
  }
  for (const half of halves) await collectRound(collecting, half, signal)
}

async function collectAtOnce(collecting: Collecting, round: Round, signal: AbortSignal): Promise<void> {
  const { task, place, tally, run } = collecting
  const series = await openSeries(collecting, round)
  const first = await readList(collecting, series, signal)
  if (round.isCapped || (!first.isShort && !first.hasShifted)) return
  // In order what comes new at the front only pushes records to later pages, where they are met again.
  task.log?.(`${place.subtask}: the list changed while it was read; reading it once more, in order`)
  discount(tally, first)
  const { ifNoneMatch: _, ...request } = series.request
  const again = await readStretch(collecting, { ...series, request }, { key: round.key }, signal)
  if (!again.isShort) return
  const { received, total = 0 } = again
  // What is counted and never comes must not keep alive what is gone.
  if (round.group !== undefined) await collecting.store({ rows: [], replaced: round.group })
  tally.gaps.push({
    ...{ list: gapList(round), kind: 'count', address: request.path, status: null, input: round.input },
    reason: `the source counts ${total} records, ${received} arrived (${request.path})`,
    since: round.since ?? run.since,
    missing: total - received,
  })
}

/** What was counted comes again. */
function discount(tally: Tally, { received, total }: Pick<Outcome, 'received' | 'total'>): void {
  tally.received -= received
  if (total !== undefined) tally.expected = (tally.expected ?? 0) - total
}

/** Goes on from the checkpoint of an earlier run; where the source refuses that, from the beginning. */
async function readList(collecting: Collecting, series: Series, signal: AbortSignal): Promise<Outcome> {
  const { run, task, place, raw, tally } = collecting
  const { key } = series.round
  const saved = run.checkpoints.get(key)
  if (!saved) return readFrom(collecting, series, signal)
  const before = tally.received
  try {
    return await readFrom(collecting, series, signal)
  } catch (error) {
    // Once a page has come from there, the checkpoint was not what was refused.
    if (!(error instanceof HttpFatalError) || error.heavy || tally.received > before) throw error
    task.log?.(`${place.subtask}: ${error.message}. The list is read from its beginning`)
    discount(tally, { received: receivedBefore(collecting, key), total: saved.expected ?? undefined })
    await forgetCheckpoint(task.database, { raw_table: raw.name, params: task.params }, run, key)
    return readFrom(collecting, series, signal)
  }
}

/** What the parts of a list that were read side by side have brought, or the list itself. */
function receivedBefore({ run: { checkpoints } }: Collecting, key: string): number {
  const parts = [...checkpoints].filter(([each]) => each === key || each.startsWith(`${key}#`))
  return parts.reduce((sum, [, { received }]) => sum + received, 0)
}

async function readFrom(collecting: Collecting, series: Series, signal: AbortSignal): Promise<Outcome> {
  const { run } = collecting
  const { round, newestFirstBy } = series
  const saved = run.checkpoints.get(round.key)
  const standing = saved?.page ?? null
  if (isTakenOver(standing)) {
    const { received = 0, expected } = saved ?? {}
    const before = { received, total: expected ?? undefined, isShort: false, hasShifted: false }
    return readPlaces(collecting, { series, places: standing.places, head: before }, signal)
  }
  // A reader that stops at what it knows already must not ask for what lies behind.
  const leavesRest = !standing && !(newestFirstBy && run.since)
  const resume = standing ? { from: standing as StretchState, received: saved?.received ?? 0 } : undefined
  const head = await readStretch(collecting, series, { key: round.key, resume, leavesRest }, signal)
  return head.places ? readPlaces(collecting, { series, places: head.places, head }, signal) : head
}

const isTakenOver = (standing: Standing | null): standing is { readonly places: readonly PageState[] } =>
  standing !== null && 'places' in standing

/** What follows the first page of a list. */
interface Rest {
  readonly series: Series
  readonly places: readonly PageState[]
  readonly head: Outcome
}

/** Of answers to one list under way: parsed and on their way to the database they take several times as much memory. */
const BYTES_AT_ONCE = 4 * 1024 * 1024

/** The pages after the first, each with a checkpoint of its own; the last goes on where the list has grown. */
async function readPlaces(
  collecting: Collecting,
  { series, places, head }: Rest,
  signal: AbortSignal,
): Promise<Outcome> {
  const { run, lanes } = collecting
  const { round } = series
  const { total } = head
  let { received } = head
  let hasShifted = false
  const most = Math.max(1, Math.floor(BYTES_AT_ONCE / (head.pageBytes ?? 1)))
  await eachInLanes(places.entries(), Math.min(lanes, most), signal, async ([index, place], stop) => {
    const key = `${round.key}#${index + 1}`
    const saved = run.checkpoints.get(key)
    if (saved?.is_done) {
      received += saved.received
      return
    }
    const resume = saved?.page ? { from: saved.page as StretchState, received: saved.received } : undefined
    const part = await readStretch(
      collecting,
      series,
      { key, place, resume, isTail: index === places.length - 1 },
      stop,
    )
    received += part.received
    hasShifted ||= part.total !== total && part.total !== undefined
  })
  const isShort = total !== undefined && received < total
  hasShifted ||= await haveEndsMoved(collecting, series, places, signal)
  await finish(collecting, round, { received, expected: total ?? null, isDone: !isShort && !hasShifted })
  return { received, total, isShort, hasShifted }
}

/** Puts the checkpoint of a list behind its parts. */
async function finish(
  { store, raw, task }: Collecting,
  { key, group }: Round,
  { received, expected, isDone }: { received: number; expected: number | null; isDone: boolean },
): Promise<void> {
  const where = { raw_table: raw.name, params: task.params, input_key: key }
  const rows = [collectCheckpoints.row({ ...where, page: null, is_done: isDone, received, expected })]
  await store({ rows, ...(isDone && group !== undefined && { replaced: group }) })
}

/** Asks for both ends again, which costs nothing when they are as they were: then nothing came, went or moved. */
async function haveEndsMoved(
  { client, task, raw }: Collecting,
  { round, request, paging }: Series,
  places: readonly PageState[],
  signal: AbortSignal,
): Promise<boolean> {
  const ends = new Map([
    [firstKey(round), paging.first()],
    [lastKey(round), places.at(-1) as PageState],
  ])
  const where = { raw_table: raw.name, params: task.params, input_key: [...ends.keys()] }
  for (const { input_key, etag, credential } of await readAll(task.database, { table: collectEtags, where })) {
    const at = ends.get(input_key) as PageState
    const again = paging.at({ ...request, ifNoneMatch: etag, preferCredential: credential }, at)
    if ((await client.send(again, signal)).status !== 304) return true
  }
  return false
}
