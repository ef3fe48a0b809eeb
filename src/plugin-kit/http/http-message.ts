import type { RawRecord } from '../../database/table.ts'
import { UserError } from '../../errors.ts'
import { isSecretParameter } from '../../secrets/address-secrets.ts'
import { HttpFatalError } from './failure.ts'
import type { Quota } from './quota.ts'

type QueryValue = string | number | boolean | readonly (string | number)[] | undefined
export type Query = Readonly<Record<string, QueryValue>>

/** A request. Every request of the kit only reads, whatever its method, so it may be sent again. */
export interface HttpRequest {
  readonly method?: string
  /** Relative to the connection's endpoint, or absolute on the same origin or another host of the connection. */
  readonly path: string
  /** Undefined values are left out; a list repeats its name for each item. */
  readonly query?: Query
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON; URLSearchParams are sent as a form. */
  readonly body?: unknown
  /** Endpoint class for pacing and quota, named after the vendor's own: core, search, graphql. */
  readonly class?: string
  /** ETag of an earlier answer: the answer may then be a 304, which most vendors do not charge. */
  readonly ifNoneMatch?: string
  /** The credential that got the ETag (`HttpResponse.credential`): vendors compute ETags per credential. */
  readonly preferCredential?: string
  /** Statuses that count as an answer and not as a failure, such as 404 for "nothing here". */
  readonly accept?: readonly number[]
  /** For a caller that can ask for less instead: number of attempts if the answer is too heavy for the server. */
  readonly heavyAttempts?: number
  /** 'bytes' skips reading the body as JSON. */
  readonly as?: 'json' | 'bytes'
  /** For vendors that answer 200 and put the failure in the body. */
  readonly check?: (response: HttpResponse, now: number, quota: Quota | undefined) => Verdict | undefined
  /** Says what is missing in an answer that is accepted nevertheless; it becomes a gap. */
  readonly problems?: (response: HttpResponse) => readonly string[]
}

export interface HttpResponse {
  readonly status: number
  /** Names in lower case; repeated headers joined by a comma. */
  readonly headers: Readonly<Record<string, string>>
  /** The parsed JSON; undefined if the body is empty or was asked for as bytes. */
  readonly body: RawRecord
  readonly bytes: Uint8Array
  /** The address after redirects. */
  readonly url: string
  /** Name of the credential of the pool that was used; never the secret. */
  readonly credential: string
}

/** The meaning of an answer for its request. */
export type Verdict =
  | { readonly kind: 'ok' }
  | { readonly kind: 'redirect'; readonly location: string }
  /** `heavy`: asking for less at once may help. `isWebPage`: if nothing else ever comes, the endpoint is wrong. */
  | {
      readonly kind: 'retry'
      readonly reason: string
      readonly heavy: boolean
      readonly retryAfterMs?: number
      readonly isWebPage?: boolean
    }
  /** The credential may not be used again before `until`: for any request or, with `ofClass`, for requests of this class. */
  | { readonly kind: 'limited'; readonly reason: string; readonly until?: Date; readonly ofClass: boolean }
  | { readonly kind: 'unauthorized'; readonly reason: string }
  | { readonly kind: 'forbidden'; readonly reason: string }
  | { readonly kind: 'too-large'; readonly reason: string }
  /** The user has to correct the settings of the connection. */
  | { readonly kind: 'misconfigured'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string }

export const DEFAULT_CLASS = 'core'

/** More layers of percent-encoding than anybody needs. */
const DEEPEST_ENCODING = 5

/** Returns a path that stays below the path to which it is appended, however often servers on the way decode it. */
function belowPath(path: string): string {
  let plain = path.replace(/[?#].*$/s, '')
  let isBelow = !plain.includes('\\')
  for (let layer = 0; isBelow; layer++) {
    // URL parsers drop tabs and line breaks, and some servers drop everything after a semicolon.
    const parts = plain.replace(/[\t\r\n]/g, '').split(/[/\\]/)
    isBelow = layer < DEEPEST_ENCODING && !parts.some((part) => /^\.{1,2}(?:;.*)?$/.test(part))
    const decoded = plain.replace(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)))
    if (isBelow && decoded === plain) return path.replace(/^\//, '')
    plain = decoded
  }
  throw new UserError('The path must lie below the endpoint of the connection: write it without .. and backslashes.')
}

/** An empty path is the endpoint itself, to the letter: GraphQL has one address. */
const pathBelow = (base: string, path: string): string =>
  path === '' ? base : `${base.replace(/\/$/, '')}/${belowPath(path)}`

/** The absolute URL of a request. Refuses another origin, because the connection's credentials would be sent to it. */
export function urlOf(endpoint: string, request: HttpRequest, hosts: readonly string[] = []): URL {
  const base = new URL(endpoint)
  const url = /^[a-z][a-z0-9+.-]*:/i.test(request.path)
    ? new URL(request.path)
    : new URL(base.origin + pathBelow(base.pathname, request.path))
  if (url.origin !== base.origin && !hosts.some((host) => URL.parse(host)?.origin === url.origin)) {
    const message = `${safeUrl(url)} is outside of the connection's endpoint ${safeUrl(base)}`
    throw new HttpFatalError(message, { address: safeUrl(url) })
  }
  for (const [name, value] of Object.entries(request.query ?? {})) {
    url.searchParams.delete(name)
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined) url.searchParams.append(name, String(one))
    }
  }
  return url
}

/** A URL as it may appear in a message: no user, no password, no secret parameter. */
export function safeUrl(address: URL | string): string {
  const url = URL.parse(String(address))
  if (!url) return '(not a URL)'
  url.username = ''
  url.password = ''
  for (const name of new Set(url.searchParams.keys())) {
    if (isSecretParameter(name)) url.searchParams.set(name, '***')
  }
  return url.href
}
