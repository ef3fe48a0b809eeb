import { messageOf, UnavailableError, UserError } from '../../errors.ts'
import { type AttemptContext, attempt, type Outcome } from './attempt.ts'
import type { Budget } from './budget.ts'
import type { BudgetStore } from './budget-store.ts'
import type { CredentialPool, Lease } from './credential-pool.ts'
import { HttpFatalError, HttpForbiddenError, HttpRetryableError } from './failure.ts'
import type { HttpEvent } from './http-event.ts'
import { DEFAULT_CLASS, type HttpRequest, type HttpResponse, safeUrl, urlOf, type Verdict } from './http-message.ts'
import { observed } from './observed.ts'

interface SenderContext extends AttemptContext {
  readonly connection: string
  readonly endpoint: string
  /** Further servers that get the connection's credentials. */
  readonly hosts: readonly string[]
  readonly retries: number
  readonly budget: Budget
  readonly pool: CredentialPool
  readonly store: BudgetStore | undefined
  redact(text: string): string
  tell(event: HttpEvent): void
  /** Called with every answer that is not a failure. */
  answered(response: HttpResponse): void
}

/** A request in progress. */
interface Delivery {
  readonly request: HttpRequest
  readonly className: string
  readonly signal: AbortSignal
  /** Credentials with which it is not tried again, and credentials that were refused once. */
  readonly except: Set<string>
  readonly refused: Set<string>
  url: URL
  last: Outcome | undefined
  attempts: number
  limited: number
  redirects: number
}

const MOST_REDIRECTS = 5
/** Number of "come back later" answers per credential after which a request is given up. */
const MOST_LIMITED = 10
const FIRST_BACKOFF = 500
const LONGEST_BACKOFF = 60_000
/** GitHub asks for at least a minute after a secondary limit that does not say when it ends. */
const UNKNOWN_LIMIT = 60_000
/** Shorter waits are normal pacing and are not reported. */
const WAIT_WORTH_TELLING = 5_000

/** Connections that have answered in this process, so that their endpoint is known to be right. */
const answering = new WeakSet<CredentialPool>()

/** Sends a request until it has an answer. Decides about credential, time, number of attempts and redirects. */
export function createSender(
  context: SenderContext,
): (request: HttpRequest, signal: AbortSignal) => Promise<HttpResponse> {
  const { endpoint, hosts, pool } = context
  const news = createNews(context)
  const enter = createEntrance(context, news)
  return async (request, signal) => {
    const delivery: Delivery = {
      request,
      signal,
      className: request.class ?? DEFAULT_CLASS,
      url: urlOf(endpoint, request, hosts),
      except: new Set(),
      refused: new Set(),
      last: undefined,
      attempts: 0,
      limited: 0,
      redirects: 0,
    }
    for (;;) {
      let permit: Awaited<ReturnType<typeof enter>>
      try {
        permit = await enter(delivery)
      } catch (error) {
        // The store of the budget does not answer, which is not the source's fault.
        if (signal.aborted || error instanceof UnavailableError) throw error
        await pause(context, news, delivery, { reason: `not sent: ${messageOf(error)}`, heavy: false })
        continue
      }
      if (!permit) return noCredentialLeft(context, news, delivery)
      try {
        const { lease } = permit
        const sent = { connection: context.connection, method: request.method ?? 'GET', url: delivery.url }
        delivery.last = await observed(sent, () => attempt(context, { ...delivery, lease }, signal))
        remember(context, news, delivery, permit.lease)
      } finally {
        permit.end()
        permit.lease.release()
      }
      const { verdict, response } = delivery.last
      if (verdict.kind === 'ok') {
        answering.add(pool)
        context.answered(response!)
        return response!
      }
      if (verdict.kind === 'retry') await pause(context, news, delivery, verdict)
      else goOn(context, news, delivery, verdict)
    }
  }
}

type News = ReturnType<typeof createNews>

