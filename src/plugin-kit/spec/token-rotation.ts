/** For sources whose refresh tokens can be used only once: see task/rotating-tokens.ts. */
import type { HttpRequest } from '../http/index.ts'
import type { Fields, Settings } from './fields.ts'

export interface TokenRotation {
  /** True if these settings sign in that way; default: always. */
  readonly when?: (settings: Settings) => boolean
  /** Asks for new tokens with `settings.refreshToken`. The answer is as in https://www.rfc-editor.org/rfc/rfc6749#section-5 */
  readonly request: (settings: Settings) => HttpRequest
}

/** Fields that a connection needs for rotation; users are asked only for the first. */
export const rotatingFields = {
  refreshToken: { kind: 'secret', label: 'Refresh token', isRotated: true },
  token: { kind: 'secret', label: 'Access token', isManaged: true },
  tokenExpiresAt: { kind: 'time', label: 'Access token expires at', isManaged: true },
  /** Shows whether a given refresh token is the one from which the stored one descends. */
  tokenOrigin: { kind: 'secret', label: 'Mark of the refresh token as given', isManaged: true },
} as const satisfies Fields
