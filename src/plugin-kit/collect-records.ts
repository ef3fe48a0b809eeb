/** The records of a page. */
import { FatalError, messageOf } from '../errors.ts'
import { valueAt } from './entity.ts'

/** Reading the records of an error's body may fail; that counts only when the answer was no accepted error. */
export function recordsReader(read: ((body: any) => readonly unknown[]) | undefined) {
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

/** Whether the time in a record lies before. */
export function isOlder(record: unknown, path: string, since: Date): boolean {
  const value = valueAt(record, path)
  return typeof value === 'string' && Date.parse(value) < since.getTime()
}
