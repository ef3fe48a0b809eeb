/** Projects, blueprints, keys, store and plugins: a success and each listed failure of every endpoint. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeEachWithTables } from '../support/databases.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const DONE = { code: 0, success: true, message: 'success', causes: null, data: null }
const FAILED = { code: 0, success: false, causes: null, data: null, message: expect.any(String) }
const NULL_PLAN = [[{ Plugin: 'dora', subtasks: null, options: { projectName: 'x' } }]]
const PLAN = [[{ plugin: 'dora', subtasks: [], options: { projectName: 'x' } }]]

describeEachWithTables('core endpoints', (test) => {
  let api: TestApi
  beforeAll(async () => {
    api = await startTestApi(test.database)
  })
  afterAll(() => api.close())

  it('tells that it is there', async () => {
    expect(await api.ask('GET', '/ping')).toMatchObject({ status: 200, text: '' })
    expect((await api.ask('GET', '/ready')).body).toMatchObject({ success: true, message: 'ready' })
    expect((await api.ask('GET', '/api/health')).body).toMatchObject({ success: true, message: 'good' })
    expect((await api.ask('GET', '/version')).body.version).toMatch(/^\d+\.\d+/)
    expect((await api.ask('GET', '/proceed-db-migration')).body).toEqual(DONE)
    expect((await api.ask('GET', '/auth/userinfo')).body).toEqual({ authenticated: false, name: '', email: '' })
    expect((await api.ask('GET', '/auth/methods')).body).toMatchObject({ apiKey: { enabled: true } })
    expect((await api.ask('GET', '/auth/login')).status).toBe(503)
    expect((await api.ask('POST', '/auth/logout')).body).toEqual({ ok: true })
    const { headers, text } = await api.ask('GET', '/')
    expect(headers['content-type']).toContain('text/html')
    expect(text).toContain('<title>Weir')
  })

  it('answers below /api, redirects slashes, and knows nothing else', async () => {
    expect((await api.ask('GET', '/api/version')).status).toBe(200)
    expect(await api.ask('GET', '/projects/?page=2')).toMatchObject({
      status: 301,
      headers: { location: '/projects?page=2' },
    })
    expect(await api.ask('POST', '/api/projects/')).toMatchObject({
      status: 307,
      headers: { location: '/api/projects' },
    })
    expect(await api.ask('GET', '//elsewhere.example/')).toMatchObject({ status: 404 })
    for (const [method, url] of [
      ['GET', '/nowhere'],
      ['GET', '/plugins/nothing/connections'],
    ] as const) {
      const { status, headers } = await api.ask(method, url)
      expect([status, headers['content-type']]).toEqual([404, 'text/plain; charset=utf-8'])
    }
  })

  it('creates, lists, changes and deletes projects', async () => {
    const metrics = [
      { pluginName: 'dora', pluginOption: '', enable: true },
      { pluginName: 'issue_trace', pluginOption: {}, enable: true },
    ]
    const created = await api.ask('POST', '/projects', { name: 'a / b', description: 'first', metrics, enable: true })
    expect(created.status).toBe(201)
    expect(created.body).toMatchObject({
      name: 'a / b',
      description: 'first',
      blueprint: {
        name: 'a / b-Blueprint',
        projectName: 'a / b',
        mode: 'NORMAL',
        enable: true,
        cronConfig: '0 0 * * *',
        isManual: false,
        skipOnFail: true,
        connections: [],
        labels: [],
      },
    })
    const half = new Date()
    half.setUTCMonth(half.getUTCMonth() - 6)
    expect(created.body.blueprint.timeAfter.slice(0, 7)).toBe(half.toISOString().slice(0, 7))
    expect(created.body.blueprint.timeAfter).toMatch(/T00:00:00/)
    expect(created.body.metrics.map(({ pluginName }: any) => pluginName)).toEqual(['dora', 'issue_trace'])

    expect((await api.ask('GET', '/projects/a%20%2F%20b')).body.name).toBe('a / b')
    expect((await api.ask('GET', '/projects/a%20%2F%20b/check')).body).toEqual({ exist: true })
    expect((await api.ask('GET', '/projects/other/check')).body).toEqual({ exist: false })
    await api.ask('POST', '/projects', { NAME: 'second' })
    const { body: all } = await api.ask('GET', '/projects')
    expect([all.count, all.projects[0].name]).toEqual([2, 'second'])
    expect((await api.ask('GET', '/projects?keyword=SECO&pageSize=-1')).body.count).toBe(1)
    expect((await api.ask('GET', '/projects?page=2&pageSize=1')).body.projects[0].name).toBe('a / b')

    const renamed = await api.ask('PATCH', '/projects/second', { ...all.projects[0], name: 'third' })
    expect(renamed).toMatchObject({ status: 201, body: { name: 'third', blueprint: { projectName: 'third' } } })
    expect(await api.ask('DELETE', '/projects/third')).toMatchObject({ status: 200, body: DONE })

    for (const [method, url, body, status] of [
      ['GET', '/projects?page=x', undefined, 400],
      ['POST', '/projects', {}, 400],
      ['POST', '/projects', { name: 'x'.repeat(101) }, 400],
      ['POST', '/projects', { name: 'a / b' }, 400],
      ['GET', '/projects/third', undefined, 404],
      ['PATCH', '/projects/third', { name: 'fourth' }, 404],
      ['DELETE', '/projects/third', undefined, 404],
    ] as const) {
      expect(await api.ask(method, url, body), `${method} ${url}`).toMatchObject({ status, body: FAILED })
    }
  })

  it('creates, lists, changes, plans and deletes blueprints', async () => {
    const advanced = { name: 'by hand', mode: 'ADVANCED', plan: NULL_PLAN, cronConfig: 'manual', labels: ['weekly'] }
    const created = await api.ask('POST', '/blueprints', advanced)
    expect(created).toMatchObject({
      status: 201,
      body: { name: 'by hand', isManual: true, plan: PLAN, labels: ['weekly'], connections: [], timeAfter: null },
    })
    const { id } = created.body
    expect((await api.ask('GET', `/blueprints/${id}`)).body).toEqual(created.body)
    const changed = await api.ask('PATCH', `/blueprints/${id}`, {
      ...created.body,
      enable: 'false',
      priority: '3',
      labels: null,
      cronConfig: '@weekly',
      isManual: false,
      timeAfter: '2024-05-01 00:00',
    })
    expect(changed).toMatchObject({
      status: 200,
      body: { enable: false, priority: 3, labels: [], cronConfig: '@weekly', timeAfter: '2024-05-01T00:00:00.000Z' },
    })
    for (const [query, count] of [
      ['type=CUSTOM', 1],
      ['type=MANUAL', 0],
      ['type=DAILY', 1], // the blueprint of the project made above
      ['enable=false', 1],
      ['label=weekly', 0],
      ['isManual=false&type=MANUAL', 2],
    ] as const) {
      expect((await api.ask('GET', `/blueprints?${query}`)).body.count, query).toBe(count)
    }
    expect(await api.ask('POST', `/blueprints/${id}/trigger`)).toMatchObject({ status: 400, body: FAILED })
    await api.ask('PATCH', `/blueprints/${id}`, { enable: true })
    const preview = await api.ask('GET', `/v1/blueprints/${id}/plan`)
    expect(preview.body.plan).toEqual(PLAN)
    expect((await api.ask('POST', '/v1/plans/preview', advanced)).body.tasks).toHaveLength(1)
    const run = await api.ask('POST', `/blueprints/${id}/trigger`, { fullSync: true, skipCollectors: null })
    expect(run).toMatchObject({
      status: 200,
      body: { blueprintId: id, status: 'TASK_CREATED', fullSync: true, skipCollectors: false, totalTasks: 1 },
    })
    expect(await api.ask('POST', `/blueprints/${id}/trigger`)).toMatchObject({ status: 400, body: FAILED })
    expect(await api.ask('DELETE', `/blueprints/${id}`)).toMatchObject({ status: 409, body: FAILED })
    expect((await api.ask('GET', `/blueprints/${id}/pipelines?pending=1`)).body.count).toBe(1)
    expect((await api.ask('GET', `/blueprints/${id}/pipelines?status=TASK_FAILED`)).body.count).toBe(0)
    await api.ask('DELETE', `/pipelines/${run.body.id}`)
    expect(await api.ask('DELETE', `/blueprints/${id}`)).toMatchObject({ status: 200, body: DONE })

    for (const [method, url, body, status] of [
      ['GET', '/blueprints?type=HOURLY', undefined, 400],
      ['POST', '/blueprints', { mode: 'ADVANCED', plan: PLAN }, 400],
      ['POST', '/blueprints', { name: 'x', mode: 'OTHER', plan: PLAN }, 400],
      ['POST', '/blueprints', { name: 'x', mode: 'ADVANCED', plan: [] }, 400],
      ['POST', '/blueprints', { name: 'x', mode: 'NORMAL', cronConfig: 'sometimes' }, 400],
      ['POST', '/blueprints', { name: 'x', mode: 'NORMAL', isManual: true, projectName: 'nobody' }, 400],
      ['POST', '/blueprints', { name: 'x', mode: 'NORMAL', isManual: true, projectName: 'a / b' }, 400],
      [
        'POST',
        '/blueprints',
        { name: 'x', mode: 'NORMAL', isManual: true, connections: [{ pluginName: 'github', connectionId: 1 }] },
        400,
      ],
      ['GET', '/blueprints/abc', undefined, 400],
      ['GET', `/blueprints/${id}`, undefined, 404],
      ['PATCH', `/blueprints/${id}`, { name: 'y' }, 404],
      ['DELETE', `/blueprints/${id}`, undefined, 404],
      ['POST', `/blueprints/${id}/trigger`, undefined, 404],
    ] as const) {
      expect(await api.ask(method, url, body), `${method} ${url}`).toMatchObject({ status, body: FAILED })
    }
    const { body: all } = await api.ask('GET', '/blueprints')
    const kept = all.blueprints[0]
    expect(await api.ask('PATCH', `/blueprints/${kept.id}`, { mode: 'ADVANCED' })).toMatchObject({ status: 400 })
    expect((await api.ask('GET', `/blueprints/${kept.id}`)).body).toEqual(kept)
  })

  it('keeps what the page stores', async () => {
    expect(await api.ask('GET', '/store/onboard')).toMatchObject({ status: 200, text: 'null' })
    const value = { step: 1, records: [{ plugin: 'github' }], done: false }
    expect(await api.ask('PUT', '/store/onboard', value)).toMatchObject({ status: 201, body: value })
    expect((await api.ask('PUT', '/store/onboard', { ...value, done: true })).status).toBe(201)
    expect((await api.ask('GET', '/store/onboard')).body).toEqual({ ...value, done: true })
    expect(await api.ask('PUT', '/store/onboard', '{"step":')).toMatchObject({ status: 400, body: FAILED })
  })

  it('creates, renews and deletes API keys', async () => {
    const sent = { name: 'ci', type: 'devlake', allowedPath: '.*', expiredAt: '2099-01-01T00:00:00Z' }
    const created = await api.ask('POST', '/api-keys', sent, { headers: { 'x-forwarded-user': 'ada' } })
    expect(created).toMatchObject({ status: 201, body: { name: 'ci', creator: 'ada', allowedPath: '.*' } })
    expect(created.body.apiKey).toMatch(/^[A-Za-z0-9]{128}$/)
    const listed = await api.ask('GET', '/api-keys')
    expect(listed.body).toMatchObject({ count: 1, apikeys: [{ name: 'ci' }] })
    expect(listed.body.apikeys[0]).not.toHaveProperty('apiKey')
    const renewed = await api.ask('PUT', `/api-keys/${created.body.id}`)
    expect(renewed.body.apiKey).not.toBe(created.body.apiKey)
    for (const [method, url, body, status] of [
      ['POST', '/api-keys', sent, 400],
      ['POST', '/api-keys', { ...sent, name: '' }, 400],
      ['POST', '/api-keys', { ...sent, name: 'x', allowedPath: '(' }, 400],
      ['POST', '/api-keys', { name: 'x' }, 400],
      ['PUT', '/api-keys/99', undefined, 404],
      ['PUT', '/api-keys/x', undefined, 400],
      ['DELETE', '/api-keys/99', undefined, 404],
    ] as const) {
      expect(await api.ask(method, url, body), `${method} ${url}`).toMatchObject({ status, body: FAILED })
    }
    expect(await api.ask('DELETE', `/api-keys/${created.body.id}`)).toMatchObject({ status: 200, body: DONE })
    expect((await api.ask('GET', '/api-keys')).body.count).toBe(0)
  })

  it('lists plugins, each with connections where the page will ask for them', async () => {
    const { body } = await api.ask('GET', '/plugins')
    const metrics = body.filter(({ metric }: any) => metric.isProjectMetric).map(({ plugin }: any) => plugin)
    expect(metrics.sort()).toEqual(['dora', 'issue_trace', 'linker'])
    for (const { plugin } of (await api.ask('GET', '/v1/sources')).body) {
      expect((await api.ask('GET', `/plugins/${plugin}/connections`)).body).toEqual([])
    }
    const info = (await api.ask('GET', '/plugininfo')).body
    expect(info.DomainInfos.map(({ table_name }: any) => table_name)).toContain('cicd_deployments')
    expect(info.PluginInfos.find(({ name }: any) => name === 'dora').task_mata[0]).toMatchObject({
      name: 'generateDeployments',
    })
  })

  it('takes rows into the domain layer', async () => {
    const rows = [{ id: 'push:1', name: 'pushed', url: 'https://example.org/pushed' }]
    expect(await api.ask('POST', '/push/repos', rows)).toMatchObject({ status: 200, body: { rowsAffected: 1 } })
    expect((await api.ask('GET', '/domainlayer/repos')).body).toMatchObject({ count: 1, repos: rows })
    for (const [url, body, status] of [
      ['/push/repos;drop', rows, 400],
      ['/push/repos', {}, 400],
      ['/push/repos', [{ id: 'x', colour: 'red' }], 400],
      ['/push/repos', [{ name: 'without a key' }], 400],
      ['/push/_devlake_api_keys', [{ name: 'x' }], 403],
    ] as const) {
      expect(await api.ask('POST', url, body), url).toMatchObject({ status, body: FAILED })
    }
    expect((await api.ask('GET', '/domainlayer/repos')).body.count).toBe(1)
  })

  it('remembers who changed what', async () => {
    await api.ask('POST', '/projects', { name: 'watched' }, { headers: { 'x-forwarded-user': 'grace' } })
    await api.ask('DELETE', '/projects/watched', undefined, { headers: { authorization: `Basic ${btoa('linus:x')}` } })
    const { body } = await api.ask('GET', '/v1/audit?subject=project&subjectKey=watched')
    expect(body.entries).toMatchObject([
      { actor: 'linus', action: 'delete', stateBefore: { name: 'watched' }, stateAfter: null },
      { actor: 'grace', action: 'create', stateBefore: null, stateAfter: { name: 'watched' } },
    ])
  })
})
