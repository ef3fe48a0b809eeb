/** Finds the records in the answer that brought a page. */
import type { RawRecord } from '../../database/table.ts'
import { messageOf } from '../../errors.ts'
import { type HttpResponse, listIn, unexpectedForm } from '../http/index.ts'
import { slicesOf } from '../raw/json-slices.ts'
import { type TimeSource, timeIn } from '../spec/times.ts'

/** A record and the answer that brought it. */
export interface Found {
  readonly record: unknown
  readonly response: HttpResponse
}

/** Reading records from the body of an error may fail. That only matters if the answer was not an accepted error. */
export function recordsReader(read: ((body: RawRecord) => readonly unknown[]) | undefined, isPaged: boolean) {
  let failure: unknown
  const of = (body: RawRecord): readonly unknown[] => {
    failure = undefined
    try {
      const records = read ? read(body) : listIn(body, isPaged)
      if (!Array.isArray(records)) throw new Error('there is no list in it')
      return records
    } catch (error) {
      failure = error
      return []
    }
  }
  return {
    of,
    /** Says what is wrong with an answer that has no list. */
    wrongWith(body: RawRecord): string | undefined {
      of(body)
      return failure === undefined ? undefined : `an answer with an unexpected form: ${messageOf(failure)}`
    },
    check(response: HttpResponse) {
      if (failure !== undefined) throw unexpectedForm(response, failure)
    },
  }
}

/** Gives the bytes of a record as the vendor sent them; or new JSON, if it was assembled from several answers (`grown`). */
export function bytesReader(found: readonly Found[], grown: ReadonlySet<unknown>): (one: Found) => Buffer {
  const slices = new Map<HttpResponse, ReadonlyMap<unknown, Buffer>>()
  const slicesIn = (response: HttpResponse) => {
    const known = slices.get(response)
    if (known) return known
    const records = found.flatMap((each) => (each.response === response ? [each.record] : []))
    const made = slicesOf(response.bytes, response.body, records)
    slices.set(response, made)
    return made
  }
  return ({ record, response }) => {
    const { buffer, byteOffset, byteLength } = response.bytes
    if (grown.has(record)) return Buffer.from(JSON.stringify(record))
    if (record === response.body) return Buffer.from(buffer, byteOffset, byteLength)
    return slicesIn(response).get(record) ?? Buffer.from(JSON.stringify(record))
  }
}

/** True if the record has a time, and it is before `since`. */
export function isOlder(record: unknown, by: TimeSource, since: Date, context: unknown): boolean {
  return (timeIn(record, by, context) ?? Number.POSITIVE_INFINITY) < since.getTime()
}
