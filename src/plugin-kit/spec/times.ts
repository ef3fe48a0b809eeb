/** Times that sources write in other ways than ISO 8601 with a zone. */
import type { AnyContext, RawRecord } from '../../database/table.ts'
import { parseTime } from '../../database/time.ts'
import { RecordError } from '../../errors.ts'
import { valueAt } from './json.ts'

/** The path of a time in a record, or a function that reads it. */
export type TimeSource = string | ((record: RawRecord, context: AnyContext) => Date | null)

/** The time in a record, in milliseconds since 1970. Numbers are taken as such milliseconds. Undefined if there is none. */
export function timeIn(record: unknown, source: TimeSource, context: unknown): number | undefined {
  if (typeof source === 'function') return source(record, context)?.getTime()
  const value = valueAt(record, source)
  const time = typeof value === 'string' ? Date.parse(value) : typeof value === 'number' ? value : Number.NaN
  return Number.isNaN(time) ? undefined : time
}

/** For a column or `newestFirstBy`: reads milliseconds since 1970. 0 and negative numbers stand for "never". */
export const epochMilliseconds =
  (path: string) =>
  (record: unknown): Date | null => {
    const value = valueAt(record, path)
    if (value === undefined || value === null || value === '') return null
    const time = Number(value)
    if (!Number.isFinite(time)) throw new RecordError(`${JSON.stringify(value)} is no number of milliseconds`)
    return time > 0 ? new Date(time) : null
  }

const NEVER = /^0000-00-00/
const HAS_ZONE = /(Z|[+-]\d{2}:?\d{2})$/i

/** For a column or `newestFirstBy`: reads a time. Without a zone it is in that of the connection; `0000-00-00` stands for "never". */
export const localTime =
  (path: string) =>
  (record: unknown, { connection }: { readonly connection: { readonly timeZone?: string } }): Date | null => {
    const value = valueAt(record, path)
    if (value === undefined || value === null || value === '' || NEVER.test(String(value))) return null
    const time = parseTime(String(value))
    if (!time) throw new RecordError(`${JSON.stringify(value)} is not a date`)
    return HAS_ZONE.test(String(value)) ? time : inZone(time, connection.timeZone ?? 'UTC')
  }

const DAY = 86_400_000

/** The moment when a wall clock in the zone shows this time; the first one if the clock shows it twice. */
function inZone(wall: Date, zone: string): Date {
  const time = wall.getTime()
  const offsets = [...new Set([time - DAY, time, time + DAY].map((near) => offsetAt(near, zone)))]
  const moments = offsets.map((offset) => time - offset).filter((moment) => moment + offsetAt(moment, zone) === time)
  // A time in a skipped hour gets the offset that applied before it.
  return new Date(moments.length > 0 ? Math.min(...moments) : time - offsetAt(time - DAY, zone))
}

const formats = new Map<string, Intl.DateTimeFormat>()

/** Milliseconds by which the zone is ahead of UTC at that moment. */
function offsetAt(time: number, zone: string): number {
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  formats.set(zone, format)
  const parts = Object.fromEntries(format.formatToParts(time).map(({ type, value }) => [type, Number(value)]))
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(time / 1000) * 1000
}
