/** Who asks, and whether they may: API key, access token, session, proxy; then the gate, then forged requests. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../../audit/audit.ts'
import { UserError } from '../../errors.ts'
import { isKeyed } from '../addresses.ts'
import type { Api, ApiContext } from '../api.ts'
import { accessMode, accessToken, sameSecret } from './access-token.ts'
import { apiKeyService } from './api-keys.ts'
import { requireOwnPage } from './forgery.ts'
import { CSRF_COOKIE, SESSION_COOKIE, sessionService } from './sessions.ts'

export type User = Pick<Actor, 'name' | 'email'>

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks, as far as it is known. */
    user: User | undefined
  }
}

export const actorOf = ({ user, ip }: FastifyRequest): Actor => ({
  name: user?.name ?? '',
  email: user?.email ?? '',
  address: ip,
})

const PUBLIC = /^\/(ping|ready|health|version|proceed-db-migration|auth\/\w+|swagger(\/.*)?)?$/
const isSafe = (method: string) => method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
const pathOf = (url: string) => url.split('?')[0] as string

export function installGate(api: Api, { config, database, secrets, failures }: ApiContext): void {
  const mode = accessMode(config)
  const keys = apiKeyService(database, secrets)
  const sessions = sessionService(database, secrets, config)
  const token = mode === 'token' ? accessToken(config) : undefined

  const refuse = (reply: FastifyReply, status: number, message: string) =>
    reply
      .code(status)
      .type('application/json; charset=utf-8')
      .send(JSON.stringify({ success: false, message }))

  /** Sends the refusal itself when the key is not good. */
  async function admitKey(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    const bearer = bearerOf(request)
    const problem = request.headers.authorization
      ? 'The Authorization header must read "Bearer", a space, and an API key.'
      : 'An API key is missing: send it as "Authorization: Bearer KEY".'
    if (!bearer) return refuse(reply, 401, problem)
    try {
      request.user = await keys.verify(bearer, decodeURI(pathOf(request.url)))
      return undefined
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      failures.count(request.ip)
      return refuse(reply, error.status, error.message)
    }
  }

  async function userOf(request: FastifyRequest): Promise<User | undefined> {
    const bearer = bearerOf(request)
    if (token && bearer) {
      if (sameSecret(secrets, bearer, token)) return { name: 'access token', email: '' }
      failures.count(request.ip)
    }
    const session = await sessions.read(request.cookies[SESSION_COOKIE])
    if (session) return session
    // Anyone can write these headers; they count where a trusted proxy did, or where nothing depends on them.
    const isTrusted = mode === 'open' || mode === 'none' || isTrustedProxy(request)
    return isTrusted ? forwardedUser(request) : undefined
  }
  const isTrustedProxy = ({ socket }: FastifyRequest) => config.trustedProxies.includes(socket.remoteAddress ?? '')

  api.decorateRequest('user', undefined)
  api.addHook('onRequest', async (request, reply) => {
    if (failures.isOver(request.ip)) {
      return refuse(reply, 429, 'Too many wrong keys or tokens from this address: wait a minute.')
    }
    if (request.url.includes('%00')) throw new UserError('The address contains a NUL character (%00): take it out.')
    requireOwnPage(request, mode)
    if (isKeyed(request.raw)) return admitKey(request, reply)
    request.user = await userOf(request)
    if (mode !== 'token' && mode !== 'oidc') return
    if (!request.user && !PUBLIC.test(pathOf(request.url))) {
      return refuse(reply, 401, 'Sign in first, or send a token as "Authorization: Bearer TOKEN".')
    }
    const cookies = request.cookies
    if (cookies[SESSION_COOKIE] && !bearerOf(request) && !isSafe(request.method)) {
      const sent = request.headers['x-csrf-token']
      if (!cookies[CSRF_COOKIE] || sent !== cookies[CSRF_COOKIE]) {
        return refuse(reply, 403, `Send the value of the cookie ${CSRF_COOKIE} as the header X-CSRF-Token.`)
      }
    }
  })
}

const bearerOf = ({ headers }: FastifyRequest): string | undefined =>
  /^Bearer\s+(\S+)$/i.exec(headers.authorization ?? '')?.[1]

function forwardedUser({ headers }: FastifyRequest): User | undefined {
  const name = headers['x-forwarded-user']
  const email = headers['x-forwarded-email']
  if (typeof name === 'string' || typeof email === 'string') {
    return { name: String(name ?? email), email: String(email ?? '') }
  }
  const [, basic] = /^Basic\s+(\S+)$/i.exec(headers.authorization ?? '') ?? []
  const [user] = basic ? Buffer.from(basic, 'base64').toString().split(':') : []
  return user ? { name: user, email: '' } : undefined
}
