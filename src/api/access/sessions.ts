/** Signed-in browsers: a signed cookie that names a stored session, so that signing out is final. */
import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'
import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyReply } from 'fastify'
import type { Config } from '../../config.ts'
import type { Database } from '../../database/database.ts'
import { findRow, insertRow, updateRows } from '../../pipelines/store.ts'
import type { Secrets } from '../../secrets.ts'
import { authSessions } from '../../system/access.ts'

export const SESSION_COOKIE = 'devlake_session'
export const CSRF_COOKIE = 'devlake_csrf'

export interface Session {
  readonly jti: string
  readonly sub: string
  readonly name: string
  readonly email: string
  /** Which OIDC provider signed it in; empty: the access token did. */
  readonly provider: string
}

export interface SessionService {
  open(reply: FastifyReply, session: Omit<Session, 'jti'>): Promise<void>
  read(cookie: string | undefined): Promise<Session | undefined>
  close(reply: FastifyReply, cookie: string | undefined): Promise<Session | undefined>
  readonly cookieOptions: CookieSerializeOptions
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

export function sessionService(database: Database, secrets: Secrets, config: Config): SessionService {
  const { kysely } = database
  const key = config.sessionSecret ?? secrets.derive('session cookies')
  const header = encode({ alg: 'HS256', typ: 'JWT' })
  const signatureOf = (text: string) => createHmac('sha256', key).update(text).digest('base64url')
  const cookieOptions: CookieSerializeOptions = {
    path: '/',
    sameSite: 'lax',
    secure: config.cookieSecure,
    httpOnly: true,
    ...(config.cookieDomain && { domain: config.cookieDomain }),
  }

  function claimsOf(cookie = ''): (Session & { exp: number }) | undefined {
    const [head = '', payload = '', signature = ''] = cookie.split('.')
    const expected = Buffer.from(signatureOf(`${head}.${payload}`))
    const sent = Buffer.from(signature)
    if (head !== header || sent.length !== expected.length || !timingSafeEqual(sent, expected)) return undefined
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString())
    return claims.exp * 1000 > Date.now() ? claims : undefined
  }

  return {
    cookieOptions,
    async open(reply, { sub, name, email, provider }) {
      const issued = new Date()
      const expires = new Date(issued.getTime() + config.sessionTtlMs)
      const jti = randomUUID()
      const row = { jti, sub, email, name, issued_at: issued, expires_at: expires, last_seen_at: issued }
      await insertRow(kysely, authSessions, row)
      const times = { iat: Math.floor(issued.getTime() / 1000), exp: Math.floor(expires.getTime() / 1000) }
      const text = `${header}.${encode({ jti, sub, name, email, provider, ...times })}`
      reply.setCookie(SESSION_COOKIE, `${text}.${signatureOf(text)}`, { ...cookieOptions, expires })
      // Readable by scripts of the same origin only, which send it back as a header.
      reply.setCookie(CSRF_COOKIE, randomUUID(), { ...cookieOptions, expires, httpOnly: false })
    },
    async read(cookie) {
      const claims = claimsOf(cookie)
      const row = claims && (await findRow(kysely, authSessions, { jti: claims.jti }))
      return row && !row.revoked_at ? claims : undefined
    },
    async close(reply, cookie) {
      const claims = claimsOf(cookie)
      if (claims) await updateRows(kysely, authSessions, { jti: claims.jti }, { revoked_at: new Date() })
      reply.clearCookie(SESSION_COOKIE, cookieOptions)
      reply.clearCookie(CSRF_COOKIE, { ...cookieOptions, httpOnly: false })
      return claims
    },
  }
}
