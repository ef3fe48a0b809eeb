import type { RawRecord } from '../../database/table.ts'
import { messageOf } from '../../errors.ts'
import { HttpFatalError } from './failure.ts'
import { type HttpResponse, safeUrl } from './http-message.ts'

/** Names of lists that hold errors or warnings instead of records. */
const COMPLAINTS = /^(errors?|error_?messages|warnings|warning_?messages|messages)$/i

/** The body itself, or the only list in it. If the list is not paged, the body may also be the record. Throws if there is no such list. */
export function listIn(body: RawRecord, isPaged: boolean): readonly RawRecord[] {
  if (Array.isArray(body)) return body
  if (body === null || typeof body !== 'object') throw new Error('there is no list in it')
  const lists = Object.entries(body).filter(([name, value]) => Array.isArray(value) && !COMPLAINTS.test(name))
  if (lists.length === 1) return lists[0]?.[1] as RawRecord[]
  if (isPaged) throw new Error(lists.length === 0 ? 'there is no list in it' : `there are ${lists.length} lists in it`)
  return [body]
}

export function unexpectedForm({ url, status }: HttpResponse, cause: unknown): HttpFatalError {
  const address = safeUrl(url)
  return new HttpFatalError(`${address}: the answer has an unexpected form: ${messageOf(cause)}`, { address, status })
}
