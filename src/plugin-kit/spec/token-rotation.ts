/** For sources whose refresh tokens are good once: see task/rotating-tokens.ts. */
import type { HttpRequest } from '../http/index.ts'
import type { Fields, Settings } from './fields.ts'

export interface TokenRotation {
  /** Whether these settings sign in that way; always unless told. */
  readonly when?: (settings: Settings) => boolean
  /** Asks for new tokens, for `settings.refreshToken`. Answered as in https://www.rfc-editor.org/rfc/rfc6749#section-5 */
  readonly request: (settings: Settings) => HttpRequest
}

/** What a connection needs for it; only the first is asked for. */
export const rotatingFields = {
  refreshToken: { kind: 'secret', label: 'Refresh token', isRotated: true },
  token: { kind: 'secret', label: 'Access token', isManaged: true },
  tokenExpiresAt: { kind: 'time', label: 'Access token expires at', isManaged: true },
  /** Tells whether a refresh token that is given is the one that the stored one descends from. */
  tokenOrigin: { kind: 'secret', label: 'Mark of the refresh token as given', isManaged: true },
} as const satisfies Fields