/** Reports about requests to the user of a run. */
function createNews({ connection, clock, count, redact, tell }: SenderContext) {
  const say = (text: string) => redact(`Connection "${connection}": ${text}`)
  let toldUntil = 0
  return {
    say,
    tell,
    tellWait(className: string, until: Date, why: string) {
      count(className, { waits: 1 })
      // Parallel requests wait for the same moment, so it is reported once.
      const isNews = Math.abs(until.getTime() - toldUntil) > 1000
      if (!isNews || until.getTime() - clock.now() < WAIT_WORTH_TELLING) return
      toldUntil = until.getTime()
      tell({ kind: 'waiting', until, message: say(`${why}; waiting until ${until.toISOString()}`) })
    },
    tellLost(credential: string, reason: string) {
      tell({ kind: 'credential-lost', credential, message: say(`${credential} is no longer used: ${reason}`) })
    },
  }
}

/** Waits for a credential and a slot that are free at the same moment. Undefined if no credential is left to try. */
function createEntrance({ pool, budget, store, quota }: SenderContext, { tellWait, tellLost }: News) {
  /** Credentials that the server refused to this client. */
  const refusedHere = new Set<string>()
  return async ({ className, request, except, signal }: Delivery) => {
    for (;;) {
      const lease = await pool.take(className, signal, {
        except,
        prefer: request.preferCredential,
        refused: refusedHere,
        // Without a quota reader there is nothing to share.
        store: quota && store,
        onWait: (until) =>
          tellWait(className, until, `every credential has reached its limit for ${className} requests`),
        onLost: tellLost,
      })
      if (!lease) return undefined
      try {
        const tellPace = (until: Date) =>
          tellWait(className, until, `the rate set for ${className} requests is reached`)
        const end = await budget.enter(className, signal, tellPace, store)
        if (lease.isUsable()) return { lease, end }
        end()
      } catch (error) {
        lease.release()
        throw error
      }
      lease.release()
    }
  }
}

const where = ({ request, url }: Delivery) => `${request.method ?? 'GET'} ${safeUrl(url)}`

interface Failure {
  readonly reason: string
  readonly heavy: boolean
  readonly retryAfterMs?: number
}

