import { parseExactBytes } from '../../database/exact-json.ts'
import { messageOf, UserError } from '../../errors.ts'
import type { Budget } from './budget.ts'
import type { Clock } from './clock.ts'
import type { CredentialPool, Lease } from './credential-pool.ts'
import { HttpFatalError, HttpForbiddenError, HttpRetryableError } from './failure.ts'
import type { HttpEvent } from './http-event.ts'
import { DEFAULT_CLASS, type HttpRequest, type HttpResponse, safeUrl, urlOf, type Verdict } from './http-message.ts'
import { judge } from './judge.ts'
import type { QuotaReader } from './quota.ts'
import { ExchangeFailed, ResponseTooLarge, type Transport } from './transport.ts'
import type { UsageCounts } from './usage.ts'

export interface SenderContext {
  readonly connection: string
  readonly endpoint: string
  /** Further servers that are given the connection's credentials. */
  readonly hosts: readonly string[]
  readonly retries: number
  readonly clock: Clock
  readonly transport: Transport
  readonly budget: Budget
  readonly pool: CredentialPool
  readonly quota: QuotaReader | undefined
  /** Sent with every request. */
  readonly headers: Headers
  readonly sign: ((credential: string) => Headers) | undefined
  count(className: string, what: Partial<UsageCounts>): void
  redact(text: string): string
  tell(event: HttpEvent): void
  /** Called with every answer that is no failure. */
  answered(response: HttpResponse): void
}

type Headers = Readonly<Record<string, string>>

interface Outcome {
  readonly verdict: Verdict
  readonly response?: HttpResponse
}

const MOST_REDIRECTS = 5
/** Answers "come back later" to one request, per credential, before it is given up. */
const MOST_LIMITED = 10
const FIRST_BACKOFF = 500
const LONGEST_BACKOFF = 60_000
/** GitHub asks for at least a minute after a secondary limit that does not say when it ends. */
const UNKNOWN_LIMIT = 60_000
/** Shorter waits are pacing, not news. */
const WAIT_WORTH_TELLING = 5_000

/** Connections that have answered in this process: their endpoint is right. */
const answering = new WeakSet<CredentialPool>()

