/** Proxies, cookies, keys and host names are trusted only with proof. */
import { request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type FakeProvider, startFakeProvider } from '../fake-provider/fake-provider.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { cookieHeader, cookiesOf } from './support/cookies.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const TOKEN = 'an-access-token-for-tests'
const PROXY_SECRET = 'a secret of the proxy'.replaceAll(' ', '-').padEnd(40, 'x')
type Headers = Record<string, string>

/** Sends the path exactly as written: clients and test doubles would remove a fragment. */
const overSocket = (api: TestApi, path: string, key: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const { port } = api.server.server.address() as AddressInfo
    const headers = { authorization: `Bearer ${key}` }
    request({ port, host: '127.0.0.1', path, headers }, (answer) => resolve(answer.resume().statusCode))
      .on('error', reject)
      .end()
  })

describeEachWithTables('identity', (test) => {
  const get = async (api: TestApi, url: string, headers: Headers = {}) =>
    (await api.ask('GET', url, undefined, { headers })).status

  describe('behind proxies', () => {
    let api: TestApi
    beforeAll(async () => {
      api = await startTestApi(test.database, {
        AUTH: 'token',
        AUTH_TOKEN: TOKEN,
        TRUSTED_PROXIES: '127.0.0.1',
        PROXY_IDENTITY_SECRET: PROXY_SECRET,
        PROXY_IDENTITY_ROLES: 'staff=viewer',
        REQUESTS_PER_MINUTE: '200',
      })
    })
    afterAll(() => api.close())

    it('a proxy that only passes requests on grants nothing', async () => {
      const asked: Headers[] = [
        { 'x-forwarded-user': 'mallory' },
        { 'x-forwarded-email': 'mallory@example.org' },
        { authorization: `Basic ${btoa('mallory:any')}` },
        { 'x-forwarded-user': 'mallory', 'x-weir-proxy-secret': 'guessed' },
        { 'x-forwarded-user': 'mallory', 'x-weir-proxy-secret': '' },
      ]
      for (const headers of asked) expect(await get(api, '/projects', headers), JSON.stringify(headers)).toBe(401)
    })

    it('one that signs people in proves itself, and its groups have roles', async () => {
      const by = (groups: string) => ({
        'x-weir-proxy-secret': PROXY_SECRET,
        'x-forwarded-user': 'ada',
        'x-forwarded-groups': groups,
      })
      expect(await get(api, '/projects', by('staff, others'))).toBe(200)
      expect(await get(api, '/projects', by('others'))).toBe(403)
      expect(await get(api, '/v1/audit', by('staff'))).toBe(403)
      const { body } = await api.ask('GET', '/v1/access', undefined, { headers: by('staff') })
      expect(body).toEqual({ id: 'proxy:ada', name: 'ada', roles: [{ role: 'viewer' }] })
      // Any page can make the browser send the proxy's cookie, so changes must come from a page of this server.
      const elsewhere = { ...by('staff'), origin: 'https://evil.example' }
      expect((await api.ask('PUT', '/store/x', {}, { headers: elsewhere })).body.message).toMatch(/another site/)
    })

    it('attempts are counted for each client, and probes never', async () => {
      const from = (address: string, token = 'wrong') => ({
        'x-forwarded-for': address,
        authorization: `Bearer ${token}`,
      })
      for (let count = 0; count < 20; count++) await get(api, '/projects', from('203.0.113.7'))
      expect(await get(api, '/projects', from('203.0.113.7'))).toBe(429)
      // Text that the client itself put before its own address does not count.
      expect(await get(api, '/projects', from('198.51.100.1, 203.0.113.7'))).toBe(429)
      expect(await get(api, '/projects', from('203.0.113.8'))).toBe(401)
      // A client with the right token is not locked out by others who guess.
      expect(await get(api, '/projects', from('203.0.113.7', TOKEN))).toBe(200)
      for (let count = 0; count < 20; count++) await get(api, '/projects', from(`2001:db8:1:2::${count}`))
      expect(await get(api, '/projects', from('2001:db8:1:2::ffff'))).toBe(429)
      expect(await get(api, '/projects', from('2001:db8:1:3::1'))).toBe(401)
      for (const path of ['/health', '/ping', '/ready', '/api/health']) {
        expect(await get(api, path, from('203.0.113.7')), path).toBe(200)
      }
      // A request with a key is counted, even on a path of probes.
      expect(await get(api, '/rest/ping', from('203.0.113.7'))).toBe(429)
      const client = { 'x-forwarded-for': '203.0.113.9' }
      for (let count = 0; count < 200; count++) await get(api, '/version', client)
      expect(await get(api, '/version', client)).toBe(429)
      expect(await get(api, '/health', client)).toBe(200)
      expect(await get(api, '/version', from('203.0.113.9', TOKEN))).toBe(200)
    })
  })

  it('AUTH=none answers to addresses and its own names, and to no page of others', async () => {
    const api = await startTestApi(test.database, { AUTH: 'none', ALLOWED_HOSTS: 'weir.example.com' })
    const post = async (headers: Headers) =>
      (await api.ask('PUT', '/store/page', { seen: true }, { headers: { host: '10.0.0.5:8080', ...headers } })).status
    expect(await post({ origin: 'https://evil.example' })).toBe(403)
    expect(await post({ origin: 'null' })).toBe(403)
    expect(await post({ 'sec-fetch-site': 'cross-site' })).toBe(403)
    expect(await post({ host: 'rebound.example' })).toBe(403)
    expect(await post({ host: 'rebound.example', origin: 'http://rebound.example' })).toBe(403)
    expect(await post({ origin: 'http://10.0.0.5:8080' })).toBe(201)
    expect(await post({})).toBe(201)
    expect(await post({ host: 'weir', origin: 'http://weir:4000' })).toBe(201)
    expect(await post({ host: 'weir.example.com', origin: 'https://weir.example.com' })).toBe(201)
    expect(await get(api, '/projects', { host: 'rebound.example' })).toBe(403)
    expect(await get(api, '/projects', { host: 'WEIR.example.com' })).toBe(200)
    await api.close()
  })

  it('API keys open what their pattern says, however the address is written', async () => {
    const api = await startTestApi(test.database)
    const newKey = async (name: string, allowedPath: string) =>
      (await api.ask('POST', '/api-keys', { name, type: 'devlake', allowedPath })).body.apiKey
    const ends = await newKey('ends', '.*/deployments')
    const bare = await newKey('bare', 'projects/?.*')
    const proxy = await newKey('proxy', '/plugins/github/connections/1/proxy/rest/repos/.*')
    const keyed = (url: string, key: string) => get(api, url, { authorization: `Bearer ${key}` })
    await api.server.listen({ port: 0, host: '127.0.0.1' })
    expect(await overSocket(api, '/rest/projects#/deployments', ends)).toBe(400)
    expect(await overSocket(api, '/rest/projects', bare)).toBe(200)
    expect(await keyed('/rest/projects?/deployments', ends)).toBe(403)
    expect(await keyed('/rest/projects%23/deployments', ends)).toBe(404)
    expect(await keyed('/rest/projects/x%2Fdeployments', ends)).toBe(403)
    expect(await keyed('/rest/projects;/deployments', ends)).toBe(404)
    expect(await keyed('/rest/projects', bare)).toBe(200)
    expect(await keyed('/rest/api-keys', bare)).toBe(403)
    for (const way of ['..', '%2e%2e', '%252e%252e', '..%2f..']) {
      expect(await keyed(`/rest/plugins/github/connections/1/proxy/rest/repos/${way}/user`, proxy), way).toBe(403)
    }
    await api.close()
  })

  it('sessions end with the token that opened them, and rows of old ones go', async () => {
    const start = (token: string) => startTestApi(test.database, { AUTH: 'token', AUTH_TOKEN: token })
    const first = await start(TOKEN)
    const cookie = cookieHeader(cookiesOf(await first.ask('POST', '/auth/token', { token: TOKEN })))
    expect(await get(first, '/projects', { cookie })).toBe(200)
    await first.close()
    const second = await start('another-access-token')
    expect(await get(second, '/projects', { cookie })).toBe(401)
    const sessions = () => test.database.kysely.selectFrom('auth_sessions').selectAll().execute()
    await test.database.kysely
      .updateTable('auth_sessions')
      .set({ expires_at: new Date(Date.now() - 1000) })
      .execute()
    const opened = cookiesOf(await second.ask('POST', '/auth/token', { token: 'another-access-token' }))
    expect(await sessions()).toHaveLength(1)
    const headers = { cookie: cookieHeader(opened), 'x-csrf-token': opened.devlake_csrf as string }
    await second.ask('POST', '/auth/logout', undefined, { headers })
    expect(await sessions()).toHaveLength(0)
    await second.close()
  })

  describe('OpenID Connect', () => {
    let provider: FakeProvider
    const settings = () => ({
      AUTH: 'oidc',
      OIDC_PROVIDERS: 'work',
      OIDC_WORK_ISSUER_URL: provider.issuer,
      OIDC_WORK_CLIENT_ID: 'weir',
      OIDC_WORK_REDIRECT_URL: 'http://localhost/api/auth/callback',
    })
    beforeAll(async () => {
      provider = await startFakeProvider()
    })
    afterAll(() => provider.stop())

    async function signIn(api: TestApi) {
      const begun = await api.ask('GET', '/auth/login?return_url=/projects')
      const cookie = cookieHeader(cookiesOf(begun))
      const back = await provider.approve(begun.headers.location)
      return { back, cookie, ...(await api.ask('GET', `/auth/callback${back}`, undefined, { headers: { cookie } })) }
    }

    it('the state cookie is ours, and good once', async () => {
      const api = await startTestApi(test.database, settings())
      const state = { provider: 'work', returnUrl: '//evil.example', verifier: 'v', state: 's', nonce: 'n' }
      const until = { until: Date.now() + 60_000, exp: Math.floor(Date.now() / 1000) + 60 }
      const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
      const written = [
        encodeURIComponent(JSON.stringify({ ...state, ...until })),
        `${encode({ alg: 'none' })}.${encode({ ...state, ...until })}.`,
        `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ ...state, ...until })}.${'x'.repeat(43)}`,
      ]
      for (const value of written) {
        const headers = { cookie: `devlake_oauth_state=${value}` }
        const answer = await api.ask('GET', '/auth/callback?code=c&state=s', undefined, { headers })
        expect(answer.status, value).toBe(400)
        expect(cookiesOf(answer).devlake_session).toBeUndefined()
      }
      const done = await signIn(api)
      expect(done).toMatchObject({ status: 303, headers: { location: '/projects' } })
      // A session cookie is not accepted as the state of a sign-in, although both are signed here.
      const session = cookiesOf(done).devlake_session as string
      const swapped = { headers: { cookie: `devlake_oauth_state=${session}` } }
      expect((await api.ask('GET', '/auth/callback?code=c&state=s', undefined, swapped)).status).toBe(400)
      // The provider would refuse the code. Here it is not even asked.
      const again = await provider.approve((await api.ask('GET', '/auth/login')).headers.location)
      const replayed = again.replace(/state=[^&]+/, `${/state=[^&]+/.exec(done.back)?.[0]}`)
      const answer = await api.ask('GET', `/auth/callback${replayed}`, undefined, { headers: { cookie: done.cookie } })
      expect(answer.status).toBe(400)
      expect(answer.body.message).toMatch(/has ended already/)
      await api.close()
    })

    it('lists say who may sign in, groups what they may do, and both hold at once', async () => {
      const allowed = {
        OIDC_WORK_ALLOWED_DOMAINS: 'example.org',
        OIDC_WORK_ALLOWED_EMAILS: 'guest@elsewhere.example',
        OIDC_WORK_ALLOWED_GROUPS: 'staff,guests',
        OIDC_WORK_ROLES: 'staff=viewer,platform=admin',
      }
      const api = await startTestApi(test.database, { ...settings(), ...allowed })
      const come = async (person: Record<string, unknown>) => {
        provider.person = { name: 'Somebody', ...person }
        return signIn(api)
      }
      const groups = ['staff']
      expect((await come({ email: 'ada@example.org', groups })).status).toBe(303)
      expect((await come({ email: 'guest@elsewhere.example', groups })).status).toBe(303)
      expect((await come({ email: 'eve@elsewhere.example', groups })).status).toBe(403)
      expect((await come({ email: 'eve@notexample.org', groups })).status).toBe(403)
      expect((await come({ email: 'ada@example.org@evil.example', groups })).status).toBe(403)
      expect((await come({ email: 'ada@example.org', email_verified: false, groups })).status).toBe(403)
      expect((await come({ groups })).status).toBe(403)
      expect((await come({ email: 'ada@example.org', groups: ['others'] })).status).toBe(403)
      expect((await come({ email: 'ada@example.org', groups: ['guests'] })).body.message).toMatch(/has a role/)

      const cookieOf = async (more: string[]) =>
        cookieHeader(cookiesOf(await come({ email: 'ada@example.org', groups: [...groups, ...more] })))
      const viewer = { cookie: await cookieOf([]) }
      const admin = { cookie: await cookieOf(['platform']) }
      expect([await get(api, '/projects', viewer), await get(api, '/api-keys', viewer)]).toEqual([200, 403])
      expect([await get(api, '/projects', admin), await get(api, '/api-keys', admin)]).toEqual([200, 200])
      await api.close()

      const stricter = await startTestApi(test.database, {
        ...settings(),
        ...allowed,
        OIDC_WORK_ALLOWED_GROUPS: 'platform',
      })
      expect(await get(stricter, '/projects', viewer)).toBe(401)
      expect(await get(stricter, '/projects', admin)).toBe(200)
      await stricter.close()
    })
  })
})
