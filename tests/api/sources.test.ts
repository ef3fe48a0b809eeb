/** Connections, scopes, scope configs and remote scopes, with the fake GitHub. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { DEFAULT_TOKEN, type FakeGithub, startFakeGithub } from '../fake-github/fake-github.ts'
import { CLOSED } from '../support/closed-addresses.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const NOTHING = { code: 0, causes: null, data: null }
const FAILED = { code: 0, success: false, message: expect.any(String) }
const MASKED = `${DEFAULT_TOKEN.slice(0, 12)}${'*'.repeat(20)}${DEFAULT_TOKEN.slice(32)}`
const WEAK_TOKEN = `ghp_${'weak'.repeat(9)}`

describeOneWithTables('data sources', (test) => {
  let api: TestApi
  let github: FakeGithub
  let settings: Record<string, unknown>
  let id: number
  const base = '/plugins/github'
  beforeAll(async () => {
    github = await startFakeGithub({
      tokens: [DEFAULT_TOKEN, { token: WEAK_TOKEN, scopes: ['read:user'] }],
      world: { repositories: [{ name: 'acme/web' }, { name: 'acme/api' }] },
    })
    settings = { name: 'main', endpoint: `${github.url}/`, authMethod: 'AccessToken', token: DEFAULT_TOKEN, proxy: '' }
    api = await startTestApi(test.database)
  })
  afterAll(async () => {
    await api.close()
    await github.stop()
  })
  const at = (path = '') => `${base}/connections/${id}${path}`

  it('tests a connection before it is saved', async () => {
    const { name: _name, ...unsaved } = settings
    const good = await api.ask('POST', `${base}/test`, unsaved, { headers: { 'content-type': 'text/plain' } })
    expect(good).toMatchObject({ status: 200, body: { success: true, warning: false, login: expect.any(String) } })
    expect(await api.ask('POST', `${base}/test`, { ...unsaved, token: WEAK_TOKEN })).toMatchObject({
      status: 200,
      body: { success: false, warning: true, message: expect.stringContaining('repo:status') },
    })
    const wrong = `ghp_${'nope'.repeat(9)}`
    const refused = await api.ask('POST', `${base}/test`, { ...unsaved, token: wrong })
    expect(refused).toMatchObject({ status: 400, body: FAILED })
    expect(refused.text).not.toContain(wrong)
    for (const body of [
      { endpoint: 'nonsense', token: 'x' },
      { ...unsaved, token: '' },
      { ...unsaved, authMethod: 'Magic' },
    ]) {
      expect(await api.ask('POST', `${base}/test`, body)).toMatchObject({ status: 400, body: FAILED })
    }
  })

  it('creates, shows, changes connections, and never shows a secret', async () => {
    const created = await api.ask('POST', `${base}/connections`, { ...settings, rateLimitPerHour: '4500', unknown: 1 })
    expect(created).toMatchObject({ status: 201, body: { name: 'main', token: MASKED, rateLimitPerHour: 4500 } })
    id = created.body.id
    expect(created.body.enableGraphql).toBe(true)
    expect((await api.ask('GET', at())).body).toEqual(created.body)
    expect((await api.ask('GET', `${base}/connections`)).body).toEqual([created.body])
    const changed = await api.ask('PATCH', at(), { ...created.body, name: 'renamed' })
    expect(changed).toMatchObject({ status: 200, body: { id, name: 'renamed', token: MASKED } })
    expect((await api.ask('PATCH', at(), { token: '', NAME: 'main' })).body.token).toBe(MASKED)
    const stored = await test.database.kysely.selectFrom('_tool_github_connections').selectAll().execute()
    expect(JSON.stringify(stored)).not.toContain(DEFAULT_TOKEN)
    expect((await api.control.services.connections.reveal('github', id)).token).toBe(DEFAULT_TOKEN)
    for (const [method, url, body, status] of [
      ['POST', `${base}/connections`, settings, 400],
      ['POST', `${base}/connections`, { ...settings, name: '' }, 400],
      ['POST', `${base}/connections`, { ...settings, name: 'x', endpoint: '' }, 400],
      ['POST', `${base}/connections`, { ...settings, name: 'x', endpoint: 'http://169.254.169.254/latest' }, 400],
      ['POST', `${base}/connections`, { ...settings, name: 'x', endpoint: 'http://[::ffff:169.254.1.1]/' }, 400],
      ['PATCH', at(), { rateLimitPerHour: 'many' }, 400],
      ['PATCH', `${base}/connections/99`, { name: 'x' }, 404],
      ['GET', `${base}/connections/99`, undefined, 404],
      ['GET', `${base}/connections/none`, undefined, 400],
      ['DELETE', `${base}/connections/99`, undefined, 404],
    ] as const) {
      expect(await api.ask(method, url, body), `${method} ${url}`).toMatchObject({ status, body: FAILED })
    }
  })

  it.each(['endpoint', 'proxy'])('a closed address is no %s, however it is written', async (field) => {
    for (const [address, says] of CLOSED) {
      for (const [method, url, name] of [
        ['POST', `${base}/connections`, 'closed'],
        ['PATCH', at(), 'main'],
        ['POST', `${base}/test`, 'main'],
      ] as const) {
        const answer = await api.ask(method, url, { ...settings, name, [field]: address })
        expect(answer, `${method} ${url} ${field} ${address}`).toMatchObject({ status: 400, body: FAILED })
        expect(answer.body.message, address).toMatch(says)
      }
    }
    expect((await api.ask('GET', `${base}/connections`)).body).toHaveLength(1)
    expect((await api.ask('GET', at())).body).toMatchObject({ endpoint: settings.endpoint, proxy: '' })
  })

  it('tests a saved connection, token by token', async () => {
    expect((await api.ask('POST', at('/test'))).body).toMatchObject({
      success: true,
      tokens: [{ auth_method: 'AccessToken', token: MASKED, success: true, warning: false }],
    })
    const two = await api.ask('POST', at('/test'), { token: `${MASKED},${WEAK_TOKEN}`, endpoint: null })
    expect(two.body.tokens.map(({ success }: any) => success)).toEqual([true, false])
    expect(two.text).not.toContain(WEAK_TOKEN)
    expect((await api.ask('POST', `${base}/connections/99/test`)).status).toBe(400)
  })

  it('keeps to itself why a test failed, where that is asked for', async () => {
    const closed = await startTestApi(test.database, { WRAP_RESPONSE_ERROR: 'true' })
    try {
      expect((await closed.ask('POST', at('/test'))).body).toMatchObject({ success: true, tokens: [{ success: true }] })
      const weak = await closed.ask('POST', at('/test'), { token: `${MASKED},${WEAK_TOKEN}` })
      expect(weak.body).toEqual({ success: false, message: expect.stringMatching(/hidden/), ...NOTHING })
      const wrong = { ...settings, token: `ghp_${'nope'.repeat(9)}` }
      const [told, hidden] = [
        await api.ask('POST', `${base}/test`, wrong),
        await closed.ask('POST', `${base}/test`, wrong),
      ]
      expect([told.status, hidden.status]).toEqual([400, 400])
      expect(told.body.message).not.toBe(weak.body.message)
      expect(hidden.body.message).toBe(weak.body.message)
    } finally {
      await closed.close()
    }
  })

  it('shows what GitHub offers, page by page, and finds by name', async () => {
    const root = await api.ask('GET', at('/remote-scopes'))
    expect(root.body).toMatchObject({ nextPageToken: '' })
    expect(root.body.children.map(({ type, parentId }: any) => [type, parentId])).toContainEqual(['group', null])
    const inGroup = await api.ask('GET', at('/remote-scopes?groupId=acme'))
    const names = inGroup.body.children.map(({ fullName }: any) => fullName)
    expect(names.sort()).toEqual(['acme/api', 'acme/web'])
    expect(inGroup.body.children[0]).toMatchObject({
      type: 'scope',
      parentId: 'acme',
      data: { githubId: expect.any(Number) },
    })
    const found = await api.ask('GET', at('/search-remote-scopes?search=web&pageSize=10'))
    expect(found.body).toMatchObject({ page: 1, pageSize: 10, children: [{ fullName: 'acme/web', parentId: null }] })
    for (const [url, status] of [
      [at('/remote-scopes?pageToken=%25%25'), 400],
      [at('/search-remote-scopes'), 400],
      [`${base}/connections/99/remote-scopes`, 404],
    ] as const) {
      expect(await api.ask('GET', url), url).toMatchObject({ status, body: FAILED })
    }
    expect(github.violations).toEqual([])
  })

  it('passes requests on to GitHub, and nowhere else', async () => {
    const answer = await api.ask('GET', at('/proxy/rest/repos/acme/web/issues?per_page=1'))
    expect(answer).toMatchObject({ status: 200, body: [{ number: expect.any(Number) }] })
    expect(answer.headers['x-ratelimit-remaining']).toBeDefined()
    expect(answer.headers.etag).toBeUndefined()
    expect((await api.server.inject({ url: at('/proxy/rest/repos/acme/nothing') })).statusCode).toBe(404)
    expect((await api.ask('GET', at('/proxy/rest/http:%2F%2Felsewhere.example/'))).status).toBe(400)
    expect((await api.ask('GET', at('/proxy/rest/..%2F..%2Fadmin'))).status).toBe(400)
  })

  it('creates, changes, shows and deletes scope configs', async () => {
    const sent = {
      name: 'rules',
      entities: ['CODE', 'TICKET'],
      issueTypeBug: '(bug|broken)',
      refdiff: { tagsLimit: 10 },
    }
    const created = await api.ask('POST', at('/scope-configs'), sent)
    expect(created).toMatchObject({ status: 201, body: { ...sent, connectionId: id, issueTypeIncident: '' } })
    const one = at(`/scope-configs/${created.body.id}`)
    expect((await api.ask('GET', one)).body).toEqual(created.body)
    expect((await api.ask('GET', at('/scope-configs'))).body).toEqual([created.body])
    expect((await api.ask('GET', `${base}/connections/99/scope-configs`)).body).toEqual([])
    expect((await api.ask('PATCH', one, { issueTypeBug: null, prType: 'type(.*)' })).body).toMatchObject({
      issueTypeBug: '',
      prType: 'type(.*)',
      name: 'rules',
    })
    for (const [method, url, body, status] of [
      ['POST', at('/scope-configs'), { entities: [] }, 400],
      ['POST', at('/scope-configs'), sent, 400],
      ['POST', at('/scope-configs'), { ...sent, name: 'x', issueTypeBug: '(' }, 400],
      ['GET', at('/scope-configs/99'), undefined, 404],
      ['PATCH', at('/scope-configs/99'), {}, 404],
      ['DELETE', at('/scope-configs/99'), undefined, 404],
      ['GET', `${base}/scope-config/99/projects`, undefined, 404],
    ] as const) {
      expect(await api.ask(method, url, body), `${method} ${url}`).toMatchObject({ status, body: FAILED })
    }
  })

  it('puts, lists, searches, changes and deletes scopes, with their guards', async () => {
    const offered = (await api.ask('GET', at('/remote-scopes?groupId=acme'))).body.children.map(({ data }: any) => data)
    const put = await api.ask('PUT', at('/scopes'), { data: offered })
    expect(put).toMatchObject({ status: 200, body: [{ connectionId: id }, { connectionId: id }] })
    const [config] = (await api.ask('GET', at('/scope-configs'))).body
    const web = offered.find(({ fullName }: any) => fullName === 'acme/web')
    const one = at(`/scopes/${web.githubId}`)
    const view = await api.ask('GET', one)
    expect(view.body.scope).toMatchObject({ ...web, createdDate: expect.any(String), updatedDate: expect.any(String) })
    expect(view.body.scope._raw_data_params).toBe(JSON.stringify({ ConnectionId: id, Name: 'acme/web' }))
    const patched = await api.ask('PATCH', one, { ...view.body, scopeConfigId: config.id })
    expect(patched.body).toMatchObject({ fullName: 'acme/web', scopeConfigId: config.id })
    expect((await api.ask('GET', one)).body.scopeConfig).toMatchObject({ id: config.id, name: 'rules' })

    await api.ask('POST', '/projects', { name: `shop-${test.engine}` })
    const { blueprint } = (await api.ask('GET', `/projects/shop-${test.engine}`)).body
    const connections = [{ pluginName: 'github', connectionId: id, scopes: [{ scopeId: String(web.githubId) }] }]
    expect((await api.ask('PATCH', `/blueprints/${blueprint.id}`, { connections })).status).toBe(200)
    const listed = await api.ask('GET', at('/scopes?page=1&pageSize=10&blueprints=true'))
    expect(listed.body.count).toBe(2)
    expect(listed.body.scopes.filter(({ blueprints }: any) => blueprints)).toMatchObject([
      {
        scope: { fullName: 'acme/web' },
        blueprints: [{ id: blueprint.id, plan: null, connections: null, labels: null }],
      },
    ])
    expect((await api.ask('GET', at('/scopes?searchTerm=WEB'))).body.count).toBe(1)
    expect((await api.ask('GET', `${base}/connections/99/scopes`)).body).toEqual({ count: 0, scopes: [] })
    expect((await api.ask('GET', `${base}/scope-config/${config.id}/projects`)).body).toEqual({
      count: 1,
      projects: [
        {
          name: `shop-${test.engine}`,
          blueprintId: blueprint.id,
          scopes: [{ scopeId: String(web.githubId), scopeName: 'acme/web' }],
        },
      ],
    })
    expect((await api.ask('GET', `${one}/latest-sync-state`)).body).toEqual([])

    expect(await api.ask('DELETE', one)).toMatchObject({
      status: 409,
      body: { ...FAILED, data: { blueprints: [blueprint.name], projects: [`shop-${test.engine}`] } },
    })
    expect(await api.ask('DELETE', at())).toMatchObject({
      status: 409,
      body: { data: { blueprints: [blueprint.name] } },
    })
    expect(await api.ask('DELETE', at(`/scope-configs/${config.id}`))).toMatchObject({
      status: 409,
      body: { data: [{ fullName: 'acme/web' }] },
    })
    expect((await api.ask('DELETE', `${one}?delete_data_only=true`)).status).toBe(200)
    expect((await api.ask('PATCH', one, { scopeConfigId: null })).body).not.toHaveProperty('scopeConfigId')
    expect((await api.ask('DELETE', at(`/scope-configs/${config.id}`))).status).toBe(200)
    await api.ask('PATCH', `/blueprints/${blueprint.id}`, { connections: [] })
    expect((await api.ask('DELETE', at())).body).toMatchObject({ success: false, data: null })
    for (const { githubId } of offered) expect((await api.ask('DELETE', at(`/scopes/${githubId}`))).status).toBe(200)
    for (const [method, url, body, status] of [
      ['PUT', at('/scopes'), {}, 400],
      ['PUT', at('/scopes'), { data: {} }, 400],
      ['PUT', at('/scopes'), { data: ['x'] }, 400],
      ['PUT', at('/scopes'), { data: [{ name: 'without id' }] }, 400],
      ['PUT', `${base}/connections/99/scopes`, { data: offered }, 400],
      ['GET', at('/scopes?pageSize=1001'), undefined, 400],
      ['GET', at('/scopes?page=0'), undefined, 400],
      ['GET', one, undefined, 404],
      ['GET', at('/scopes/raw/slashes'), undefined, 404],
      ['GET', at('/scopes/raw/slashes/latest-sync-state'), undefined, 404],
      ['PATCH', one, {}, 404],
      ['DELETE', one, undefined, 404],
    ] as const) {
      expect(await api.ask(method, url, body), `${method} ${url}`).toMatchObject({ status, body: FAILED })
    }
    expect(await api.ask('DELETE', at())).toMatchObject({ status: 200, body: { token: MASKED } })
  })
})
