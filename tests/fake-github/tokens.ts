import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import type { Clock } from './clock.ts'
import { DEFAULT_LIMITS, type Limits } from './limits.ts'

export interface TokenOptions {
  readonly token: string
  /** The owner of the token. Tokens of one account share its limits, as on GitHub. By default each token has its own account. */
  readonly login?: string
  /** For a classic token. */
  readonly scopes?: readonly string[]
  /** For a fine-grained or installation token, such as `{ issues: 'read' }`. Missing permissions are refused. By default all are granted. */
  readonly permissions?: Readonly<Record<string, string>>
  readonly limits?: Partial<Limits>
}
export interface AppOptions {
  readonly id: number
  readonly installationId: number
  /** A public key in PEM. The fake checks the signatures of JWTs with it. */
  readonly publicKey: string
  readonly permissions?: Readonly<Record<string, string>>
  readonly tokenSeconds?: number
  readonly limits?: Partial<Limits>
}

export type TokenKind = 'classic' | 'fine-grained' | 'installation'
export interface Bearer {
  readonly token: string
  readonly kind: TokenKind
  readonly login: string
  readonly scopes: readonly string[]
  readonly permissions: Readonly<Record<string, string>> | undefined
  readonly limits: Limits
  readonly expiresAt: number
}

export interface Tokens {
  /** The holder of an `Authorization` header. Undefined if GitHub would answer 401. */
  bearer(authorization: string): Bearer | undefined
  revoke(token: string): void
  /** Issues a new installation token, or returns what is wrong with the JWT. */
  issue(authorization: string | undefined, installationId: number): Bearer | { status: number; message: string }
}

/** A valid classic token of `user-1` with all scopes. It exists unless the options name tokens. */
export const DEFAULT_TOKEN = `ghp_${'fake'.repeat(9)}`
const SCOPES = ['repo', 'read:org', 'read:user', 'user:email', 'workflow']

export function tokens(options: readonly (string | TokenOptions)[], app: AppOptions | undefined, clock: Clock): Tokens {
  const bearers = new Map<string, Bearer>()
  options.forEach((option, ordinal) => {
    const given = typeof option === 'string' ? { token: option } : option
    bearers.set(given.token, {
      token: given.token,
      kind: kindOf(given.token),
      login: given.login ?? `user-${ordinal + 1}`,
      scopes: given.scopes ?? SCOPES,
      permissions: given.permissions,
      limits: { ...DEFAULT_LIMITS, ...given.limits },
      expiresAt: Number.POSITIVE_INFINITY,
    })
  })
  const key = app === undefined ? undefined : createPublicKey(app.publicKey)
  let issued = 0
  return {
    bearer(authorization) {
      const token = /^(?:bearer|token)\s+(\S+)$/i.exec(authorization)?.[1]
      const bearer = token === undefined ? undefined : bearers.get(token)
      return bearer !== undefined && bearer.expiresAt > clock.now() ? bearer : undefined
    },
    revoke(token) {
      if (!bearers.delete(token)) throw new Error('the fake GitHub does not know the token to revoke')
    },
    issue(authorization, installationId) {
      const problem = jwtProblem(authorization, app, key, clock.now())
      if (problem !== undefined) return { status: 401, message: problem }
      if (installationId !== app?.installationId) return { status: 404, message: 'Not Found' }
      issued++
      const bearer: Bearer = {
        token: `ghs_${String(issued).padStart(36, '0')}`,
        kind: 'installation',
        login: `app/${app.id}`,
        scopes: [],
        permissions: app.permissions,
        limits: { ...DEFAULT_LIMITS, ...app.limits },
        expiresAt: clock.now() + (app.tokenSeconds ?? 3600) * 1000,
      }
      bearers.set(bearer.token, bearer)
      return bearer
    },
  }
}

const kindOf = (token: string): TokenKind =>
  token.startsWith('github_pat_') ? 'fine-grained' : token.startsWith('ghs_') ? 'installation' : 'classic'

// https://docs.github.com/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-json-web-token-jwt-for-a-github-app
const LONGEST_LIFE = 600
const CLOCK_DRIFT = 60

function jwtProblem(
  authorization: string | undefined,
  app: AppOptions | undefined,
  key: KeyObject | undefined,
  now: number,
): string | undefined {
  const undecodable = 'A JSON web token could not be decoded'
  const parts = /^bearer\s+(\S+)$/i.exec(authorization ?? '')?.[1]?.split('.')
  if (parts?.length !== 3 || app === undefined || key === undefined) return undecodable
  const [header, payload, signature] = parts as [string, string, string]
  let claims: { iss?: unknown; iat?: unknown; exp?: unknown }
  try {
    if (JSON.parse(Buffer.from(header, 'base64url').toString()).alg !== 'RS256') return undecodable
    claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
  } catch {
    return undecodable
  }
  const signed = Buffer.from(`${header}.${payload}`)
  if (!verify('RSA-SHA256', signed, key, Buffer.from(signature, 'base64url'))) return undecodable
  const { iss, iat, exp } = claims
  const seconds = now / 1000
  if (String(iss) !== String(app.id)) return "'Issuer' claim ('iss') must be the app's ID"
  if (typeof exp !== 'number' || exp <= seconds)
    return "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires"
  if (exp > seconds + LONGEST_LIFE + CLOCK_DRIFT) return "'Expiration time' claim ('exp') is too far in the future"
  if (typeof iat !== 'number' || iat > seconds + CLOCK_DRIFT)
    return "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued"
  return undefined
}
