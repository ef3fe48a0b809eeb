/** Lists by time, for vendors that limit the results of one query: the period is cut until each list fits. */
import { sql } from 'kysely'
import { UserError } from '../../../errors.ts'
import {
  type DateWindow,
  type HttpRequest,
  type HttpResponse,
  type Paging,
  safeUrl,
  splitByDate,
  upTo,
} from '../../http/index.ts'
import { pagingOf, reachOf, recordKey, type Windows } from '../../spec/collect.ts'
import { type Collection, contextOf, type List, type Way } from '../collection.ts'
import { cappedGap } from '../list-gaps.ts'
import { reachOfNewest, reachOfPage, unfinishedRows } from '../lists/refetch.ts'
import { inputKey, rememberInputs } from '../run/run.ts'
import { notBefore, OVERLAP } from '../run/run-window.ts'

/** Windows that a run has found. They are remembered for a run that continues it, because each count costs a request. */
interface KnownWindows {
  readonly from: string
  to: string
  /** Beginning of the windows, if the source has nothing earlier. */
  start?: string
  readonly counts: Record<string, number>
}

/** A window, or the part of it with one value of a second dimension. */
type Window = DateWindow & { readonly value?: string }

export function byWindows(windows: Windows, way: Way): Way {
  let range: DateWindow | undefined
  /** Keys of records that came unchanged and were therefore not stored. */
  const unchanged = new Set<string>()
  return {
    ...way,
    lists: (collection) =>
      windowsOf(collection, windows, (read) => {
        range = read
      }),
    changed(reading, records) {
      const changed = way.changed?.(reading, records) ?? records
      const is = new Set(changed)
      for (const record of records) if (!is.has(record)) unchanged.add(recordKey(reading.collection.spec, record))
      return changed
    },
    missing: async (collection) => (range ? missingIn(collection, windows, range, unchanged) : []),
  }
}

/** `willRead` is told the period whose records will all have been asked for. */
async function* windowsOf(
  collection: Collection,
  windows: Windows,
  willRead: (range: DateWindow) => void,
): AsyncGenerator<List> {
  const { client, run } = collection
  const known: KnownWindows = run.inputs?.to ? run.inputs : await wholeRange(collection, windows)
  const counter = createCounter(collection, windows, known)
  const rangeOf = () => ({ from: wholeSecond(known.from), to: wholeSecond(known.to) })
  // The first answer shows the source's time, which may be ahead of ours.
  if (!windows.longest || isWhole(windows, rangeOf())) await counter.count(rangeOf())
  else await counter.count({ from: new Date(Date.parse(known.to) - 1000), to: new Date(known.to) })
  const now = client.firstAnsweredAt
  if (!run.inputs && now && now.toISOString() > known.to) known.to = now.toISOString()
  const { cap, split } = windows
  const isOne = isWhole(windows, rangeOf()) && (await counter.count(rangeOf())) <= cap
  const longest = isOne ? undefined : windows.longest
  if (longest) known.start ??= (await counter.oldest(rangeOf())).toISOString()
  const start = wholeSecond(known.start ?? known.from)
  // Windows end with whole seconds.
  willRead({ from: new Date(known.from), to: wholeSecond(known.to) })
  for await (const window of splitByDate({ ...rangeOf(), from: start, cap, longest, probe: counter.count })) {
    const narrow = window.isOver && split ? split.values.map((value) => ({ ...window, value })) : [window]
    for (const each of narrow) {
      const total = await counter.count(each)
      // A list of all times comes newest first, and ends at the beginning of the range.
      const reachesTo = isWhole(windows, each) && each.from > windows.earliest ? each.from : undefined
      if (total > 0) yield listOf(collection, each, { total, cap, reachesTo, ...counter.take(each) })
    }
  }
}

/** True for a range longer than the longest window, if the source can be asked about all times in one request. */
const isWhole = ({ whole, longest = Number.POSITIVE_INFINITY }: Windows, { from, to }: DateWindow): boolean =>
  whole !== undefined && to.getTime() - from.getTime() > longest

async function wholeRange(collection: Collection, windows: Windows): Promise<KnownWindows> {
  const { run, client } = collection
  const now = Math.max(run.openedAt.getTime(), client.firstAnsweredAt?.getTime() ?? 0)
  const from = await startOf(collection, windows)
  return { from: from.toISOString(), to: new Date(now + OVERLAP).toISOString(), counts: {} }
}