/** Waits after a failed attempt, or throws if it was the last. */
async function pause(
  { clock, retries, pool, count }: SenderContext,
  { say, tell }: News,
  delivery: Delivery,
  { reason, heavy, retryAfterMs = 0 }: Failure,
): Promise<void> {
  const { request, className, last, url } = delivery
  const attempts = ++delivery.attempts
  const heavyMost = heavy ? (request.heavyAttempts ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY
  const most = Math.min(retries + 1, heavyMost)
  if (attempts >= most) {
    const times = attempts === 1 ? 'once' : `${attempts} times`
    const status = last?.response?.status
    if (last?.verdict.kind === 'retry' && last.verdict.isWebPage && !answering.has(pool)) {
      throw new UserError(say(webPage(url)))
    }
    throw new HttpRetryableError(say(`${where(delivery)} failed ${times}, last with: ${reason}`), {
      address: safeUrl(url),
      status,
      heavy,
      ofConnection: status === undefined && !heavy,
      ...(retryAfterMs > 0 && { retryAfterMs }),
    })
  }
  const delayMs = retryAfterMs + clock.random() * Math.min(LONGEST_BACKOFF, FIRST_BACKOFF * 2 ** (attempts - 1))
  count(className, { retries: 1 })
  const next = `attempt ${attempts + 1} of ${most} in ${(delayMs / 1000).toFixed(1)} s`
  tell({ kind: 'retrying', attempt: attempts + 1, delayMs, message: say(`${where(delivery)}: ${reason}; ${next}`) })
  await clock.sleep(delayMs, delivery.signal)
}

/** Notes what an answer says about the credential that was used. */
function remember({ clock, pool }: SenderContext, { tellLost }: News, delivery: Delivery, lease: Lease): void {
  const { verdict } = delivery.last as Outcome
  const { except, refused, className } = delivery
  if (verdict.kind === 'forbidden') except.add(lease.name)
  if (verdict.kind === 'unauthorized') {
    if (lease.refused(verdict.reason)) tellLost(lease.name, verdict.reason)
    if (refused.has(lease.name)) except.add(lease.name)
    refused.add(lease.name)
  }
  if (verdict.kind === 'limited') {
    const waits = Math.floor(delivery.limited++ / pool.size)
    const end = verdict.until?.getTime() ?? clock.now() + UNKNOWN_LIMIT * 2 ** waits
    // A reset that is past by our clock may not be past by the server's. And a second reset of "now" is not trusted.
    const least = verdict.ofClass || waits > 0 ? Math.min(LONGEST_BACKOFF, 1000 * 2 ** waits) : 0
    lease.pause(Math.max(end, clock.now() + least), verdict.ofClass ? className : undefined)
  }
}

/** Handles an answer that is neither a success nor a passing failure. Returns if there is still something to try, else throws. */
function goOn({ endpoint, hosts, pool }: SenderContext, { say }: News, delivery: Delivery, verdict: Verdict): void {
  const { url, limited, last } = delivery
  const status = last?.response?.status
  switch (verdict.kind) {
    case 'limited':
      if (limited < MOST_LIMITED * pool.size) return
      throw new HttpRetryableError(
        say(`${where(delivery)} was put off ${limited} times, last with: ${verdict.reason}`),
        { address: safeUrl(url), status, ofConnection: true },
      )
    case 'redirect': {
      const target = new URL(verdict.location, url)
      const isKnown = [endpoint, ...hosts].some((host) => URL.parse(host)?.origin === target.origin)
      if (target.origin !== url.origin && !isKnown) throw new UserError(say(elsewhere(url, target)))
      delivery.url = target
      if (++delivery.redirects <= MOST_REDIRECTS) return
      throw new HttpFatalError(say(`${where(delivery)} redirects more than ${MOST_REDIRECTS} times`), {
        address: safeUrl(target),
        status,
      })
    }
    case 'misconfigured':
      throw new UserError(say(verdict.reason))
    case 'too-large':
    case 'failed':
      throw new HttpFatalError(say(`${where(delivery)}: ${verdict.reason}`), {
        address: safeUrl(url),
        status,
        heavy: verdict.kind === 'too-large',
      })
  }
}

function noCredentialLeft({ pool }: SenderContext, { say }: News, delivery: Delivery): HttpResponse {
  const { last, request, url } = delivery
  if (last?.response && request.accept?.includes(last.response.status)) return last.response
  const message = say(noneAccepted(where(delivery), last?.verdict, pool.losses()))
  throw last?.verdict.kind === 'forbidden' ? new HttpForbiddenError(message, safeUrl(url)) : new UserError(message)
}

const webPage = (url: URL) =>
  `${safeUrl(url)} answers with a web page instead of JSON. Check the endpoint: it must be the address of the API`

/** Message for a redirect to another origin, which must not get the credentials. */
const elsewhere = (from: URL, to: URL) =>
  `${safeUrl(from)} redirects to another server, ${safeUrl(to)}. If the API has moved there, change the connection's endpoint`

function noneAccepted(where: string, verdict: Verdict | undefined, losses: readonly string[]): string {
  if (verdict?.kind === 'forbidden') {
    return `${where} is forbidden: ${verdict.reason}. Check the permissions of the connection's credentials, and that they reach this organisation or project`
  }
  const reasons =
    losses.length > 0 ? losses.join('; ') : verdict?.kind === 'unauthorized' ? verdict.reason : 'none is left'
  return `the server accepts none of the credentials (${reasons}) for ${where}. Check that they are complete, not expired and not revoked, and save new ones`
}
