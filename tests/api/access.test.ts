/** Access control: keys, tokens, sign-in, forged requests, limits. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FakeProvider, startFakeProvider } from '../fake-provider/fake-provider.ts'
import { runCli } from '../support/cli.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { cookieHeader, cookiesOf } from './support/cookies.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const REFUSED = { success: false, message: expect.any(String) }
const TOKEN = 'an-access-token-for-tests'

describeOneWithTables('access', (test) => {
  describe('without AUTH', () => {
    let api: TestApi
    beforeAll(async () => {
      api = await startTestApi(test.database)
    })
    afterAll(() => api.close())

    it('API keys open the paths that they name, below /rest', async () => {
      const newKey = async (name: string, allowedPath: string, more = {}) =>
        (await api.ask('POST', '/api-keys', { name, type: 'devlake', allowedPath, ...more })).body
      const all = await newKey('all', '.*')
      const some = await newKey('some', '/projects')
      const old = await newKey('old', '.*', { expiredAt: '2020-01-01T00:00:00Z' })
      const get = (path: string, key?: string) =>
        api.ask('GET', path, undefined, { headers: key ? { authorization: `Bearer ${key}` } : {} })
      expect((await get('/rest/projects', all.apiKey)).status).toBe(200)
      expect((await get('/api/rest/version', all.apiKey)).status).toBe(200)
      expect((await get('/rest/projects?page=1', some.apiKey)).status).toBe(200)
      expect(await get('/rest/projects')).toMatchObject({ status: 401, body: REFUSED })
      expect(
        await api.ask('GET', '/rest/projects', undefined, { headers: { authorization: 'Basic x' } }),
      ).toMatchObject({
        status: 401,
        body: REFUSED,
      })
      expect(
        await api.ask('GET', '/rest/projects', undefined, { headers: { authorization: 'Bearer ' } }),
      ).toMatchObject({ status: 401, body: REFUSED })
      expect(await get('/rest/projects', 'wrong')).toMatchObject({ status: 403, body: REFUSED })
      // A key counts only on paths that begin with /rest.
      expect((await get('/auth/userinfo', all.apiKey)).body.authenticated).toBe(false)
      expect(await get('/rest/projects', old.apiKey)).toMatchObject({ status: 403, body: REFUSED })
      // The pattern is anchored: it must match the whole path.
      expect(await get('/rest/projects/x', some.apiKey)).toMatchObject({ status: 403, body: REFUSED })
      expect(await get('/rest/%70rojects', some.apiKey)).toMatchObject({ status: 200 })
      const created = await api.ask(
        'POST',
        '/rest/projects',
        { name: 'by key' },
        { headers: { authorization: `Bearer ${all.apiKey}` } },
      )
      expect(created.status).toBe(201)
      const renewed = (await api.ask('PUT', `/api-keys/${all.id}`)).body
      expect((await get('/rest/version', all.apiKey)).status).toBe(403)
      expect((await get('/rest/version', renewed.apiKey)).status).toBe(200)
      const stored = JSON.stringify(await test.database.kysely.selectFrom('_devlake_api_keys').selectAll().execute())
      for (const { apiKey } of [all, some, renewed]) expect(stored).not.toContain(apiKey)
    })

    it('of equal requests at once one creates a key, and one deletes a connection', async () => {
      const key = { name: 'equal', type: 'devlake', allowedPath: '/version' }
      const made = await Promise.all(Array.from({ length: 20 }, () => api.ask('POST', '/api-keys', key)))
      expect(made.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(1)
      const { body } = await api.ask('POST', '/plugins/github/connections', { name: 'gone', token: 'none' })
      const path = `/plugins/github/connections/${body.id}`
      const deleted = await Promise.all(Array.from({ length: 10 }, () => api.ask('DELETE', path)))
      expect(deleted.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(404)])
      const entries = await api.ask('GET', '/v1/audit?action=delete&subject=github%20connection')
      expect(entries.body.count).toBe(1)
      expect(entries.headers['cache-control']).toBe('no-store')
      const connection = await api.ask('POST', '/plugins/github/connections', { name: 'twice', token: 'none' })
      const secret = `/v1/plugins/github/connections/${connection.body.id}/deliveries/secret`
      const times = <Each>(ask: () => Promise<Each>) => Promise.all(Array.from({ length: 10 }, ask))
      const replaced = [
        ...(await times(() => api.ask('POST', secret))),
        ...(await times(() => api.ask('PUT', '/store/equal', { same: true }))),
      ]
      expect(new Set(replaced.map(({ status }) => status))).toEqual(new Set([200, 201]))
      for (const name of ['.', '..']) expect((await api.ask('POST', '/projects', { name })).status).toBe(400)
      const steps = { ...key, name: 'steps', allowedPath: '(a?){200}' }
      expect((await api.ask('POST', '/api-keys', steps)).body.message).toMatch(/too large: repeat less/)
    })

    it('guessing keys ends in 429 and leaves no more traces, and a right key passes all the same', async () => {
      const send = (key: string) => ({ headers: { authorization: `Bearer ${key}` } })
      const { apiKey } = (
        await api.ask('POST', '/api-keys', { name: 'right', type: 'devlake', allowedPath: '/version' })
      ).body
      const guess = () => api.ask('GET', '/rest/version', undefined, send('guess'))
      const failures = async () =>
        (await api.ask('GET', '/v1/audit?action=sign-in%20failed&pageSize=1')).body.count as number
      const before = await failures()
      const answers = []
      for (let count = 0; count < 30; count++) answers.push((await guess()).status)
      expect(answers[0]).toBe(403)
      expect(answers.at(-1)).toBe(429)
      expect((await failures()) - before).toBe(answers.filter((status) => status === 403).length)
      expect((await api.ask('GET', '/rest/version', undefined, send(apiKey))).status).toBe(200)
    })
  })

  it('pages of other sites and other names of this server are refused', async () => {
    const api = await startTestApi(test.database)
    const post = (headers: Record<string, string>) => api.ask('POST', '/projects', { name: 'forged' }, { headers })
    expect((await post({ origin: 'https://evil.example' })).status).toBe(403)
    expect((await post({ 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await post({ host: 'evil.example' })).status).toBe(403)
    expect((await api.ask('GET', '/projects', undefined, { headers: { host: 'rebound.example' } })).status).toBe(403)
    expect((await api.ask('GET', '/projects/forged/check')).body).toEqual({ exist: false })
    expect((await post({ origin: 'http://localhost:4000', host: '127.0.0.1:8080' })).status).toBe(201)
    const { headers } = await api.ask('GET', '/')
    expect(headers).toMatchObject({ 'x-content-type-options': 'nosniff', 'x-frame-options': 'SAMEORIGIN' })
    expect(headers['content-security-policy']).toContain("default-src 'self'")
    await api.close()
  })

  it('AUTH=token asks for the token, or for a session that it opened', async () => {
    const api = await startTestApi(test.database, { AUTH: 'token', AUTH_TOKEN: TOKEN })
    const bearer = { authorization: `Bearer ${TOKEN}` }
    expect(await api.ask('GET', '/projects')).toMatchObject({ status: 401, body: REFUSED })
    expect((await api.ask('GET', '/projects', undefined, { headers: { 'x-forwarded-user': 'mallory' } })).status).toBe(
      401,
    )
    const open = ['/ping', '/ready', '/health', '/version', '/proceed-db-migration', '/auth/methods', '/auth/userinfo']
    for (const path of [...open, '/swagger/doc.json', '/swagger/index.html', '/api/version']) {
      expect((await api.ask('GET', path)).status, path).toBe(200)
    }
    expect((await api.ask('GET', '/auth/login')).status).toBe(503)
    expect((await api.ask('POST', '/auth/logout')).body).toEqual({ ok: true })
    for (const path of ['/plugins', '/store/onboard', '/plugins/github/connections', '/v1/audit', '/api/projects']) {
      expect(await api.ask('GET', path), path).toMatchObject({ status: 401, body: REFUSED })
    }
    // The web client asks for the current user, so its files are public.
    expect((await api.ask('GET', '/')).status).toBe(200)
    expect((await api.ask('GET', '/v1/access')).body.roles).toEqual([])
    expect((await api.ask('GET', '/projects', undefined, { headers: bearer })).status).toBe(200)
    const browser = { headers: { accept: 'text/html,application/xhtml+xml' } }
    const shown = await api.ask('GET', '/auth/login', undefined, browser)
    expect(shown).toMatchObject({ status: 200, headers: { 'content-type': expect.stringContaining('text/html') } })
    expect(shown.text).toContain('action="../auth/token"')
    const again = await api.ask('POST', '/auth/token', { token: 'wrong' }, browser)
    expect(again.status).toBe(401)
    expect(again.text).toMatch(/not the access token.*<form/s)
    expect((await api.ask('POST', '/auth/token', { token: 'wrong' })).status).toBe(401)
    const form = { headers: { 'content-type': 'application/x-www-form-urlencoded' } }
    const signedIn = await api.ask('POST', '/auth/token', `token=${encodeURIComponent(TOKEN)}`, form)
    expect(signedIn).toMatchObject({ status: 303, headers: { location: '/' } })
    const cookies = cookiesOf(signedIn)
    const cookie = cookieHeader(cookies)
    expect((await api.ask('GET', '/projects', undefined, { headers: { cookie } })).status).toBe(200)
    expect((await api.ask('GET', '/auth/userinfo', undefined, { headers: { cookie } })).body.authenticated).toBe(true)
    expect((await api.ask('POST', '/projects', { name: 'x' }, { headers: { cookie } })).status).toBe(403)
    const wrongHeader = { cookie, 'x-csrf-token': 'guessed' }
    expect(await api.ask('POST', '/projects', { name: 'x' }, { headers: wrongHeader })).toMatchObject({
      status: 403,
      body: REFUSED,
    })
    // A cookie token of another session, or an Authorization header beside the cookie, does not get around the check.
    const other = cookiesOf(await api.ask('POST', '/auth/token', { token: TOKEN }))
    const planted = cookieHeader({ ...cookies, devlake_csrf: other.devlake_csrf as string })
    for (const headers of [
      { cookie: planted, 'x-csrf-token': other.devlake_csrf as string },
      { cookie, authorization: 'Basic eDp5' },
    ]) {
      expect((await api.ask('POST', '/projects', { name: 'x' }, { headers })).status).toBe(403)
    }
    const csrf = { cookie, 'x-csrf-token': cookies.devlake_csrf as string }
    const name = `signed in ${test.engine}`
    expect((await api.ask('POST', '/projects', { name }, { headers: csrf })).status).toBe(201)
    const forged = cookie.replace(/devlake_session=[^;]+/, (value) => `${value.slice(0, -2)}xx`)
    expect((await api.ask('GET', '/projects', undefined, { headers: { cookie: forged } })).status).toBe(401)
    expect((await api.ask('POST', '/auth/logout', undefined, { headers: csrf })).body).toEqual({ ok: true })
    expect((await api.ask('GET', '/projects', undefined, { headers: { cookie } })).status).toBe(401)
    const forwarded = { 'x-forwarded-for': '10.1.2.3' }
    for (let count = 0; count < 30; count++) {
      await api.ask('GET', '/projects', undefined, { headers: { ...forwarded, authorization: 'Bearer wrong' } })
    }
    expect((await api.ask('GET', '/projects', undefined, { headers: bearer })).status).toBe(200)
    expect((await api.ask('POST', '/auth/token', { token: TOKEN })).status).toBe(303)
    expect(api.log().match(/not in TRUSTED_PROXIES/g)).toHaveLength(1)
    expect(api.log()).not.toContain(TOKEN)
    await api.close()
  })

  it('requests from one address are limited where others can reach the server', async () => {
    const api = await startTestApi(test.database, { AUTH: 'none', REQUESTS_PER_MINUTE: '5' })
    const answers = []
    for (let count = 0; count < 7; count++) answers.push(await api.ask('GET', '/version'))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429, 429])
    expect(answers.at(-1)?.body).toMatchObject({ code: 0, success: false })
    await api.close()
  })

  it('a provider must be named among several, and must answer', async () => {
    const provider = (name: string) => ({
      [`OIDC_${name}_ISSUER_URL`]: 'http://127.0.0.1:9',
      [`OIDC_${name}_CLIENT_ID`]: 'weir',
      [`OIDC_${name}_REDIRECT_URL`]: 'http://localhost/api/auth/callback',
    })
    const settings = { AUTH: 'oidc', OIDC_PROVIDERS: 'work,home', ...provider('WORK'), ...provider('HOME') }
    const api = await startTestApi(test.database, settings)
    expect(await api.ask('GET', '/auth/login')).toMatchObject({ status: 400 })
    expect((await api.ask('GET', '/auth/methods')).body.providers).toHaveLength(2)
    expect(await api.ask('GET', '/auth/login?provider=work')).toMatchObject({ status: 502, body: { success: false } })
    await api.close()
  })

  describe('OIDC', () => {
    let provider: FakeProvider
    let api: TestApi
    beforeAll(async () => {
      provider = await startFakeProvider()
      api = await startTestApi(test.database, {
        AUTH: 'oidc',
        OIDC_PROVIDERS: 'work',
        OIDC_WORK_ISSUER_URL: provider.issuer,
        OIDC_WORK_CLIENT_ID: 'weir',
        OIDC_WORK_CLIENT_SECRET: 'a client secret for tests',
        OIDC_WORK_REDIRECT_URL: 'http://localhost/api/auth/callback',
        OIDC_WORK_DISPLAY_NAME: 'Work',
        OIDC_LOGOUT_REDIRECT: 'true',
      })
    })
    afterAll(async () => {
      await api.close()
      await provider.stop()
    })

    async function signIn(returnUrl = '/projects') {
      const begun = await api.ask('GET', `/auth/login?provider=work&return_url=${encodeURIComponent(returnUrl)}`)
      expect(begun.status).toBe(303)
      const back = await provider.approve(begun.headers.location)
      const cookie = cookieHeader(cookiesOf(begun))
      return {
        back,
        cookie,
        finished: await api.ask('GET', `/auth/callback${back}`, undefined, { headers: { cookie } }),
      }
    }

    it('signs in with PKCE, and out for good', async () => {
      expect((await api.ask('GET', '/auth/methods')).body.providers).toEqual([
        { name: 'work', displayName: 'Work', loginUrl: '/auth/login?provider=work' },
      ])
      expect((await api.ask('GET', '/projects')).status).toBe(401)
      const { finished } = await signIn()
      expect(finished).toMatchObject({ status: 303, headers: { location: '/projects' } })
      const cookies = cookiesOf(finished)
      const headers = { cookie: cookieHeader(cookies), 'x-csrf-token': cookies.devlake_csrf as string }
      expect((await api.ask('GET', '/auth/userinfo', undefined, { headers })).body).toEqual({
        authenticated: true,
        name: 'Ada Lovelace',
        email: 'ada@example.org',
      })
      await api.ask('POST', '/projects', { name: `ada ${test.engine}` }, { headers })
      const { entries } = (await api.ask('GET', '/v1/audit?subject=project&pageSize=1', undefined, { headers })).body
      expect(entries[0]).toMatchObject({ actor: 'Ada Lovelace', actorEmail: 'ada@example.org' })
      const out = await api.ask('POST', '/auth/logout', undefined, { headers })
      expect(out.body.logoutUrl).toContain('/logout')
      expect((await api.ask('GET', '/projects', undefined, { headers })).status).toBe(401)
    })

    it('refuses what was not begun here, and leads back to this server only', async () => {
      expect((await api.ask('GET', '/auth/login?provider=other')).status).toBe(400)
      const { back } = await signIn()
      expect((await api.ask('GET', `/auth/callback${back}`)).status).toBe(400)
      const begun = await api.ask('GET', '/auth/login?return_url=//evil.example')
      const cookie = cookieHeader(cookiesOf(begun))
      expect((await api.ask('GET', '/auth/callback?code=x&state=y', undefined, { headers: { cookie } })).status).toBe(
        401,
      )
      expect((await signIn('//evil.example/x')).finished.headers.location).toBe('/')
      expect((await signIn('https://evil.example')).finished.headers.location).toBe('/')
    })
  })
})

describe('weir up', () => {
  it('refuses to listen to other machines without a word on who may come', async () => {
    const { code, errors } = await runCli(['up'], { HOST: '0.0.0.0', PORT: '0' })
    expect(code).toBe(1)
    expect(errors).toMatch(/^weir: HOST=0\.0\.0\.0 lets other machines in: set AUTH to token or oidc, .*\n$/)
    expect((await runCli(['up'], { AUTH: 'oidc', PORT: '0' })).errors).toContain('OIDC_PROVIDERS')
  })
})
