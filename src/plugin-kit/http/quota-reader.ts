import type { HttpResponse } from './http-message.ts'
import type { Quota } from './quota.ts'

export type QuotaReader = (response: HttpResponse, now: number) => Quota | undefined

interface QuotaHeaders {
  readonly remaining: string
  readonly reset: string
  readonly limit?: string
  /** Header with the endpoint class. */
  readonly class?: string
  /** Form of `reset`: a time (seconds since 1970), a number of seconds from now, or a date as text. */
  readonly resetIs?: 'time' | 'seconds' | 'date'
}

/** Reads a vendor's quota headers. A limit of 0 means that the server has none (GitHub Enterprise with limits off). */
export function quotaFromHeaders(names: QuotaHeaders): QuotaReader {
  return ({ headers }, now) => {
    const number = (name: string | undefined) => Number.parseFloat((name && headers[name]) || 'NaN')
    const remaining = number(names.remaining)
    const isDate = names.resetIs === 'date'
    const reset = isDate ? Date.parse(headers[names.reset] ?? '') / 1000 : number(names.reset)
    if (Number.isNaN(remaining) || Number.isNaN(reset) || number(names.limit) === 0) return undefined
    const from = names.resetIs === 'seconds' ? now : 0
    const named = names.class && headers[names.class]
    return { remaining, resetsAt: new Date(from + reset * 1000), ...(named && { class: named }) }
  }
}
