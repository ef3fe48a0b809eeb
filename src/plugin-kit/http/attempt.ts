/** Sends one request once, and judges the answer. */
import { parseExactBytes } from '../../database/exact-json.ts'
import { tooMuchIn } from '../../database/json-size.ts'
import { messageOf, UserError } from '../../errors.ts'
import type { Clock } from './clock.ts'
import type { Lease } from './credential-pool.ts'
import type { HttpRequest, HttpResponse, Verdict } from './http-message.ts'
import { judge } from './judge.ts'
import type { QuotaReader } from './quota-reader.ts'
import { ExchangeFailed, ResponseTooLarge, type Transport } from './transport.ts'
import type { UsageCounts } from './usage.ts'

export interface AttemptContext {
  readonly clock: Clock
  readonly transport: Transport
  readonly quota: QuotaReader | undefined
  /** Sent with every request. */
  readonly headers: Headers
  readonly sign: ((credential: string) => Headers) | undefined
  /** Tells whether an answer is a sign-in page. Its status may claim success. */
  readonly asksToSignIn: ((response: HttpResponse) => boolean) | undefined
  /** Limit for field names and list items in one answer; undefined: no limit. */
  readonly mostValues: number | undefined
  count(className: string, what: Partial<UsageCounts>): void
}

type Headers = Readonly<Record<string, string>>

export interface Outcome {
  readonly verdict: Verdict
  readonly response?: HttpResponse
}

interface Target {
  readonly url: URL
  readonly request: HttpRequest
  readonly className: string
  readonly lease: Lease
}

export async function attempt(context: AttemptContext, target: Target, signal: AbortSignal): Promise<Outcome> {
  const { clock, transport, count } = context
  const { url, request, className, lease } = target
  const { body, headers } = messageFor(context, request, lease)
  count(className, { requests: 1 })
  try {
    const { age, ...answer } = await transport.exchange(request.method ?? 'GET', url, headers, body, signal)
    const skew = skewOf(answer.headers, clock.now() - age)
    if (answer.headers.date) lease.saw(skew)
    if (request.as !== 'bytes') requireFewValues(context, answer.bytes)
    const { json, malformed } = parse(answer.bytes, request)
    const response: HttpResponse = { ...answer, body: json, url: url.href, credential: lease.name }
    // Times in a vendor's answer are by its own clock.
    const theirNow = clock.now() - skew
    const quota = context.quota?.(response, theirNow)
    if (quota) lease.observe({ ...quota, resetsAt: later(quota.resetsAt, skew) })
    const charged = answer.status === 304 ? {} : { counted: 1, cost: quota?.cost ?? 1 }
    count(className, { bytes: answer.bytes.length, ...charged })
    if (context.asksToSignIn?.(response)) return { response, verdict: signIn(response) }
    if (malformed && answer.status < 300) return { response, verdict: misread(response, malformed) }
    if (isSilent(request, response)) return { response, verdict: SILENCE }
    const verdict = judge(request, response, quota, theirNow)
    if (verdict.kind !== 'unauthorized') lease.accepted()
    if (verdict.kind !== 'limited' || !verdict.until) return { response, verdict }
    return { response, verdict: { ...verdict, until: later(verdict.until, skew) } }
  } catch (error) {
    if (error instanceof ResponseTooLarge) return { verdict: { kind: 'too-large', reason: error.message } }
    if (error instanceof ExchangeFailed)
      return { verdict: { kind: 'retry', reason: error.message, heavy: error.heavy } }
    if (error instanceof UserError) return { verdict: { kind: 'misconfigured', reason: error.message } }
    throw error
  }
}

function messageFor({ headers, sign }: AttemptContext, request: HttpRequest, lease: Lease) {
  const isForm = request.body instanceof URLSearchParams
  const body = isForm ? String(request.body) : request.body === undefined ? undefined : JSON.stringify(request.body)
  const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json'
  return {
    body,
    headers: {
      accept: 'application/json',
      'user-agent': 'weir',
      ...(body !== undefined && { 'content-type': type }),
      ...(request.ifNoneMatch && { 'if-none-match': request.ifNoneMatch }),
      ...lowerCase(headers),
      ...lowerCase(request.headers),
      ...lowerCase(lease.value ? sign?.(lease.value) : undefined),
    },
  }
}

const later = (time: Date, milliseconds: number) => new Date(time.getTime() + milliseconds)

/** Milliseconds by which our clock is ahead of the server's, in whole seconds. `now` is when the head of the answer arrived. */
function skewOf({ date, age }: Headers, now: number): number {
  // An answer from a cache has an old date; `age` says by how much.
  const theirs = Date.parse(date ?? '') + (Number(age) || 0) * 1000
  return Number.isNaN(theirs) ? 0 : Math.ceil((now - theirs) / 1000) * 1000
}

function requireFewValues({ mostValues = Number.POSITIVE_INFINITY }: AttemptContext, bytes: Uint8Array): void {
  // Any encoding will do: the characters that are counted are the same.
  if (mostValues < bytes.length && tooMuchIn(Buffer.from(bytes).toString('latin1'), { values: mostValues })) {
    throw new ResponseTooLarge(`the answer has more than ${mostValues} names and list items`)
  }
}

function parse(bytes: Uint8Array, request: HttpRequest): { json?: unknown; malformed?: string } {
  if (request.as === 'bytes' || bytes.length === 0) return {}
  try {
    return { json: parseExactBytes(bytes) }
  } catch (error) {
    return { malformed: messageOf(error) }
  }
}

/**
 * A web page instead of JSON can also come from a server in front of the API in the middle of a run. The endpoint is only wrong
 * if nothing else ever comes.
 */
function misread(response: HttpResponse, malformed: string): Verdict {
  if (/html/i.test(response.headers['content-type'] ?? '')) {
    return {
      kind: 'retry',
      reason: `${response.status} with a web page instead of JSON`,
      heavy: false,
      isWebPage: true,
    }
  }
  // The parser's message quotes the body, which must not get into a log.
  const at = / at position \d+/.exec(malformed)?.[0] ?? ''
  return { kind: 'retry', reason: `${response.status} with malformed JSON${at}`, heavy: true }
}

const signIn = ({ status }: HttpResponse): Verdict => ({
  kind: 'unauthorized',
  reason: `${status} with the page to sign in`,
})

const SILENCE: Verdict = { kind: 'retry', reason: '200 without a body', heavy: false }
/** An answer with status 200 must have a body; only a 204 has none. */
const isSilent = (request: HttpRequest, { status, bytes }: HttpResponse): boolean =>
  status === 200 && bytes.length === 0 && request.as !== 'bytes' && !/^HEAD$/i.test(request.method ?? 'GET')

const lowerCase = (headers: Headers = {}) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
