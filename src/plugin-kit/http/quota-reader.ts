import type { HttpResponse } from './http-message.ts'
import type { Quota } from './quota.ts'

export type QuotaReader = (response: HttpResponse, now: number) => Quota | undefined

interface QuotaHeaders {
  readonly remaining: string
  readonly reset: string
  readonly limit?: string
  /** Header with the endpoint class. */
  readonly class?: string
  /** Form of `reset`: a time (seconds or milliseconds since 1970), a number of seconds from now, or a date as text. */
  readonly resetIs?: 'time' | 'milliseconds' | 'seconds' | 'date'
}

/** Reads a vendor's quota headers. A limit of 0 means that the server has none (GitHub Enterprise with limits off). */
export function quotaFromHeaders(names: QuotaHeaders): QuotaReader {
  return ({ headers }, now) => {
    const number = (name: string | undefined) => Number.parseFloat((name && headers[name]) || 'NaN')
    const remaining = number(names.remaining)
    const isDate = names.resetIs === 'date'
    const unit = names.resetIs === 'milliseconds' ? 1 : 1000
    const reset = isDate ? Date.parse(headers[names.reset] ?? '') : number(names.reset) * unit
    if (Number.isNaN(remaining) || Number.isNaN(reset) || number(names.limit) === 0) return undefined
    const from = names.resetIs === 'seconds' ? now : 0
    const named = names.class && headers[names.class]
    return { remaining, resetsAt: new Date(from + reset), ...(named && { class: named }) }
  }
}
