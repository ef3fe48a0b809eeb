import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { ROLES } from '../../config/config.ts'
import { type Actor, recordChange } from '../../control-plane/audit/record.ts'
import type { Queries } from '../../control-plane/store.ts'
import { UserError } from '../../errors.ts'
import { body, longText } from '../../plugin-kit/spec/request-values.ts'
import { accessMode, accessTokens } from '../access/access-token.ts'
import { TOO_MANY_ATTEMPTS } from '../access/attempt-limit.ts'
import { actorOf, recordFailure } from '../access/gate.ts'
import { localPath, openOidc, STATE_COOKIE, STATE_MINUTES } from '../access/oidc.ts'
import { EVERYTHING } from '../access/roles.ts'
import { SESSION_COOKIE, type Session, sessionService } from '../access/sessions.ts'
import { type Api, type ApiContext, type Routes, sentAlready } from '../api.ts'
import { answers, failurePages, streams } from '../contract/common.ts'
import { failureOf } from '../envelope.ts'
import { signInPage, wantsPage } from '../sign-in-page.ts'

const tags = ['sign-in']

const provider = z.object({ name: z.string(), displayName: z.string(), loginUrl: z.string() })
const methods = z.object({
  providers: z.array(provider).optional(),
  apiKey: z.object({ enabled: z.boolean() }),
  token: z.object({ enabled: z.boolean() }),
})
const login = z.object({ provider: z.string().optional(), return_url: z.string().optional() })
const redirect = {
  ...answers(303, z.null().meta({ description: 'Redirect to the next page.' }), 401, 403, 502, 503),
  ...failurePages(400, 401, 403, 429, 502, 503),
}
const callback = z.looseObject({ code: z.string().optional(), state: z.string().optional() })
const grant = z.object({ role: z.enum(ROLES), project: z.string().optional() })

/** Created once, because all routes share what these tools remember. */
function signInTools(context: ApiContext) {
  const { config, database, secrets } = context
  const mode = accessMode(config)
  const oidc = openOidc(config, database, secrets)
  const tokens = accessTokens(config, secrets)
  const sessions = sessionService(database, secrets, config)
  const sendPage = (reply: FastifyReply, status: number, problem?: string) =>
    sentAlready(
      reply
        .code(status)
        .type('text/html; charset=utf-8')
        .send(signInPage(config, '../', problem)),
    )
  /** A browser that fails to sign in gets the page again, with the reason. */
  const withPage = async (
    request: FastifyRequest,
    reply: FastifyReply,
    signIn: () => Promise<FastifyReply>,
  ): Promise<never> => {
    try {
      return sentAlready(await signIn())
    } catch (error) {
      if (!wantsPage(request)) throw error
      const { status, body } = failureOf(error, database)
      return sendPage(reply, status, body.message)
    }
  }

  /** Stores the session and its audit entry in one transaction. */
  const signIn = (request: FastifyRequest, reply: FastifyReply, session: Session) =>
    database.transaction(async ({ kysely }) => {
      await sessions.open(kysely, reply, session)
      const { sub, name, email, provider } = session
      const id = provider === '' ? `token:${name}` : `${provider}:${sub}`
      await recordAccess(kysely, { id, name, email, address: request.ip }, 'sign-in')
    })
  const requireFewFailures = async (request: FastifyRequest, reason: string) => {
    if (!context.failures.count(request.ip)) throw new UserError(TOO_MANY_ATTEMPTS, { status: 429 })
    await recordFailure(context, request, reason)
  }
  return { context, mode, oidc, tokens, sessions, sendPage, withPage, signIn, requireFewFailures }
}
type SignInTools = ReturnType<typeof signInTools>

