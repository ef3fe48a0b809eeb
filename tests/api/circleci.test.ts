/** CircleCI over the API: a connection, its test, and the projects that it offers. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type FakeCircleci, startFakeCircleci, TOKEN } from '../fake-circleci/fake-circleci.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const FAILED = { code: 0, success: false, message: expect.any(String) }
const base = '/plugins/circleci'

describeOneWithTables('circleci', (test) => {
  let api: TestApi
  let circleci: FakeCircleci
  let id: number
  beforeAll(async () => {
    circleci = await startFakeCircleci(0)
    api = await startTestApi(test.database)
  })
  afterAll(async () => {
    await api.close()
    await circleci.stop()
  })
  const at = (path = '') => `${base}/connections/${id}${path}`

  it('tests a connection and says what to change', async () => {
    const settings = { endpoint: circleci.url, token: TOKEN }
    const good = await api.ask('POST', `${base}/test`, settings)
    expect(good).toMatchObject({ status: 200, body: { success: true, Connection: { token: 'se********en' } } })
    for (const [changes, status, says] of [
      [{ token: 'wrong-token' }, 400, /401 You must log in first.*not expired and not revoked/],
      [{ token: '' }, 400, /token is missing: add it. User Settings, Personal API Tokens/],
      [
        { endpoint: `${circleci.url}wrong/` },
        404,
        /404 Not found. Check the endpoint. It usually is https:\/\/circleci/,
      ],
      [{ endpoint: 'http://127.0.0.1:9/' }, 503, /127\.0\.0\.1:9/],
    ] as const) {
      const answer = await api.ask('POST', `${base}/test`, { ...settings, ...changes })
      expect(answer).toMatchObject({ status, body: FAILED })
      expect(answer.body.message).toMatch(says)
      expect(answer.text).not.toMatch(/secret-token|wrong-token/)
    }
  })

  it('offers the projects that the owner of the token follows', async () => {
    const created = await api.ask('POST', `${base}/connections`, { name: 'ci', endpoint: circleci.url, token: TOKEN })
    id = created.body.id
    expect(await api.ask('POST', at('/test'))).toMatchObject({ status: 200, body: { success: true } })
    const { body } = await api.ask('GET', at('/remote-scopes'))
    expect(body).toMatchObject({ nextPageToken: '', children: [{ id: 'id-web' }, { id: 'id-api' }] })
    const [web] = body.children
    expect(web).toEqual({
      type: 'scope',
      parentId: null,
      id: 'id-web',
      name: 'web',
      fullName: 'github/acme/web',
      data: { id: 'id-web', name: 'web', slug: 'github/acme/web', organizationId: 'acme-id' },
    })
    // CircleCI can list projects, but not search them.
    expect((await api.ask('GET', at('/search-remote-scopes?search=web'))).status).toBe(404)

    const put = await api.ask('PUT', at('/scopes'), { data: [web.data] })
    expect(put).toMatchObject({ status: 200, body: [{ ...web.data, connectionId: id }] })
    const { body: config } = await api.ask('POST', at('/scope-configs'), {
      name: 'rules',
      entities: ['CICD'],
      deploymentPattern: 'deploy',
      productionPattern: '',
      refdiff: { tagsLimit: 10 },
    })
    expect(config).toMatchObject({ deploymentPattern: 'deploy', entities: ['CICD'] })
    expect(config).not.toHaveProperty('refdiff')
    expect((await api.ask('PATCH', at('/scopes/id-web'), { scopeConfigId: config.id })).body.scopeConfigId).toBe(
      config.id,
    )
    const { body: blueprint } = await api.ask('POST', '/blueprints', {
      name: 'ci',
      mode: 'NORMAL',
      isManual: true,
      connections: [{ pluginName: 'circleci', connectionId: id, scopes: [{ scopeId: 'id-web' }] }],
    })
    expect(blueprint.plan).toMatchObject([
      [{ plugin: 'circleci', options: { connectionId: id, projectSlug: 'github/acme/web' } }],
    ])
  })
})
