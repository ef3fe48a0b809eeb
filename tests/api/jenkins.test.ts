/** Jenkins over the API: a connection, its test, the tree of its jobs, and a project that collects from it. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type FakeJenkins, startFakeJenkins, TOKEN, USER } from '../fake-jenkins/fake-jenkins.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const FAILED = { code: 0, success: false, message: expect.any(String) }
const base = '/plugins/jenkins'

describeOneWithTables('jenkins', (test) => {
  let api: TestApi
  let fake: FakeJenkins
  let id: number
  beforeAll(async () => {
    fake = await startFakeJenkins()
    api = await startTestApi(test.database)
    const settings = { name: 'builds', endpoint: fake.endpoint, username: USER, password: TOKEN }
    id = (await api.ask('POST', `${base}/connections`, settings)).body.id
  })
  afterAll(async () => {
    await api.close()
    await fake.stop()
  })
  const at = (path = '') => `${base}/connections/${id}${path}`
  const childrenOf = async (group?: string, pageToken?: string) => {
    const query = new URLSearchParams({ ...(group && { groupId: group }), ...(pageToken && { pageToken }) })
    return (await api.ask('GET', at(`/remote-scopes?${query}`))).body
  }

  it('tests a connection, below a path too, and says what to change', async () => {
    const settings = { endpoint: fake.endpoint, username: USER, password: TOKEN }
    expect(await api.ask('POST', `${base}/test`, settings)).toMatchObject({ status: 200, body: { success: true } })
    expect(await api.ask('POST', at('/test'))).toMatchObject({ status: 200, body: { success: true } })
    for (const [changes, status, says] of [
      [{ password: 'wrong-password' }, 400, /401/],
      [{ endpoint: `${fake.endpoint}api/json` }, 400, /must not contain \/api: leave that out/],
      [{ endpoint: fake.url }, 404, /404.*Check the endpoint. Where people open Jenkins/],
      [{ endpoint: 'http://127.0.0.1:9/' }, 503, /127\.0\.0\.1:9/],
    ] as const) {
      const answer = await api.ask('POST', `${base}/test`, { ...settings, ...changes })
      expect(answer, JSON.stringify(changes)).toMatchObject({ status, body: FAILED })
      expect(answer.body.message).toMatch(says)
      expect(answer.text).not.toMatch(/wrong-password|11a0b1c2d3e4f5/)
    }
    fake.failures.push({ path: 'api/json', status: 200 })
    const page = await api.ask('POST', `${base}/test`, settings)
    expect(page.body).toMatchObject(FAILED)
    expect(page.body.message).toMatch(/JSON|HTML|page|does not answer as Jenkins/)
    fake.failures.length = 0
  })

  it('offers folders as groups, and jobs and multibranch projects as scopes', async () => {
    fake.add('folder', 'team a')
    fake.add('organisation', 'org')
    fake.add('freestyle', 'nightly')
    fake.add('multibranch', 'team a/app')
    fake.add('pipeline', 'team a/app/main')
    fake.add('pipeline', 'team a/tool')
    fake.add('folder', 'team a/inner')
    const root = await childrenOf()
    expect(root.children).toMatchObject([
      { type: 'group', id: '/job/team%20a', name: 'team a', parentId: null },
      { type: 'group', id: '/job/org', fullName: 'org' },
      { type: 'scope', id: 'nightly', data: { fullName: 'nightly', path: '', class: 'hudson.model.FreeStyleProject' } },
    ])
    const team = await childrenOf('/job/team%20a')
    expect(team.children.map(({ type, id }: any) => [type, id])).toEqual([
      ['scope', 'team a/app'],
      ['scope', 'team a/tool'],
      ['group', '/job/team%20a/job/inner'],
    ])
    expect(team.children[0].data).toMatchObject({ name: 'app', path: 'job/team%20a/', url: expect.any(String) })
  })

  it('offers thousands of jobs page by page, trees of any depth, and no folder within itself', async () => {
    fake.add('folder', 'many')
    for (let number = 0; number < 2050; number++) fake.add('freestyle', `many/job-${number}`)
    const names = new Set<string>()
    for (let token: string | undefined, pages = 0; token !== ''; pages++) {
      const { children, nextPageToken } = await childrenOf('/job/many', token)
      expect(children.length).toBeLessThanOrEqual(100)
      for (const { name } of children) names.add(name)
      token = nextPageToken
      expect(pages).toBeLessThan(30)
    }
    expect(names.size).toBe(2050)

    const path = Array.from({ length: 30 }, (_, depth) => `d${depth}`)
    for (let depth = 1; depth <= path.length; depth++) fake.add('folder', path.slice(0, depth).join('/'))
    fake.add('freestyle', `${path.join('/')}/bottom`)
    const { children } = await childrenOf(path.map((name) => `/job/${name}`).join(''))
    expect(children).toMatchObject([{ type: 'scope', id: `${path.join('/')}/bottom` }])

    fake.add('folder', 'loop')
    fake.add('freestyle', 'loop/job')
    fake.circular.add('loop')
    expect((await childrenOf('/job/loop')).children.map(({ id }: any) => id)).toEqual(['loop/job'])
    // A folder that the account may not see is not offered, and cannot be opened.
    fake.hidden.add('loop')
    expect((await childrenOf()).children.map(({ name }: any) => name)).not.toContain('loop')
    expect((await api.ask('GET', at('/remote-scopes?groupId=/job/loop'))).status).toBeGreaterThanOrEqual(400)
  })

  it('takes a scope whose id has slashes into a plan, and suggests rules by its names', async () => {
    for (let number = 0; number < 2; number++) fake.build('team a/app/main', { stages: ['build', 'Deploy to prod'] })
    const { children } = await childrenOf('/job/team%20a')
    const put = await api.ask('PUT', at('/scopes'), { data: [children[0].data] })
    expect(put).toMatchObject({ status: 200, body: [{ fullName: 'team a/app' }] })
    const one = await api.ask('GET', at(`/scopes/${encodeURIComponent('team a/app')}`))
    expect(one).toMatchObject({ status: 200, body: { scope: { fullName: 'team a/app' } } })
    const { body: blueprint } = await api.ask('POST', '/blueprints', {
      name: 'builds',
      mode: 'NORMAL',
      isManual: true,
      connections: [{ pluginName: 'jenkins', connectionId: id, scopes: [{ scopeId: 'team a/app' }] }],
    })
    expect(blueprint.plan).toMatchObject([
      [{ plugin: 'jenkins', options: { connectionId: id, fullName: 'team a/app' } }],
    ])
    expect(Object.keys(blueprint.plan[0][0].options).sort()).toEqual(['connectionId', 'fullName'])
  })

  it('stands among the sources with its fields; so do webhooks, with what can be sent to them', async () => {
    const { body: sources } = await api.ask('GET', '/v1/sources')
    const jenkins = sources.find(({ plugin }: any) => plugin === 'jenkins')
    expect(jenkins).toMatchObject({ isPushed: false, messages: [], entities: ['CICD'], scope: { hasGroups: true } })
    expect(Object.keys(jenkins.connection)).toEqual(['endpoint', 'username', 'password', 'proxy', 'rateLimitPerHour'])
    const webhook = sources.find(({ plugin }: any) => plugin === 'webhook')
    expect(webhook).toMatchObject({ isPushed: true, title: 'Webhook', connection: {}, scopeConfig: {} })
    expect(webhook.about).not.toBe('')
    expect(webhook.messages.map(({ path }: any) => path)).toEqual(
      ['deployments', 'pull_requests', 'issues'].map((kind) => `/plugins/webhook/connections/{connectionId}/${kind}`),
    )
    const made = (await api.ask('POST', '/plugins/webhook/connections', { name: 'own' })).body
    for (const { path, schema, example } of webhook.messages) {
      expect(schema.required.length).toBeGreaterThan(0)
      expect(Object.keys(example)).toEqual(expect.arrayContaining(schema.required))
      const sent = await api.ask('POST', path.replace('{connectionId}', made.id), example)
      expect(sent.status, path).toBe(200)
    }
  })
})