/** Sends a request until it has an answer: with which credential, when, how often and where to. */
export function createSender(
  context: SenderContext,
): (request: HttpRequest, signal: AbortSignal) => Promise<HttpResponse> {
  const { connection, endpoint, hosts, retries, clock, transport, budget, pool, count, tell } = context
  const say = (text: string) => context.redact(`Connection "${connection}": ${text}`)
  /** Credentials that the server refused this client. */
  const refusedHere = new Set<string>()
  let toldUntil = 0

  function tellWait(className: string, until: Date, why: string) {
    count(className, { waits: 1 })
    // Requests side by side wait for the same moment: one word is enough.
    const isNews = Math.abs(until.getTime() - toldUntil) > 1000
    if (!isNews || until.getTime() - clock.now() < WAIT_WORTH_TELLING) return
    toldUntil = until.getTime()
    tell({ kind: 'waiting', until, message: say(`${why}; waiting until ${until.toISOString()}`) })
  }

  function tellLost(credential: string, reason: string) {
    tell({ kind: 'credential-lost', credential, message: say(`${credential} is no longer used: ${reason}`) })
  }

  /** A credential and a place to send with it, both free at the same moment. Undefined when no credential is left to try. */
  async function enter(
    className: string,
    prefer: string | undefined,
    except: ReadonlySet<string>,
    signal: AbortSignal,
  ) {
    for (;;) {
      const lease = await pool.take(className, signal, {
        except,
        prefer,
        refused: refusedHere,
        onWait: (until) =>
          tellWait(className, until, `every credential has reached its limit for ${className} requests`),
        onLost: tellLost,
      })
      if (!lease) return undefined
      try {
        const end = await budget.enter(className, signal, (until) =>
          tellWait(className, until, `the rate set for ${className} requests is reached`),
        )
        if (lease.isUsable()) return { lease, end }
        end()
      } catch (error) {
        lease.release()
        throw error
      }
      lease.release()
    }
  }

  async function attempt(
    url: URL,
    request: HttpRequest,
    lease: Lease,
    className: string,
    signal: AbortSignal,
  ): Promise<Outcome> {
    const isForm = request.body instanceof URLSearchParams
    const body = isForm ? String(request.body) : request.body === undefined ? undefined : JSON.stringify(request.body)
    const type = isForm ? 'application/x-www-form-urlencoded' : 'application/json'
    const headers = {
      accept: 'application/json',
      'user-agent': 'weir',
      ...(body !== undefined && { 'content-type': type }),
      ...(request.ifNoneMatch && { 'if-none-match': request.ifNoneMatch }),
      ...lowerCase(context.headers),
      ...lowerCase(request.headers),
      ...lowerCase(lease.value ? context.sign?.(lease.value) : undefined),
    }
    count(className, { requests: 1 })
    try {
      const { age, ...answer } = await transport.exchange(request.method ?? 'GET', url, headers, body, signal)
      const skew = skewOf(answer.headers, clock.now() - age)
      if (answer.headers.date) lease.saw(skew)
      const { json, malformed } = parse(answer.bytes, request)
      const response: HttpResponse = { ...answer, body: json, url: url.href, credential: lease.name }
      // What a vendor says about time, it says by its own clock.
      const theirNow = clock.now() - skew
      const quota = context.quota?.(response, theirNow)
      if (quota) lease.observe({ ...quota, resetsAt: later(quota.resetsAt, skew) })
      const charged = answer.status === 304 ? {} : { counted: 1, cost: quota?.cost ?? 1 }
      count(className, { bytes: answer.bytes.length, ...charged })
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

  return async (request, signal) => {
    const className = request.class ?? DEFAULT_CLASS
    const except = new Set<string>()
    const refused = new Set<string>()
    let url = urlOf(endpoint, request, hosts)
    let last: Outcome | undefined
    let attempts = 0
    let limited = 0
    let redirects = 0

    const where = () => `${request.method ?? 'GET'} ${safeUrl(url)}`

    /** After a failed attempt: a pause before the next, or the end. */
    async function pause(reason: string, heavy: boolean, retryAfterMs = 0) {
      attempts++
      const most = Math.min(
        retries + 1,
        heavy ? (request.heavyAttempts ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY,
      )
      if (attempts >= most) {
        const times = attempts === 1 ? 'once' : `${attempts} times`
        const status = last?.response?.status
        const details = {
          ...{ address: safeUrl(url), status, heavy, ofConnection: status === undefined && !heavy },
          ...(retryAfterMs > 0 && { retryAfterMs }),
        }
        if (last?.verdict.kind === 'retry' && last.verdict.isWebPage && !answering.has(pool)) {
          throw new UserError(say(webPage(url)))
        }
        throw new HttpRetryableError(say(`${where()} failed ${times}, last with: ${reason}`), details)
      }
      const delayMs = retryAfterMs + clock.random() * Math.min(LONGEST_BACKOFF, FIRST_BACKOFF * 2 ** (attempts - 1))
      count(className, { retries: 1 })
      const next = `attempt ${attempts + 1} of ${most} in ${(delayMs / 1000).toFixed(1)} s`
      tell({ kind: 'retrying', attempt: attempts + 1, delayMs, message: say(`${where()}: ${reason}; ${next}`) })
      await clock.sleep(delayMs, signal)
    }

    /** What an answer says about the credential that it was given to. */
    function remember(lease: Lease, verdict: Verdict) {
      if (verdict.kind === 'forbidden') except.add(lease.name)
      if (verdict.kind === 'unauthorized') {
        if (lease.refused(verdict.reason)) tellLost(lease.name, verdict.reason)
        if (refused.has(lease.name)) except.add(lease.name)
        refused.add(lease.name)
      }
      if (verdict.kind === 'limited') {
        const round = Math.floor(limited++ / pool.size)
        const said = verdict.until?.getTime() ?? clock.now() + UNKNOWN_LIMIT * 2 ** round
        // A reset that has passed by our clock may not have by theirs, and one "now" is not believed twice.
        const least = verdict.ofClass || round > 0 ? Math.min(LONGEST_BACKOFF, 1000 * 2 ** round) : 0
        const until = Math.max(said, clock.now() + least)
        lease.pause(until, verdict.ofClass ? className : undefined)
      }
    }

    for (;;) {
      let place: Awaited<ReturnType<typeof enter>>
      try {
        place = await enter(className, request.preferCredential, except, signal)
      } catch (error) {
        if (signal.aborted) throw error
        await pause(`not sent: ${messageOf(error)}`, false)
        continue
      }
      if (!place) {
        if (last?.response && request.accept?.includes(last.response.status)) return last.response
        const message = say(noCredentialLeft(where(), last?.verdict, pool.losses()))
        throw last?.verdict.kind === 'forbidden'
          ? new HttpForbiddenError(message, safeUrl(url))
          : new UserError(message)
      }
      try {
        last = await attempt(url, request, place.lease, className, signal)
        remember(place.lease, last.verdict)
      } finally {
        place.end()
        place.lease.release()
      }
      const { verdict, response } = last
      const status = response?.status
      switch (verdict.kind) {
        case 'ok':
          answering.add(pool)
          context.answered(response!)
          return response!
        case 'unauthorized':
        case 'forbidden':
          break
        case 'limited':
          if (limited < MOST_LIMITED * pool.size) break
          throw new HttpRetryableError(say(`${where()} was put off ${limited} times, last with: ${verdict.reason}`), {
            ...{ address: safeUrl(url), status, ofConnection: true },
          })
        case 'retry':
          await pause(verdict.reason, verdict.heavy, verdict.retryAfterMs)
          break
        case 'redirect': {
          const target = new URL(verdict.location, url)
          const isKnown = [endpoint, ...hosts].some((host) => URL.parse(host)?.origin === target.origin)
          if (target.origin !== url.origin && !isKnown) throw new UserError(say(elsewhere(url, target)))
          url = target
          if (++redirects <= MOST_REDIRECTS) break
          throw new HttpFatalError(say(`${where()} redirects more than ${MOST_REDIRECTS} times`), {
            ...{ address: safeUrl(url), status },
          })
        }
        case 'misconfigured':
          throw new UserError(say(verdict.reason))
        case 'too-large':
        case 'failed':
          throw new HttpFatalError(say(`${where()}: ${verdict.reason}`), {
            ...{ address: safeUrl(url), status, heavy: verdict.kind === 'too-large' },
          })
      }
    }
  }
}

const later = (time: Date, milliseconds: number) => new Date(time.getTime() + milliseconds)

/** How far our clock is ahead of the server's: whole seconds, as it tells them, in milliseconds. `now` is when the head of the answer arrived. */
function skewOf({ date, age }: Headers, now: number): number {
  // What a cache kept is older than it looks.
  const theirs = Date.parse(date ?? '') + (Number(age) || 0) * 1000
  return Number.isNaN(theirs) ? 0 : Math.ceil((now - theirs) / 1000) * 1000
}

function parse(bytes: Uint8Array, request: HttpRequest): { json?: unknown; malformed?: string } {
  if (request.as === 'bytes' || bytes.length === 0) return {}
  try {
    return { json: parseExactBytes(bytes) }
  } catch (error) {
    return { malformed: messageOf(error) }
  }
}

/** A page in front of the API says so in the middle of a run too: whether the endpoint is wrong shows when nothing else comes. */
function misread(response: HttpResponse, malformed: string): Verdict {
  if (/html/i.test(response.headers['content-type'] ?? '')) {
    return {
      kind: 'retry',
      reason: `${response.status} with a web page instead of JSON`,
      heavy: false,
      isWebPage: true,
    }
  }
  // The parser's message quotes the body, which is none of a log's business.
  const place = / at position \d+/.exec(malformed)?.[0] ?? ''
  return { kind: 'retry', reason: `${response.status} with malformed JSON${place}`, heavy: true }
}

const webPage = (url: URL) =>
  `${safeUrl(url)} answers with a web page instead of JSON. Check the endpoint: it must be the address of the API`

const SILENCE: Verdict = { kind: 'retry', reason: '200 without a body', heavy: false }
/** A success has something to say, unless its status says that it has not (204). */
const isSilent = (request: HttpRequest, { status, bytes }: HttpResponse): boolean =>
  status === 200 && bytes.length === 0 && request.as !== 'bytes' && !/^HEAD$/i.test(request.method ?? 'GET')

const lowerCase = (headers: Headers = {}) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** Another origin would be given the credentials. */
const elsewhere = (from: URL, to: URL) =>
  `${safeUrl(from)} redirects to another server, ${safeUrl(to)}. If the API has moved there, change the connection's endpoint`

function noCredentialLeft(where: string, verdict: Verdict | undefined, losses: readonly string[]): string {
  if (verdict?.kind === 'forbidden') {
    return `${where} is forbidden: ${verdict.reason}. Check the permissions of the connection's credentials, and that they reach this organisation or project`
  }
  const reasons =
    losses.length > 0 ? losses.join('; ') : verdict?.kind === 'unauthorized' ? verdict.reason : 'none is left'
  return `the server accepts none of the credentials (${reasons}) for ${where}. Check that they are complete, not expired and not revoked, and save new ones`
}
