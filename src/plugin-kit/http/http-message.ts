import { isSecretParameter } from '../../address-secrets.ts'
import type { RawRecord } from '../../database/table.ts'
import { UserError } from '../../errors.ts'
import { HttpFatalError } from './failure.ts'
import type { Quota } from './quota.ts'

export type QueryValue = string | number | boolean | readonly (string | number)[] | undefined
export type Query = Readonly<Record<string, QueryValue>>

/** Every request of the kit only reads, whatever its method, and may therefore be sent again. */
export interface HttpRequest {
  readonly method?: string
  /** Relative to the connection's endpoint, or absolute on the same origin or another host of the connection. */
  readonly path: string
  /** Undefined values are left out, lists repeat their name. */
  readonly query?: Query
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON; URLSearchParams as a form. */
  readonly body?: unknown
  /** Endpoint class for pacing and quota, named after the vendor's own: core, search, graphql. */
  readonly class?: string
  /** An ETag seen before: the answer may then be a 304, which most vendors do not count. */
  readonly ifNoneMatch?: string
  /** The credential that saw the ETag (`HttpResponse.credential`): vendors compute ETags per credential. */
  readonly preferCredential?: string
  /** Statuses that are an answer and not a failure, such as 404 for "nothing here". */
  readonly accept?: readonly number[]
  /** For a caller that can ask for less instead: attempts at an answer that proves too heavy for the server. */
  readonly heavyAttempts?: number
  /** 'bytes' skips reading the body as JSON. */
  readonly as?: 'json' | 'bytes'
  /** For vendors that answer 200 and put the failure in the body. */
  readonly check?: (response: HttpResponse, now: number, quota: Quota | undefined) => Verdict | undefined
  /** What is missing in an answer that is taken nevertheless: told as a gap. */
  readonly problems?: (response: HttpResponse) => readonly string[]
}

export interface HttpResponse {
  readonly status: number
  /** Names in lower case; repeated headers joined by a comma. */
  readonly headers: Readonly<Record<string, string>>
  /** The parsed JSON; undefined when the body is empty or was asked for as bytes. */
  readonly body: RawRecord
  readonly bytes: Uint8Array
  /** After redirects. */
  readonly url: string
  /** Which credential of the pool was used: a name, never the secret. */
  readonly credential: string
}

/** What an answer means for the request. */
export type Verdict =
  | { readonly kind: 'ok' }
  | { readonly kind: 'redirect'; readonly location: string }
  /** `heavy`: asking for less at once may help. `isWebPage`: where nothing else ever comes, the endpoint is wrong. */
  | {
      readonly kind: 'retry'
      readonly reason: string
      readonly heavy: boolean
      readonly retryAfterMs?: number
      readonly isWebPage?: boolean
    }
  /** The credential may not ask again before `until`: for anything, or with `ofClass` only for this class. */
  | { readonly kind: 'limited'; readonly reason: string; readonly until?: Date; readonly ofClass: boolean }
  | { readonly kind: 'unauthorized'; readonly reason: string }
  | { readonly kind: 'forbidden'; readonly reason: string }
  | { readonly kind: 'too-large'; readonly reason: string }
  /** The user's to fix, in the settings of the connection. */
  | { readonly kind: 'misconfigured'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string }

export const DEFAULT_CLASS = 'core'

/** More layers of encoding than anybody means. */
const DEEPEST_ENCODING = 5

/** A path that stays below the one that it is put behind, however often servers on the way decode it. */
function belowPath(path: string): string {
  let plain = path.replace(/[?#].*$/s, '')
  let isBelow = !plain.includes('\\')
  for (let layer = 0; isBelow; layer++) {
    // Parsers of addresses leave line breaks out, and some servers what follows a semicolon.
    const parts = plain.replace(/[\t\r\n]/g, '').split(/[/\\]/)
    isBelow = layer < DEEPEST_ENCODING && !parts.some((part) => /^\.{1,2}(?:;.*)?$/.test(part))
    const decoded = plain.replace(/%[0-9a-f]{2}/gi, (code) => String.fromCharCode(Number.parseInt(code.slice(1), 16)))
    if (isBelow && decoded === plain) return path.replace(/^\//, '')
    plain = decoded
  }
  throw new UserError('The path must lie below the endpoint of the connection: write it without .. and backslashes.')
}

/** The absolute URL of a request. Refuses another origin, which would be sent the connection's credentials. */
export function urlOf(endpoint: string, request: HttpRequest, hosts: readonly string[] = []): URL {
  const base = new URL(endpoint)
  const url = /^[a-z][a-z0-9+.-]*:/i.test(request.path)
    ? new URL(request.path)
    : new URL(`${base.origin}${base.pathname.replace(/\/$/, '')}/${belowPath(request.path)}`)
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
