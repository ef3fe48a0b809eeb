/** DevLake's contract for keys, plugins and pushed rows, beyond their main uses. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeEachWithTables } from '../support/databases.ts'
import { create, FAILED, keysOf, ORIGIN, refused, sorted, WRITTEN } from './support/contract.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const API_KEY = [
  'id',
  ...WRITTEN,
  'creator',
  'creatorEmail',
  'updater',
  'updaterEmail',
  'name',
  'expiredAt',
  'allowedPath',
  'type',
  'extra',
]

describeEachWithTables('contract of the core', (test) => {
  let api: TestApi
  beforeAll(async () => {
    api = await startTestApi(test.database)
  })
  afterAll(() => api.close())

  it('API keys', async () => {
    const key = { name: 'listed', type: 'devlake', allowedPath: '/projects/.*' }
    const created = await create(api, '/api-keys', key)
    expect(keysOf(created)).toEqual(sorted(...API_KEY, 'apiKey'))
    await create(api, '/api-keys', { ...key, name: 'of a plugin', type: 'plugin:webhook' })
    await create(api, '/api-keys', { ...key, name: 'newest' })
    const { body } = await api.ask('GET', '/api-keys')
    expect(body.apikeys.map(({ name }: any) => name)).toEqual(['newest', 'listed'])
    expect(keysOf(body.apikeys[0])).toEqual(sorted(...API_KEY))
    expect((await api.ask('GET', '/api-keys?page=2&pageSize=1')).body).toMatchObject({
      count: 2,
      apikeys: [{ name: 'listed' }],
    })
    const renewed = await api.ask('PUT', `/api-keys/${created.id}`, undefined, {
      headers: { 'x-forwarded-user': 'ada' },
    })
    expect(renewed.body).toMatchObject({ id: created.id, name: 'listed', updater: 'ada', allowedPath: key.allowedPath })
    await refused(api, ['POST', '/api-keys', { ...key, name: 'x'.repeat(256) }], 400, /name/)
    await refused(api, ['POST', '/api-keys', { ...key, name: 'y', expiredAt: 'soon' }], 400, /expiredAt/)
    await refused(api, ['DELETE', '/api-keys/x'], 400)
  })

  it('says who asks, as a proxy before it does', async () => {
    const userinfo = async (headers: Record<string, string>) =>
      (await api.ask('GET', '/auth/userinfo', undefined, { headers })).body
    const forwarded = { 'x-forwarded-user': 'ada', 'x-forwarded-email': 'ada@example.org' }
    expect(await userinfo(forwarded)).toEqual({ authenticated: true, name: 'ada', email: 'ada@example.org' })
    expect(await userinfo({ authorization: `Basic ${btoa('grace:any')}` })).toMatchObject({ name: 'grace' })
  })

  it('plugins and their tables', async () => {
    const { body } = await api.ask('GET', '/plugins')
    for (const each of body) {
      expect(keysOf(each)).toEqual(['metric', 'plugin'])
      expect(keysOf(each.metric)).toEqual(['isProjectMetric', 'requiredDataEntities', 'runAfter'])
    }
    expect(body.find(({ plugin }: any) => plugin === 'refdiff').metric.isProjectMetric).toBe(false)
    const { body: info } = await api.ask('GET', '/plugininfo')
    expect(keysOf(info)).toEqual(['DomainInfos', 'PluginInfos'])
    const jira = info.PluginInfos.find(({ name }: any) => name === 'jira')
    expect(keysOf(jira)).toEqual(['description', 'name', 'tables', 'task_mata'])
    expect(keysOf(jira.task_mata[0])).toEqual(['description', 'domain_types', 'enabled_by_default', 'name', 'required'])
    expect(keysOf(jira.tables[0])).toEqual(['error', 'field', 'table_name'])
    expect(keysOf(jira.tables[0].field[0])).toEqual(['data_type', 'db_name', 'gorm_data_type', 'name', 'tags'])
  })

  it('pushed rows, and the repositories among them', async () => {
    await api.ask('POST', '/push/repos', [
      { id: 'push:1', name: 'one' },
      { id: 'push:2', name: 'two', deleted: true },
    ])
    expect((await api.ask('POST', '/push/repos', [{ id: 'push:1', name: 'first' }])).status).toBe(200)
    const { body } = await api.ask('GET', '/domainlayer/repos')
    expect(body).toMatchObject({ count: 2, repos: [{ id: 'push:1', name: 'first' }, { id: 'push:2' }] })
    expect(keysOf(body.repos[0])).toEqual(
      [
        'id',
        ...WRITTEN,
        ...ORIGIN,
        'name',
        'url',
        'description',
        'owner_id',
        'language',
        'forked_from',
        'created_date',
        'updated_date',
        'deleted',
      ].sort(),
    )
    await refused(api, ['POST', '/push/repos', [{ id: 'push:3', created_date: 'soon' }]], 400, /Row 1/)
    const narrow = await startTestApi(test.database, { PUSH_API_ALLOWED_TABLES: 'issues, boards' })
    try {
      expect((await narrow.ask('POST', '/push/boards', [{ id: 'push:1' }])).status).toBe(200)
      expect(await narrow.ask('POST', '/push/repos', [{ id: 'push:4' }])).toMatchObject({ status: 403, body: FAILED })
    } finally {
      await narrow.close()
    }
  })
})
