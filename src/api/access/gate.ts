/** Decides whether a request may pass. Refuses strange addresses and forged pages first, then finds the user, then checks the role. */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Role } from '../../config/config.ts'
import { type Actor, recordChange } from '../../control-plane/audit/record.ts'
import { UserError } from '../../errors.ts'
import { isKeyed } from '../addresses.ts'
import type { Api, ApiContext } from '../api.ts'
import { accessMode, accessTokens, sameSecret } from './access-token.ts'
import { apiKeyService } from './api-keys.ts'
import { TOO_MANY_ATTEMPTS } from './attempt-limit.ts'
import { delegationOf } from './delegate.ts'
import { ownPageCheck } from './forgery.ts'
import { bearerOf, identify, type User } from './identity.ts'
import { projectFinder } from './projects.ts'
import { EVERYTHING, mayEverywhere, mayIn, maySomewhere, projectsOf } from './roles.ts'
import { isOpenTo, lawOf } from './route-law.ts'
import { CSRF_COOKIE, sessionService } from './sessions.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The user who sends the request, as far as known. */
    user: User | undefined
  }
}

export const actorOf = ({ user, ip }: FastifyRequest): Actor => ({
  id: user?.id || 'anonymous',
  name: user?.name ?? '',
  email: user?.email ?? '',
  address: ip,
})

const grantsOf = ({ user }: FastifyRequest) => user?.grants ?? EVERYTHING
/** True if the user has at least this role in all projects. */
export const mayAsk = (request: FastifyRequest, least: Role): boolean => mayEverywhere(grantsOf(request), least)
/** The projects that the user may see; undefined: all. */
export const visibleProjects = (request: FastifyRequest): readonly string[] | undefined => projectsOf(grantsOf(request))

/** True for requests of monitoring systems, which are never limited. Below /rest they need a key like any other request. */
export const isProbe = (request: FastifyRequest): boolean => lawOf(request).least === 'probe' && !isKeyed(request.raw)

const isSafe = (method: string) => method === 'GET' || method === 'HEAD' || method === 'OPTIONS'