/** Counts the records in windows. If the answer brought all records of a window, it is kept and used as its page. */
function createCounter(collection: Collection, windows: Windows, known: KnownWindows) {
  const { spec, task, client, base, run, key: own, clock } = collection
  const paging = pagingOf(spec, base.server, task.options)
  // Later runs find few records, so the answer that counts them may as well bring them.
  const isLater = !run.isFull && run.since !== null
  const one = paging.resize?.(paging.first(), 1) ?? paging.first()
  const size = isLater ? paging.first() : one
  const answers = new Map<string, HttpResponse>()
  const requestFor = ({ from, to, value }: Window): HttpRequest => {
    const plain = spec.request(contextOf(collection, null))
    const end = windows.isEndExclusive ? new Date(to.getTime() + 1000) : to
    const split = value === undefined ? {} : windows.split?.query(value)
    const times = isWhole(windows, { from, to }) ? windows.whole : windows.query({ from, to: end })
    return { ...plain, query: { ...plain.query, ...times, ...split } }
  }
  // The number of all records does not depend on when the range ends, which the first answer may change.
  const countKey = (window: Window): string => (isWhole(windows, window) ? 'all' : windowKey(window))
  return {
    /** The time of the oldest record, if the source can tell; earlier windows need not be counted one by one. */
    async oldest({ from, to }: DateWindow): Promise<Date> {
      if (!windows.oldest || !isWhole(windows, { from, to })) return from
      const plain = requestFor({ from, to })
      const { body } = await client.send(
        paging.at({ ...plain, query: { ...plain.query, ...windows.oldest.query } }, one),
        task.signal,
      )
      const time = Date.parse(String(windows.oldest.at(body)))
      return Number.isNaN(time) || time < from.getTime() ? from : new Date(Math.min(time, to.getTime()))
    },
    async count(window: Window): Promise<number> {
      const key = countKey(window)
      const counted = known.counts[key]
      if (counted !== undefined) return counted
      const probe = { ...paging.at(requestFor(window), size), accept: spec.emptyOn ?? [] }
      const response = await client.send(probe, task.signal)
      await clock.check()
      const total = spec.emptyOn?.includes(response.status) ? 0 : windows.total(response)
      if (!Number.isSafeInteger(total)) {
        throw new UserError(
          `${safeUrl(response.url)} does not say how much there is. Check that the endpoint is the API`,
        )
      }
      if (isLater && total > 0 && total <= size.size) answers.set(key, response)
      known.counts[key] = total
      await rememberInputs(task.database, own, known)
      return total
    },
    /** Returns how to read a window. The answer that counted it is returned only once. */
    take(window: Window) {
      const key = countKey(window)
      const answer = answers.get(key)
      answers.delete(key)
      return { request: requestFor(window), paging, ...(answer && { answer }) }
    },
  }
}

interface CountedWindow {
  readonly total: number
  readonly cap: number
  readonly reachesTo: Date | undefined
  readonly request: HttpRequest
  readonly paging: Paging
  readonly answer?: HttpResponse
}

function listOf({ tally }: Collection, window: Window, { total, cap, paging, reachesTo, ...how }: CountedWindow): List {
  const key = inputKey(windowKey(window))
  const reach = reachesTo && { reachesTo }
  const list = { kind: 'window', key, input: null, stored: null, since: window.from, ...reach, ...how } as const
  if (total <= cap) return list
  const when = `at ${window.from.toISOString()}${window.value === undefined ? '' : ` (${window.value})`}`
  const reason = `the source gives only ${cap} of ${total} records ${when}; the rest is missing`
  tally.gaps.push({ ...cappedGap(list, reason, how.request.path), missing: total - cap })
  return { ...list, isCapped: true, paging: upTo(paging, cap) }
}

const wholeSecond = (time: string): Date => new Date(Math.floor(Date.parse(time) / 1000) * 1000)

const windowKey = ({ from, to, value }: Window): string =>
  `${from.toISOString()}/${to.toISOString()}${value === undefined ? '' : `/${value}`}`

/** The beginning of the range. It is before `since` for records that may still change, as far back as one page goes. */
async function startOf(collection: Collection, { by, earliest, lookThrough }: Windows): Promise<Date> {
  const { since, isFull, timeAfter } = collection.run
  if (!since || isFull || !by) return since ?? earliest
  const start = reachOf(collection.way.lookBack, { since, isFull }).getTime()
  const wanted = lookThrough ? Math.max(await reachOfNewest(collection, by, lookThrough), earliest.getTime()) : start
  const reach = await reachOfPage(collection, by)
  const times = (await unfinishedRows(collection)).map((row): number => row[by]?.getTime() ?? 0)
  return notBefore(new Date(Math.min(start, wanted, ...times.filter((time) => time > reach))), timeAfter)
}

/** Finds stored records that did not come from a period that was read completely. A resumed run has not seen them all. */
async function missingIn(
  { entity, task, raw, run, tally }: Collection,
  { by }: Windows,
  range: DateWindow,
  unchanged: ReadonlySet<string>,
): Promise<number[]> {
  const isSeen = tally.gaps.length === 0 && tally.refused.size === 0 && run.checkpoints.size === 0
  if (!isSeen || run.isFull || !by) return []
  const time = sql.ref(`made.${by}`)
  const { rows } = await sql<{ id: number; record_key: string | null }>`select record.id, record.record_key
    from ${sql.table(raw.name)} as record inner join ${sql.table(entity.table.name)} as made
      on made._raw_data_id = record.id and made._raw_data_table = ${raw.name} and made._raw_data_params = ${task.params}
    where record.params = ${task.params} and record.id <= ${run.rawMark}
      and ${time} >= ${range.from} and ${time} <= ${range.to}`.execute(task.database.kysely)
  return rows.flatMap(({ id, record_key }) => (record_key && !unchanged.has(record_key) ? [id] : []))
}