function providerRoutes(api: Api, tools: SignInTools): void {
  const { mode, oidc, sessions, sendPage, withPage, signIn, requireFewFailures } = tools
  api.get(
    '/auth/methods',
    {
      config: { least: 'anyone', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: { tags, summary: 'Ways to sign in', response: answers(200, methods) },
    },
    async () => {
      const providers = oidc.providers.map(({ name, displayName = name }) => ({
        name,
        displayName,
        loginUrl: `/auth/login?provider=${encodeURIComponent(name)}`,
      }))
      return {
        ...(providers.length > 0 && { providers }),
        apiKey: { enabled: true },
        token: { enabled: mode === 'token' },
      }
    },
  )
  api.get(
    '/auth/login',
    {
      config: { least: 'anyone', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'Sign in with OpenID Connect',
        querystring: login,
        response: { ...streams('text/html', 'A page to choose a way to sign in from.'), ...redirect },
      },
    },
    (request, reply) =>
      withPage(request, reply, async () => {
        const { query } = request
        const isChoice = query.provider === undefined && oidc.providers.length !== 1
        if (isChoice && wantsPage(request)) return sendPage(reply, 200)
        const { location, cookie } = await oidc.begin(query.provider, localPath(query.return_url))
        reply.setCookie(STATE_COOKIE, cookie, { ...sessions.cookieOptions, maxAge: STATE_MINUTES * 60 })
        return reply.redirect(location, 303)
      }),
  )
  api.get(
    '/auth/callback',
    {
      config: { least: 'anyone', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'Where the provider sends the browser back to',
        querystring: callback,
        response: redirect,
      },
    },
    (request, reply) =>
      withPage(request, reply, async () => {
        const search = request.url.includes('?') ? request.url.slice(request.url.indexOf('?')) : ''
        reply.clearCookie(STATE_COOKIE, sessions.cookieOptions)
        const { session, returnUrl } = await oidc.finish(request.cookies[STATE_COOKIE], search).catch(async (error) => {
          if (!(error instanceof UserError)) throw error
          await requireFewFailures(request, error.message)
          throw error
        })
        await signIn(request, reply, session)
        return reply.redirect(returnUrl, 303)
      }),
  )
}

function tokenRoutes(api: Api, { mode, tokens, withPage, signIn, requireFewFailures }: SignInTools): void {
  api.post(
    '/auth/token',
    {
      config: { least: 'anyone', reach: 'everywhere', size: 'small', cost: 'light' },
      schema: {
        tags,
        summary: 'Sign a browser in with the access token',
        body: body({ token: longText }),
        response: redirect,
      },
    },
    (request, reply) =>
      withPage(request, reply, async () => {
        if (mode !== 'token') throw new UserError('Sign-in with a token is off: set AUTH to token.', { status: 503 })
        const token = tokens.find(request.body.token)
        if (!token) {
          await requireFewFailures(request, 'not an access token')
          throw new UserError(
            'This is not the access token: it is in AUTH_TOKEN, or in the file access-token of the data folder.',
            { status: 401 },
          )
        }
        const { name, mark } = token
        await signIn(request, reply, { sub: 'token', name, email: '', provider: '', groups: [], token_mark: mark })
        return reply.redirect('/', 303)
      }),
  )
}

function sessionRoutes(api: Api, { context, mode, oidc, sessions }: SignInTools): void {
  const { database } = context
  api.post(
    '/auth/logout',
    {
      config: { least: 'anyone', reach: 'everywhere', size: 'small', cost: 'light' },
      schema: {
        tags,
        summary: 'Sign out',
        response: answers(200, z.object({ ok: z.literal(true), logoutUrl: z.string().optional() })),
      },
    },
    async (request, reply) => {
      const cookie = request.cookies[SESSION_COOKIE]
      const session = await sessions.read(cookie)
      await database.transaction(async ({ kysely }) => {
        await sessions.close(kysely, reply, cookie)
        if (session) await recordAccess(kysely, actorOf(request), 'sign-out')
      })
      const logoutUrl = session && (await oidc.endSession(session.provider))
      return { ok: true, ...(logoutUrl && { logoutUrl }) }
    },
  )
  api.get(
    '/auth/userinfo',
    {
      config: { least: 'anyone', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'Who asks',
        response: answers(200, z.object({ authenticated: z.boolean(), name: z.string(), email: z.string() })),
      },
    },
    async ({ user }) => ({ authenticated: user !== undefined, name: user?.name ?? '', email: user?.email ?? '' }),
  )
  api.get(
    '/v1/access',
    {
      config: { least: 'anyone', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'What you may do: your roles, each for one project or for all',
        response: answers(200, z.object({ id: z.string(), name: z.string(), roles: z.array(grant) })),
      },
    },
    async ({ user }) => {
      const isOpen = mode === 'open' || mode === 'none'
      return { id: user?.id ?? '', name: user?.name ?? '', roles: [...(user?.grants ?? (isOpen ? EVERYTHING : []))] }
    },
  )
}

export const authRoutes: Routes = (api, context) => {
  const tools = signInTools(context)
  providerRoutes(api, tools)
  tokenRoutes(api, tools)
  sessionRoutes(api, tools)
}

const recordAccess = (queries: Queries, actor: Actor, action: 'sign-in' | 'sign-out') =>
  recordChange(queries, actor, { action, subject: 'access', key: actor.id, before: null, after: null })