export function installGate(api: Api, context: ApiContext): void {
  const { config, database, secrets, failures } = context
  const isOpen = ['open', 'none'].includes(accessMode(config))
  const keys = apiKeyService(database, secrets)
  const sessions = sessionService(database, secrets, config)
  const requireOwnPage = ownPageCheck(config)
  const userOf = identify(config, secrets, accessTokens(config, secrets), sessions)
  const findProjects = projectFinder(database)
  const proxies = proxyWarning()

  const refuse = (reply: FastifyReply, status: number, message: string) =>
    reply
      .code(status)
      .type('application/json; charset=utf-8')
      .send(JSON.stringify({ success: false, message }))

  /** Counts and records a wrong key or token. Beyond the limit, sends the refusal itself. */
  async function countFailure(request: FastifyRequest, reply: FastifyReply, reason: string) {
    if (!failures.count(request.ip)) return refuse(reply, 429, TOO_MANY_ATTEMPTS)
    await recordFailure(context, request, reason)
    return undefined
  }

  /** Sends the refusal itself if the key is not valid. */
  async function admitKey(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    const bearer = bearerOf(request)
    const problem = request.headers.authorization
      ? 'The Authorization header must read "Bearer", a space, and an API key.'
      : 'An API key is missing: send it as "Authorization: Bearer KEY".'
    if (!bearer) return refuse(reply, 401, problem)
    try {
      request.user = await keys.verify(bearer, routedPath(request))
      return undefined
    } catch (error) {
      if (!(error instanceof UserError)) throw error
      return (await countFailure(request, reply, error.message)) ?? refuse(reply, error.status, error.message)
    }
  }

  async function admitUser(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    const { user, failure, csrf } = await userOf(request)
    request.user = user
    const refused = failure && (await countFailure(request, reply, failure))
    if (refused) return refused
    if (isOpen) return undefined
    if (!user && lawOf(request).least !== 'anyone') {
      return refuse(reply, 401, 'Sign in first, or send a token as "Authorization: Bearer TOKEN".')
    }
    const sent = request.headers['x-csrf-token']
    if (csrf === undefined || isSafe(request.method)) return undefined
    if (typeof sent === 'string' && sameSecret(secrets, sent, csrf)) return undefined
    const how = `Send the value of the cookie ${CSRF_COOKIE} as the header X-CSRF-Token, or sign in again.`
    return refuse(reply, 403, how)
  }

  api.decorateRequest('user', undefined)
  api.addHook('onRequest', async (request, reply) => {
    requirePlainAddress(request)
    if (isProbe(request)) return requireOwnPage(request, false)
    proxies.look(request)
    // A forged page cannot make the signature, so nothing else is checked here.
    if (lawOf(request).least === 'signed' && !isKeyed(request.raw)) return
    const isWithKey = isKeyed(request.raw)
    requireOwnPage(request, isWithKey)
    const delegation = delegationOf()
    if (delegation) request.user = delegation.user
    const refused = delegation ? undefined : await (isWithKey ? admitKey : admitUser)(request, reply)
    if (refused) return refused
    const { least, reach } = lawOf(request)
    if (isOpenTo(least) || mayEverywhere(grantsOf(request), least)) return
    const isPossible = reach !== 'everywhere' && maySomewhere(grantsOf(request), least)
    if (!isPossible) return refuse(reply, 403, lacking(least, reach))
  })
  // Runs after validation: only then is it certain which project the request names.
  api.addHook('preHandler', async (request, reply) => {
    const { least, reach } = lawOf(request)
    if (isOpenTo(least) || reach === 'everywhere' || reach === 'somewhere') return
    const grants = grantsOf(request)
    if (mayEverywhere(grants, least)) return
    const projects = await findProjects(request, reach)
    const isAllowed = projects.length > 0 && projects.every((project) => mayIn(grants, least, project))
    if (!isAllowed) return refuse(reply, 403, lacking(least, reach))
  })
}

/** Warns about a proxy that is not trusted: all visitors behind it have one address, so limits by address count them as one. */
function proxyWarning() {
  let isTold = false
  return {
    look({ headers, ip, socket, log }: FastifyRequest): void {
      const isUntrusted = headers['x-forwarded-for'] !== undefined && ip === socket.remoteAddress
      if (isTold || !isUntrusted) return
      isTold = true
      log.warn(
        `requests from ${ip} have X-Forwarded-For, and it is not in TRUSTED_PROXIES: if it is your proxy, add it there, or all its visitors count as one`,
      )
    },
  }
}

const lacking = (least: string, reach: string) =>
  reach === 'everywhere'
    ? `This needs the role ${least} in all projects: ask an admin for it.`
    : `This needs the role ${least} in the project: ask an admin for it.`

/** Records a failed attempt. The number of attempts per address is limited. */
export const recordFailure = ({ database }: ApiContext, request: FastifyRequest, reason: string): Promise<void> =>
  recordChange(database.kysely, actorOf(request), {
    action: 'sign-in failed',
    subject: 'access',
    key: '',
    before: null,
    after: { reason },
  })

/** Refuses `#`, which clients never send: the router ends the path there, and the patterns of keys must not see more than it does. */
function requirePlainAddress({ url }: FastifyRequest): void {
  if (url.includes('#')) throw new UserError('The address contains a #: write it as %23.')
  if (url.includes('%00')) throw new UserError('The address contains a NUL character (%00): take it out.')
}

/** The path as the router understood it, in whatever form it was sent. A slash within a name stays %2F. */
function routedPath({ routeOptions, params, url }: FastifyRequest): string {
  const values = params as Record<string, string>
  const declared = routeOptions.url
  if (declared === undefined) return url.split('?')[0] as string
  return declared.replace(/:(\w+)|\*/g, (part, name) =>
    name ? (values[name] ?? '').replaceAll('/', '%2F') : (values[part] ?? ''),
  )
}
