/** Signed-in browsers: a signed cookie that names a stored session, so that signing out is final. */
import { randomUUID } from 'node:crypto'
import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyReply } from 'fastify'
import type { Config } from '../../config.ts'
import type { Database } from '../../database/database.ts'
import { deleteRows, findRow, insertRow, type Queries } from '../../pipelines/store.ts'
import type { Secrets } from '../../secrets.ts'
import { authSessions } from '../../system/access.ts'
import { signerFor } from './signed.ts'

export const SESSION_COOKIE = 'devlake_session'
export const CSRF_COOKIE = 'devlake_csrf'

/** What was found out when somebody signed in. What it is worth is decided anew at each request. */
export interface Session {
  readonly sub: string
  readonly name: string
  readonly email: string
  /** Which OIDC provider signed it in; empty: an access token did. */
  readonly provider: string
  readonly groups: readonly string[]
  /** Mark of that access token: with the token the session ends. */
  readonly token_mark: string
}

export interface SessionService {
  /** In the transaction that records it. */
  open(queries: Queries, reply: FastifyReply, session: Session): Promise<void>
  read(cookie: string | undefined): Promise<Session | undefined>
  close(queries: Queries, reply: FastifyReply, cookie: string | undefined): Promise<void>
  readonly cookieOptions: CookieSerializeOptions
}

export function sessionService({ kysely }: Database, secrets: Secrets, config: Config): SessionService {
  const signer = signerFor<{ jti: string }>('session', config, secrets)
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
      await queries.deleteFrom(authSessions.name).where('expires_at', '<', issued).execute()
      await insertRow(queries, authSessions, {
        ...session,
        jti,
        issued_at: issued,
        expires_at: expires,
        last_seen_at: issued,
      })
      reply.setCookie(SESSION_COOKIE, signer.sign({ jti }, expires), { ...cookieOptions, expires })
      // Readable by scripts of the same origin only, which send it back as a header.
      reply.setCookie(CSRF_COOKIE, randomUUID(), { ...cookieOptions, expires, httpOnly: false })
    },
    async read(cookie) {
      const claims = signer.read(cookie)
      const row = claims && (await findRow(kysely, authSessions, { jti: claims.jti }))
      return row && !row.revoked_at && (row.expires_at as Date) > new Date() ? (row as Session) : undefined
    },
    async close(queries, reply, cookie) {
      const claims = signer.read(cookie)
      if (claims) await deleteRows(queries, authSessions, { jti: claims.jti })
      reply.clearCookie(SESSION_COOKIE, cookieOptions)
      reply.clearCookie(CSRF_COOKIE, { ...cookieOptions, httpOnly: false })
    },
  }
}
