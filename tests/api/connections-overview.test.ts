/** The list of all connections with their states, as found by tests and runs, and the details that pages need about one connection. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEFAULT_TOKEN, type FakeGithub, startFakeGithub } from '../fake-github/fake-github.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { create } from './support/contract.ts'
import { type LiveServer, startLiveServer } from './support/live-server.ts'
import { SECRET_KEY, startTestApi, type TestApi } from './support/test-api.ts'

const SECOND_TOKEN = `ghp_${'more'.repeat(9)}`
const NOTHING = { issues: 0, pullRequests: 0, workflowRuns: 0, milestones: 0, commits: 0, deployments: 0, releases: 0 }
const NAMES = ['acme/web', 'acme/api', 'acme/attic', 'globex/shop']
const world = {
  repositories: NAMES.map((name) => ({ name, ...NOTHING, archived: name === 'acme/attic' })),
}

describeEachWithTables('the list of connections', (test) => {
  let github: FakeGithub
  beforeAll(async () => {
    github = await startFakeGithub({ tokens: [DEFAULT_TOKEN, SECOND_TOKEN], world })
  })
  afterAll(() => github.stop())
  const settings = () => ({ endpoint: `${github.url}/`, authMethod: 'AccessToken', token: DEFAULT_TOKEN })

  describe('without runs', () => {
    let api: TestApi
    beforeAll(async () => {
      api = await startTestApi(test.database)
    })
    afterAll(() => api.close())
    const listed = async () => (await api.ask('GET', '/v1/connections')).body as any[]
    const named = async (name: string) => (await listed()).find((each) => each.name === name)

    it('is empty at first', async () => {
      expect(await listed()).toEqual([])
    })

    it('says what tests of stored connections found', async () => {
      const { id } = await create(api, '/plugins/github/connections', { name: 'main', ...settings() })
      expect(await named('main')).toMatchObject({
        plugin: 'github',
        title: 'GitHub',
        id,
        endpoint: `${github.url}/`,
        scopes: 0,
        state: 'unknown',
        checkedAt: null,
        requestsLeft: null,
        collectedAt: null,
      })
      const url = `/plugins/github/connections/${id}/test`
      const { body } = await api.ask('POST', url, {})
      expect(body).toMatchObject({ success: true, requestsLeft: expect.any(Number) })
      const works = { state: 'works', checkedAt: expect.any(String), failure: null, requestsLeft: body.requestsLeft }
      expect(await named('main')).toMatchObject(works)
      // Tested only, not stored.
      expect((await api.ask('POST', url, { token: 'wrong' })).body.success).toBe(false)
      expect(await named('main')).toMatchObject(works)
      await api.ask('PATCH', `/plugins/github/connections/${id}`, { token: 'ghp_outworn' })
      expect((await api.ask('POST', url, {})).body.success).toBe(false)
      expect(await named('main')).toMatchObject({ state: 'fails', failure: expect.stringContaining('401') })
      expect(JSON.stringify(await listed())).not.toContain('ghp_outworn')
      await api.ask('PATCH', `/plugins/github/connections/${id}`, { token: DEFAULT_TOKEN })
      await api.ask('POST', url, {})
      expect(await named('main')).toMatchObject({ state: 'works', failure: null })
    })

    it('has a result for each token before they are saved', async () => {
      const both = { ...settings(), token: `${DEFAULT_TOKEN}, ${SECOND_TOKEN}` }
      const good = await api.ask('POST', '/plugins/github/test', both)
      expect(good.body).toMatchObject({ success: true, login: 'user-1', warning: false })
      expect(good.body.tokens.map((each: any) => [each.success, each.login])).toEqual([
        [true, 'user-1'],
        [true, 'user-2'],
      ])
      const half = await api.ask('POST', '/plugins/github/test', { ...both, token: `${DEFAULT_TOKEN},ghp_dead` })
      expect(half.body).toMatchObject({ success: false, message: expect.stringContaining('401') })
      expect(half.body.tokens.map((each: any) => each.success)).toEqual([true, false])
      expect(half.text).not.toContain(DEFAULT_TOKEN)
      // The message uses the connection's future name, not its kind.
      const wrong = await api.ask('POST', '/plugins/github/test', { ...both, name: 'ours', token: 'ghp_dead' })
      expect(wrong.body.message).toContain('Connection "ours"')
    })

    it('lists scopes with their rules and projects, by part of their name', async () => {
      const { id } = await named('main')
      const at = `/v1/connections/github/${id}/scopes`
      const { body: matches } = await api.ask('POST', `/v1/connections/github/${id}/matches`, { scopes: ['**'] })
      const data = matches.scopes.map((scope: any) => scope.data)
      await api.ask('PUT', `/plugins/github/connections/${id}/scopes`, { data })
      expect(await named('main')).toMatchObject({ scopes: 3 })
      const rules = await create(api, `/plugins/github/connections/${id}/scope-configs`, { name: 'strict' })
      const [{ githubId }] = data
      await api.ask('PATCH', `/plugins/github/connections/${id}/scopes/${githubId}`, { scopeConfigId: rules.id })
      const connections = [{ pluginName: 'github', connectionId: id, scopes: [{ scopeId: String(githubId) }] }]
      await create(api, '/projects', { name: 'shop', blueprint: { connections } })
      const { body } = await api.ask('GET', at)
      expect(body.scopes.map((scope: any) => scope.name)).toEqual(['acme/api', 'acme/web', 'globex/shop'])
      expect(body.scopes[0]).toEqual({
        id: String(githubId),
        name: 'acme/api',
        scopeConfigId: rules.id,
        scopeConfigName: 'strict',
        collectedAt: null,
        usedBy: ['shop'],
      })
      expect((await api.ask('GET', `${at}?searchTerm=WEB&pageSize=1`)).body).toMatchObject({
        count: 1,
        scopes: [{ name: 'acme/web', scopeConfigName: null, usedBy: [] }],
      })
      expect((await api.ask('GET', `${at}?searchTerm=%25`)).body.count).toBe(0)
      expect((await api.ask('GET', '/v1/connections/github/99/scopes')).status).toBe(404)
      expect((await api.ask('GET', '/v1/connections/nothing/1/scopes')).status).toBe(404)
    })

    it('says what patterns match now', async () => {
      const { id } = await named('main')
      const ask = (body: object) => api.ask('POST', `/v1/connections/github/${id}/matches`, body)
      const names = async (body: object) => (await ask(body)).body.scopes.map((scope: any) => scope.fullName)
      expect(await names({ scopes: ['acme/*'] })).toEqual(['acme/api', 'acme/web'])
      expect(await names({ scopes: ['acme/*'], archived: true })).toEqual(['acme/api', 'acme/attic', 'acme/web'])
      expect(await names({ scopes: ['**'], except: ['acme/*'] })).toEqual(['globex/shop'])
      expect((await ask({ scopes: ['acme/web', 'acme/none', 'nobody/*'] })).body).toMatchObject({
        count: 1,
        unmatched: ['acme/none', 'nobody/*'],
      })
      expect((await ask({ scopes: [] })).status).toBe(400)
      expect((await ask({ scopes: ['x'.repeat(600)] })).status).toBe(400)
      expect((await api.ask('POST', '/v1/connections/github/99/matches', { scopes: ['*'] })).status).toBe(404)
    })

    it('forgets a connection that is deleted', async () => {
      const { id } = await create(api, '/plugins/github/connections', { name: 'short', ...settings() })
      await api.ask('POST', `/plugins/github/connections/${id}/test`, {})
      await api.ask('DELETE', `/plugins/github/connections/${id}`)
      expect(await named('short')).toBeUndefined()
      const rows = await test.database.kysely
        .selectFrom('_weir_connection_states')
        .selectAll()
        .where('connection_id', '=', id)
        .execute()
      expect(rows).toEqual([])
    })
  })

  it('says what runs found, and what the source still allows', async () => {
    const server: LiveServer = await startLiveServer(test.url, { ENCRYPTION_SECRET: SECRET_KEY })
    try {
      const connection = { name: 'of runs', ...settings(), token: SECOND_TOKEN }
      const { id } = (await server.ask('POST', '/plugins/github/connections', connection)).body
      const scope = { githubId: github.world.repository('acme/web').id, name: 'acme/web', fullName: 'acme/web' }
      await server.ask('PUT', `/plugins/github/connections/${id}/scopes`, { data: [scope] })
      const run = async () => {
        const options = { connectionId: id, name: 'acme/web', githubId: scope.githubId }
        const { body } = await server.ask('POST', '/pipelines', {
          name: 'one',
          plan: [[{ plugin: 'github', options }]],
        })
        await expect
          .poll(async () => (await server.ask('GET', `/pipelines/${body.id}`)).body.status, { timeout: 240_000 })
          .toMatch(/COMPLETED|FAILED/)
        return body.id
      }
      const read = async () =>
        (await server.ask('GET', '/v1/connections')).body.find((each: any) => each.name === 'of runs')
      const first = await run()
      expect(await read()).toMatchObject({
        state: 'works',
        pipelineId: first,
        collectedAt: expect.any(String),
        failure: null,
        requestsLeft: expect.any(Number),
        countedAt: expect.any(String),
      })
      github.revoke(SECOND_TOKEN)
      const second = await run()
      expect(await read()).toMatchObject({ state: 'fails', pipelineId: second, failure: expect.stringMatching(/401/) })
    } finally {
      await server.stop()
    }
  })
})
