/** Sessions of signed-in browsers: a signed cookie names a stored session, so that signing out is final. */
import { randomUUID } from 'node:crypto'
import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyReply } from 'fastify'
import type { Config } from '../../config/config.ts'
import { deleteRows, findRow, insertRow, type Queries } from '../../control-plane/store.ts'
import type { Database } from '../../database/database.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import { authSessions, sessionOrigins } from '../../system/access.ts'
import { signerFor } from './signed.ts'

export const SESSION_COOKIE = 'devlake_session'
export const CSRF_COOKIE = 'devlake_csrf'
const TABLES = [authSessions, sessionOrigins]

/** The facts found at sign-in. The rights that follow from them are decided again at each request. */
export interface Session {
  readonly sub: string
  readonly name: string
  readonly email: string
  /** The OIDC provider that signed the user in; empty: an access token did. */
  readonly provider: string
  readonly groups: readonly string[]
  /** Mark of that access token: the session ends when the token does. */
  readonly token_mark: string
}

interface OpenSession extends Session {
  /** Changes made with this session must send this value: a page of another site cannot know it. */
  readonly csrf: string
}

export interface SessionService {
  /** Runs in the transaction that records the sign-in. */
  open(queries: Queries, reply: FastifyReply, session: Session): Promise<void>
  read(cookie: string | undefined): Promise<OpenSession | undefined>
  close(queries: Queries, reply: FastifyReply, cookie: string | undefined): Promise<void>
  readonly cookieOptions: CookieSerializeOptions
}

export function sessionService({ kysely }: Database, secrets: Secrets, config: Config): SessionService {
  const signer = signerFor<{ jti: string }>('session', config, secrets)
  /** Belongs to this session only: a value that somebody planted, for example from a neighbouring domain, does not match. */
  const csrfOf = (jti: string) => secrets.digest(`csrf ${jti}`)
  const cookieOptions: CookieSerializeOptions = {
    path: '/',
    sameSite: 'lax',
    secure: config.cookieSecure,
    httpOnly: true,
    ...(config.cookieDomain && { domain: config.cookieDomain }),
  }

  return {
    cookieOptions,
    async open(queries, reply, session) {
      const issued = new Date()
      const expires = new Date(issued.getTime() + config.sessionTtlMs)
      const jti = randomUUID()
      const { sub, name, email, provider, groups, token_mark } = session
      for (const table of TABLES) await queries.deleteFrom(table.name).where('expires_at', '<', issued).execute()
      const times = { issued_at: issued, expires_at: expires, last_seen_at: issued }
      await insertRow(queries, authSessions, { jti, sub, name, email, ...times })
      await insertRow(queries, sessionOrigins, { jti, provider, groups, token_mark, expires_at: expires })
      reply.setCookie(SESSION_COOKIE, signer.sign({ jti }, expires), { ...cookieOptions, expires })
      // Only scripts of the same origin can read this cookie; they send its value back as a header.
      reply.setCookie(CSRF_COOKIE, csrfOf(jti), { ...cookieOptions, expires, httpOnly: false })
    },
    async read(cookie) {
      const claims = signer.read(cookie)
      if (!claims) return undefined
      const row = await findRow(kysely, authSessions, { jti: claims.jti })
      const origin = await findRow(kysely, sessionOrigins, { jti: claims.jti })
      const isOpen = row && origin && !row.revoked_at && (row.expires_at as Date) > new Date()
      return isOpen ? ({ ...row, ...origin, csrf: csrfOf(claims.jti) } as OpenSession) : undefined
    },
    async close(queries, reply, cookie) {
      const claims = signer.read(cookie)
      if (claims) for (const table of TABLES) await deleteRows(queries, table, { jti: claims.jti })
      reply.clearCookie(SESSION_COOKIE, cookieOptions)
      reply.clearCookie(CSRF_COOKIE, { ...cookieOptions, httpOnly: false })
    },
  }
}
