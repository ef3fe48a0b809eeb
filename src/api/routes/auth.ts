import { z } from 'zod'
import { UserError } from '../../errors.ts'
import { accessMode, accessToken, sameSecret } from '../access/access-token.ts'
import { localPath, openOidc, STATE_COOKIE, STATE_MINUTES } from '../access/oidc.ts'
import { SESSION_COOKIE, sessionService } from '../access/sessions.ts'
import type { Routes } from '../api.ts'
import { answers } from '../contract/common.ts'
import { body, text } from '../contract/lenient.ts'

const tags = ['sign-in']

export const authRoutes: Routes = (api, { config, database, secrets, failures }) => {
  const mode = accessMode(config)
  const oidc = openOidc(mode === 'oidc' || config.oidcEnabled ? config : { ...config, oidc: [] }, secrets)
  const sessions = sessionService(database, secrets, config)

  const provider = z.object({ name: z.string(), displayName: z.string(), loginUrl: z.string() })
  const methods = z.object({
    providers: z.array(provider).optional(),
    apiKey: z.object({ enabled: z.boolean() }),
    token: z.object({ enabled: z.boolean() }),
  })
  api.get(
    '/auth/methods',
    { schema: { tags, summary: 'Ways to sign in', response: answers(200, methods) } },
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
  const login = z.object({ provider: z.string().optional(), return_url: z.string().optional() })
  const redirect = answers(303, z.null().meta({ description: 'To the next page.' }), 401, 502, 503)
  api.get(
    '/auth/login',
    { schema: { tags, summary: 'Sign in with OpenID Connect', querystring: login, response: redirect } },
    async ({ query }, reply) => {
      const { location, cookie } = await oidc.begin(query.provider, localPath(query.return_url))
      reply.setCookie(STATE_COOKIE, cookie, { ...sessions.cookieOptions, maxAge: STATE_MINUTES * 60 })
      return reply.redirect(location, 303)
    },
  )
  const callback = z.looseObject({ code: z.string().optional(), state: z.string().optional() })
  api.get(
    '/auth/callback',
    {
      schema: {
        tags,
        summary: 'Where the provider sends the browser back to',
        querystring: callback,
        response: redirect,
      },
    },
    async (request, reply) => {
      const search = request.url.includes('?') ? request.url.slice(request.url.indexOf('?')) : ''
      const { session, returnUrl } = await oidc.finish(request.cookies[STATE_COOKIE], search)
      reply.clearCookie(STATE_COOKIE, sessions.cookieOptions)
      await sessions.open(reply, session)
      return reply.redirect(returnUrl, 303)
    },
  )
  api.post(
    '/auth/token',
    {
      schema: {
        tags,
        summary: 'Sign a browser in with the access token',
        body: body({ token: text }),
        response: redirect,
      },
    },
    async (request, reply) => {
      if (mode !== 'token') throw new UserError('Sign-in with a token is off: set AUTH to token.', { status: 503 })
      if (!sameSecret(secrets, request.body.token, accessToken(config))) {
        failures.count(request.ip)
        throw new UserError('This is not the access token: look into AUTH_TOKEN or the token file.', { status: 401 })
      }
      await sessions.open(reply, { sub: 'token', name: 'access token', email: '', provider: '' })
      return reply.redirect('/', 303)
    },
  )
  api.post(
    '/auth/logout',
    {
      schema: {
        tags,
        summary: 'Sign out',
        response: answers(200, z.object({ ok: z.literal(true), logoutUrl: z.string().optional() })),
      },
    },
    async (request, reply) => {
      const session = await sessions.close(reply, request.cookies[SESSION_COOKIE])
      const logoutUrl = session && (await oidc.endSession(session.provider))
      return { ok: true, ...(logoutUrl && { logoutUrl }) }
    },
  )
  api.get(
    '/auth/userinfo',
    {
      schema: {
        tags,
        summary: 'Who asks',
        response: answers(200, z.object({ authenticated: z.boolean(), name: z.string(), email: z.string() })),
      },
    },
    async ({ user }) => ({ authenticated: user !== undefined, name: user?.name ?? '', email: user?.email ?? '' }),
  )
}
