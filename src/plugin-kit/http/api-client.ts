import { createHash } from 'node:crypto'
import { UserError } from '../../errors.ts'
import { addressSecrets } from '../../secrets/address-secrets.ts'
import { type Budget, createBudget, type RateLimits } from './budget.ts'
import type { BudgetStore } from './budget-store.ts'
import { type Clock, systemClock } from './clock.ts'
import { createCredentialPool } from './credential-pool.ts'
import type { Credential } from './credential-slot.ts'
import type { HttpEvent } from './http-event.ts'
import type { HttpRequest, HttpResponse } from './http-message.ts'
import { type Page, type PagesOptions, readPages } from './pages.ts'
import type { Paging } from './paging.ts'
import { createSender } from './sender.ts'
import type { SharedConnection, SharedConnections } from './shared-connections.ts'
import { createTransport, type Timeouts } from './transport.ts'
import { createUsage, type Usage } from './usage.ts'

export interface ApiClientOptions {
  /** The connection's name, used in messages. */
  readonly connection: string
  readonly endpoint: string
  /** Addresses of further servers of the same source, which get the credentials too. */
  readonly hosts?: readonly string[]
  readonly credentials?: readonly Credential[]
  /** The headers that carry a credential; not called for a connection without any. */
  readonly sign?: (credential: string) => Readonly<Record<string, string>>
  /** For sources that answer a wrong credential with a sign-in page and a status of success. */
  readonly asksToSignIn?: (response: HttpResponse) => boolean
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Text that must never appear in a message, besides the credentials. */
  readonly secrets?: readonly string[]
  readonly limits?: RateLimits
  /** http://, https:// or socks5://, with user and password if the proxy asks for them. */
  readonly proxy?: string | undefined
  /** PEM certificates that are trusted besides those of the system. */
  readonly certificates?: string | undefined
  /** Accept every certificate (IN_SECURE_SKIP_VERIFY). */
  readonly trustsAnyCertificate?: boolean
  /** `totalMs` is API_TIMEOUT. */
  readonly timeouts?: Partial<Timeouts>
  /** Further attempts after the first (API_RETRY). */
  readonly retries?: number
  readonly maxResponseBytes?: number
  /** Limit for field names and list items in one answer, all together. A larger answer is not parsed. */
  readonly mostValues?: number
  /** Share pacing and quota with the other clients of the same connection. */
  readonly share?: { readonly connections: SharedConnections; readonly key: string }
  /** Replaces the pacing of this process with a budget that other processes share. */
  readonly budget?: Budget
  /** Shares the pace and the quota with other processes too. */
  readonly store?: BudgetStore | undefined
  readonly onEvent?: (event: HttpEvent) => void
  readonly clock?: Clock
}

