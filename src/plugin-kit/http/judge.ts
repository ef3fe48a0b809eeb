import type { HttpRequest, HttpResponse, Verdict } from './http-message.ts'
import type { Quota } from './quota.ts'

const RETRYABLE = new Set([408, 425, 429])
const REDIRECTS = new Set([301, 302, 307, 308])
const HEAVY = new Set([500, 502, 504])
const SAYS_RATE_LIMIT = /rate.?limit|too many requests|abuse detection/i

/** Judges an answer. This is a pure function: the client acts on the result. */
export function judge(request: HttpRequest, response: HttpResponse, quota: Quota | undefined, now: number): Verdict {
  const { status, headers } = response
  const limited = status === 403 || status === 429 ? limitOf(response, quota, now) : undefined
  if (limited) return limited
  const reason = reasonOf(response)
  // These come before accepted statuses, because another credential may get a better answer.
  if (status === 401) return { kind: 'unauthorized', reason }
  if (status === 403) return { kind: 'forbidden', reason: reason + permissionsOf(headers) }
  if (status === 304 || request.accept?.includes(status)) return { kind: 'ok' }
  if (status >= 200 && status < 300) return request.check?.(response, now, quota) ?? { kind: 'ok' }
  // Some GraphQL servers, such as Linear's, send their list of errors with this status.
  const inList = status === 400 && Array.isArray(response.body?.errors) && request.check?.(response, now, quota)
  if (inList) return inList
  if (RETRYABLE.has(status) || status >= 500) {
    const retryAfterMs = retryAfter(headers['retry-after'], now)
    return { kind: 'retry', reason, heavy: HEAVY.has(status), ...(retryAfterMs !== undefined && { retryAfterMs }) }
  }
  if (REDIRECTS.has(status) && headers.location) {
    if (isRead(request)) return { kind: 'redirect', location: headers.location }
    const origin = URL.parse(headers.location)?.origin ?? 'another address'
    return {
      kind: 'failed',
      reason: `${reason}. It redirects to ${origin}, where nothing is sent: enter the address that it leads to`,
    }
  }
  return { kind: 'failed', reason }
}

const isRead = (request: HttpRequest) => /^(GET|HEAD)$/i.test(request.method ?? 'GET')

/** Recognises a refusal that ends with time. A 429 that does not say when counts as an ordinary failure. */
function limitOf(response: HttpResponse, quota: Quota | undefined, now: number): Verdict | undefined {
  const reason = reasonOf(response)
  const wait = retryAfter(response.headers['retry-after'], now)
  if (wait !== undefined) return { kind: 'limited', reason, until: new Date(now + wait), ofClass: false }
  if (quota && quota.remaining <= 0) return { kind: 'limited', reason, until: quota.resetsAt, ofClass: true }
  return SAYS_RATE_LIMIT.test(messageIn(response)) ? { kind: 'limited', reason, ofClass: false } : undefined
}

/** Milliseconds from a Retry-After header: seconds or an HTTP date. */
export function retryAfter(value: string | undefined, now: number): number | undefined {
  if (!value) return undefined
  const seconds = Number(value)
  const wait = Number.isNaN(seconds) ? Date.parse(value) - now : seconds * 1000
  return Number.isNaN(wait) ? undefined : Math.max(0, wait)
}

const LONGEST_EXCERPT = 200

function messageIn({ body, bytes }: HttpResponse): string {
  const problem = body?.message ?? body?.error_description ?? body?.error ?? body?.errorMessages ?? body?.errors
  const texts = (Array.isArray(problem) ? problem : [problem]).map((one) => one?.message ?? one)
  if (problem !== undefined) return texts.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join('; ')
  const text = Buffer.from(bytes.subarray(0, LONGEST_EXCERPT)).toString()
  return /^\s*</.test(text) ? '' : text
}

export function reasonOf(response: HttpResponse): string {
  // The vendor's message becomes part of a sentence of ours, so its full stop is removed.
  const message = messageIn(response)
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/(?<!\.)\.$/, '')
    .slice(0, LONGEST_EXCERPT)
  return message ? `${response.status} ${message}` : String(response.status)
}

/** GitHub lists the permissions a call needs in X-Accepted-GitHub-Permissions and X-Accepted-OAuth-Scopes; others do the same. */
function permissionsOf(headers: Readonly<Record<string, string>>): string {
  const needed = Object.entries(headers).filter(
    ([name, value]) => /^x-accepted-.*(permissions|scopes)$/.test(name) && value,
  )
  return needed.length > 0 ? `; it needs ${needed.map(([, value]) => value).join('; ')}` : ''
}
