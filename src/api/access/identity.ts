/** Finds the user of a request: by access token, session, or a proxy that signs people in. */
import type { FastifyRequest } from 'fastify'
import type { Config, Grant } from '../../config/config.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import { type AccessToken, type AccessTokens, accessMode, sameSecret } from './access-token.ts'
import { providersOf, refusalOf } from './oidc.ts'
import { EVERYTHING, grantsOfGroups } from './roles.ts'
import { SESSION_COOKIE, type Session, type SessionService } from './sessions.ts'

export interface User {
  /**
   * Identifies the user. Users of OIDC and of API keys keep it when their name changes. Empty: the name is only claimed, and
   * nobody has checked it.
   */
  readonly id: string
  readonly name: string
  readonly email: string
  readonly grants: readonly Grant[]
}

const PROXY_SECRET_HEADER = 'x-weir-proxy-secret'

export const bearerOf = ({ headers }: FastifyRequest): string | undefined =>
  /^Bearer\s+(\S+)$/i.exec(headers.authorization ?? '')?.[1]

const ofToken = ({ name, grants }: AccessToken): User => ({ id: `token:${name}`, name, email: '', grants })

/** Judges a session by the present settings, not by those at sign-in. */
function ofSession(session: Session, config: Config, tokens: AccessTokens): User | undefined {
  const { sub, name, email, groups, provider: providerName } = session
  if (providerName === '') {
    const token = tokens.marked(session.token_mark)
    return token && ofToken(token)
  }
  const provider = providersOf(config).find((each) => each.name === providerName)
  if (!provider || refusalOf(provider, session)) return undefined
  return { id: `${providerName}:${sub}`, name, email, grants: grantsOfGroups(provider.roles, groups) }
}

const textOf = (header: string | string[] | undefined) => (typeof header === 'string' ? header.trim() : '')

function ofProxy({ headers }: FastifyRequest, { proxyIdentityRoles }: Config): User | undefined {
  const email = textOf(headers['x-forwarded-email'])
  const name = textOf(headers['x-forwarded-user']) || email
  if (name === '') return undefined
  const groups = textOf(headers['x-forwarded-groups'])
    .split(',')
    .map((group) => group.trim())
  return { id: `proxy:${name}`, name, email, grants: grantsOfGroups(proxyIdentityRoles, groups) }
}

/** Names for `creator` and the like, only for open installations, where no rights depend on them: anyone can write these headers. */
function ofHearsay({ headers }: FastifyRequest): User | undefined {
  const email = textOf(headers['x-forwarded-email'])
  const [, basic] = /^Basic\s+(\S+)$/i.exec(headers.authorization ?? '') ?? []
  const [user] = basic ? Buffer.from(basic, 'base64').toString().split(':') : []
  const name = textOf(headers['x-forwarded-user']) || email || user
  return name ? { id: '', name, email, grants: EVERYTHING } : undefined
}

interface Found {
  readonly user?: User | undefined
  /** The reason why the credentials were not accepted. */
  readonly failure?: string
  /** Set if the user was found by a session, whose cookie a browser adds by itself: requests that change something must send this value. */
  readonly csrf?: string
}

export function identify(config: Config, secrets: Secrets, tokens: AccessTokens, sessions: SessionService) {
  const mode = accessMode(config)
  const isOpen = mode === 'open' || mode === 'none'
  return async (request: FastifyRequest): Promise<Found> => {
    const bearer = bearerOf(request)
    if (mode === 'token' && bearer) {
      const token = tokens.find(bearer)
      return token ? { user: ofToken(token) } : { failure: 'not an access token' }
    }
    const session = await sessions.read(request.cookies[SESSION_COOKIE])
    const user = session && ofSession(session, config, tokens)
    if (user) return { user, csrf: session.csrf }
    const proxySecret = request.headers[PROXY_SECRET_HEADER]
    if (config.proxyIdentitySecret && proxySecret !== undefined) {
      const isRight = sameSecret(secrets, String(proxySecret), config.proxyIdentitySecret)
      return isRight ? { user: ofProxy(request, config) } : { failure: 'not the secret of the proxy' }
    }
    return { user: isOpen ? ofHearsay(request) : undefined }
  }
}