export interface ApiClient {
  /** Returns the answer if it is a success, a 304 or an accepted status. Otherwise the type of the error says what to do next. */
  send(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse>
  /** Reads page after page, in order. Store `page.state` with a page's records: `options.from` continues from there. */
  pages(request: HttpRequest, paging: Paging, signal: AbortSignal, options?: PagesOptions): AsyncGenerator<Page, void>
  readonly usage: Usage
  /** Number of requests that the source still allows; undefined until it has said so. */
  readonly requestsLeft: number | undefined
  /** Removes the secrets of the connection from a text of any origin. */
  redact(text: string): string
  /** The source's time in the first answer that is not a failure; undefined: no answer yet, or it gives no time. */
  readonly firstAnsweredAt: Date | undefined
  close(): Promise<void>
}

const TIMEOUTS: Timeouts = { connectMs: 10_000, stallMs: 60_000, totalMs: 120_000 }
const MAX_RESPONSE_BYTES = 64 * 1024 * 1024
const RETRIES = 3

export function createApiClient(options: ApiClientOptions): ApiClient {
  const { connection, endpoint, limits = {}, retries = RETRIES, clock = systemClock, sign, headers = {} } = options
  requireUrl(connection, 'endpoint', endpoint, ['https:', 'http:'])
  if (options.proxy) requireUrl(connection, 'proxy', options.proxy, ['http:', 'https:', 'socks5:'])
  const transport = createTransport({
    proxy: options.proxy || undefined,
    certificates: options.certificates,
    trustsAnyCertificate: options.trustsAnyCertificate,
    timeouts: { ...TIMEOUTS, ...options.timeouts },
    maxResponseBytes: options.maxResponseBytes ?? MAX_RESPONSE_BYTES,
  })
  const shared = join(options, clock)
  const { usage, count } = createUsage()
  const redact = createRedactor(() => [
    ...shared.pool.secrets(),
    ...(options.secrets ?? []),
    ...proxySecrets(options.proxy),
  ])
  const tell = (event: HttpEvent) => options.onEvent?.({ ...event, message: redact(event.message) })
  let firstAnsweredAt: Date | undefined
  const answered = ({ headers }: HttpResponse) => {
    const time = Date.parse(headers.date ?? '')
    if (!Number.isNaN(time)) firstAnsweredAt ??= new Date(time)
  }
  const send = createSender({
    ...shared,
    connection,
    endpoint,
    hosts: options.hosts ?? [],
    headers,
    sign,
    asksToSignIn: options.asksToSignIn,
    mostValues: options.mostValues,
    retries,
    clock,
    transport,
    count,
    redact,
    tell,
    answered,
    quota: limits.quota,
    store: options.store,
  })
  return {
    usage,
    redact,
    send,
    get requestsLeft() {
      return shared.pool.requestsLeft()
    },
    get firstAnsweredAt() {
      return firstAnsweredAt
    },
    pages: (request, paging, signal, pagesOptions = {}) => readPages(request, paging, signal, pagesOptions, send, tell),
    close: () => transport.close(),
  }
}

function requireUrl(connection: string, what: string, value: string, protocols: readonly string[]) {
  if (protocols.includes(URL.parse(value)?.protocol ?? '')) return
  const starts = protocols.map((protocol) => `${protocol}//`)
  const choice = `${starts.slice(0, -1).join(', ')} or ${starts.at(-1)}`
  throw new UserError(`Connection "${connection}": the ${what} must be a URL that starts with ${choice}`)
}

function join(options: ApiClientOptions, clock: Clock): SharedConnection {
  const { credentials = [], limits = {}, share } = options
  const create = () => ({
    budget: options.budget ?? createBudget(limits, clock, share?.key),
    pool: createCredentialPool(credentials, clock, URL.parse(options.endpoint)?.origin),
  })
  if (!share) return create()
  const secrets = credentials.map((one) => (typeof one === 'string' ? one : [one.name, one.version]))
  const settings = createHash('sha256')
    .update(JSON.stringify([options.endpoint, secrets, limits]))
    .digest('hex')
  return share.connections.join(share.key, settings, create)
}

/** Shorter texts are not secrets, and hiding them would garble messages. */
const SHORTEST_SECRET = 4

/** The secrets of a proxy's address, with the user and password together as the proxy gets them. */
const proxySecrets = (proxy = ''): readonly string[] => {
  const { username, password } = URL.parse(proxy) ?? {}
  return password || username ? [...addressSecrets(proxy), decodeURIComponent(`${username}:${password}`)] : []
}

/** The forms in which servers may quote a secret. */
const formsOf = (secret: string): readonly string[] => [
  secret,
  encodeURIComponent(secret),
  JSON.stringify(secret).slice(1, -1),
  Buffer.from(secret).toString('base64'),
]

function createRedactor(secrets: () => readonly string[]): (text: string) => string {
  const worth = () => secrets().filter(({ length }) => length >= SHORTEST_SECRET)
  const hide = (text: string, form: string) => text.replaceAll(form, '***')
  return (text) => worth().flatMap(formsOf).reduce(hide, text)
}
