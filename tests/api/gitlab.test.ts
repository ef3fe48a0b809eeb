/** GitLab over the API: a connection, its test, its scopes, its names, and the plan of a project. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { DEFAULT_TOKEN, type FakeGitlab, startFakeGitlab } from '../fake-gitlab/fake-gitlab.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const base = '/plugins/gitlab'
const FEW = { issues: 4, mergeRequests: 4, pipelines: 3, deployments: 3 }

describeOneWithTables('gitlab', (test) => {
  let api: TestApi
  let gitlab: FakeGitlab
  let id: number
  beforeAll(async () => {
    gitlab = await startFakeGitlab({
      tokens: [
        { token: DEFAULT_TOKEN, scopes: ['read_api', 'read_repository'] },
        { token: 'glpat-for-git', scopes: ['read_repository'] },
        { token: 'glpat-for-people', scopes: ['read_user'] },
        { token: 'oauth-token', isOauth: true },
      ],
      world: {
        groups: ['empty'],
        projects: [
          { path: 'acme/web', ...FEW },
          { path: 'acme/old', archived: true },
          { path: 'acme/shop/api' },
          { path: 'user-1/dotfiles' },
          ...Array.from({ length: 130 }, (_, index) => ({ path: `many/project-${index}` })),
        ],
      },
    })
    api = await startTestApi(test.database)
    const settings = { name: 'main', endpoint: gitlab.url, token: DEFAULT_TOKEN }
    id = (await api.ask('POST', `${base}/connections`, settings)).body.id
  })
  afterAll(async () => {
    expect(gitlab.violations).toEqual([])
    await api.close()
    await gitlab.stop()
  })
  const at = (path = '') => `${base}/connections/${id}${path}`
  const children = async (query = '') => (await api.ask('GET', at(`/remote-scopes?${query}`))).body
  const namesIn = (body: any) => body.children.map(({ type, fullName }: any) => `${type} ${fullName}`)

  it('tests a connection and says what to change', async () => {
    const settings = { endpoint: gitlab.url, token: DEFAULT_TOKEN }
    const good = await api.ask('POST', `${base}/test`, settings)
    expect(good).toMatchObject({ status: 200, body: { success: true } })
    expect(await api.ask('POST', `${base}/test`, { ...settings, token: 'oauth-token' })).toMatchObject({
      body: { success: true },
    })
    for (const [changes, status, says] of [
      [{ token: 'glpat-for-git' }, 200, /^The token lacks read_api: make one with/],
      [{ token: 'glpat-for-people' }, 200, /^The token lacks read_api, read_repository: make one with/],
      [{ token: 'wrong-token' }, 400, /401 Unauthorized.*not expired and not revoked/],
      [{ token: '' }, 400, /token is missing: add it/],
      [{ endpoint: gitlab.url.replace('/api/v4', '/api/v9') }, 404, /Check the endpoint. It ends with \/api\/v4\//],
      [{ endpoint: 'http://127.0.0.1:9/' }, 503, /127\.0\.0\.1:9/],
    ] as const) {
      const answer = await api.ask('POST', `${base}/test`, { ...settings, ...changes })
      expect(answer).toMatchObject({ status, body: { success: false } })
      expect(answer.body.message).toMatch(says)
      expect(answer.text).not.toMatch(/glpat-|wrong-token/)
    }
    gitlab.violations.length = 0 // the wrong endpoint caused violations
  })

  it('offers the own account and the groups, with subgroups before projects', async () => {
    expect(namesIn(await children())).toEqual(['group user-1', 'group acme', 'group many', 'group empty'])
    const [own, acme] = (await children()).children
    expect(own.id).toBe('user:1')
    expect(namesIn(await children(`groupId=${own.id}`))).toEqual(['scope user-1/dotfiles'])
    const first = await children(`groupId=${acme.id}`)
    expect(namesIn(first)).toEqual(['group acme/shop'])
    const second = await children(`groupId=${acme.id}&pageToken=${encodeURIComponent(first.nextPageToken)}`)
    expect(namesIn(second)).toEqual(['scope acme/web'])
    expect(second.nextPageToken).toBe('')
  })

  it('pages through a group of many, and knows a group without projects', async () => {
    const [, , many, empty] = (await children()).children
    let page = await children(`groupId=${many.id}`)
    const found = namesIn(page)
    while (page.nextPageToken) {
      page = await children(`groupId=${many.id}&pageToken=${encodeURIComponent(page.nextPageToken)}`)
      found.push(...namesIn(page))
    }
    expect(new Set(found).size).toBe(130)
    const none = await children(`groupId=${empty.id}`)
    expect(none.children).toEqual([])
    const rest = await children(`groupId=${empty.id}&pageToken=${encodeURIComponent(none.nextPageToken)}`)
    expect(rest).toEqual({ children: [], nextPageToken: '' })
  })

  it('searches projects by name, adds one, and tells the names in it', async () => {
    const { body } = await api.ask('GET', at('/search-remote-scopes?search=acme/web&page=1&pageSize=10'))
    expect(namesIn(body)).toEqual(['scope acme/web'])
    const { data } = body.children[0]
    expect(data).toMatchObject({ gitlabId: 70, pathWithNamespace: 'acme/web', archived: false })
    const put = await api.ask('PUT', at('/scopes'), { data: [data] })
    expect(put).toMatchObject({
      status: 200,
      body: [{ gitlabId: 70, connectionId: id, httpUrlToRepo: expect.stringMatching(/web\.git$/) }],
    })
    const { body: names } = await api.ask('GET', `/v1/names?plugin=gitlab&connectionId=${id}`)
    const of = (kind: string) => names.kinds.find((each: any) => each.kind === kind).names.map(({ name }: any) => name)
    expect(names).toMatchObject({ basis: 'sample', problem: null })
    expect(of('jobs')).toEqual(expect.arrayContaining(['build', 'unit test']))
    expect(of('refs')).toEqual(expect.arrayContaining(['main']))
    expect(of('environments').length).toBeGreaterThan(0)
    expect(of('issueLabels').length + of('mergeRequestLabels').length).toBeGreaterThan(0)
  })

  it('becomes a task with its git history beside it, and refdiff after it where releases are compared', async () => {
    const config = { name: 'rules', entities: ['CODE', 'CICD'], envNamePattern: 'prod', refdiff: { tagsLimit: 3 } }
    const { body: rules } = await api.ask('POST', at('/scope-configs'), config)
    await api.ask('PATCH', at('/scopes/70'), { scopeConfigId: rules.id })
    await api.ask('POST', '/projects', { name: 'shop', metrics: [] })
    const { body: project } = await api.ask('GET', '/projects/shop')
    const connections = [{ pluginName: 'gitlab', connectionId: id, scopes: [{ scopeId: '70' }] }]
    const { body: blueprint } = await api.ask('PATCH', `/blueprints/${project.blueprint.id}`, { connections })
    const tasks = blueprint.plan.flat().map(({ plugin, options }: any) => ({ plugin, options }))
    expect(tasks).toMatchObject([
      { plugin: 'org' },
      { plugin: 'gitlab', options: { connectionId: id, projectId: 70, fullName: 'acme/web' } },
      { plugin: 'gitextractor', options: { repoId: `gitlab:GitlabProject:${id}:70`, fullName: 'acme/web' } },
      { plugin: 'refdiff', options: { repoId: `gitlab:GitlabProject:${id}:70`, tagsLimit: 3 } },
    ])
    const bad = await api.ask('POST', at('/scope-configs'), { name: 'bad', deploymentPattern: '(open' })
    expect(bad).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/deploymentPattern.*does not compile/) },
    })
  })
})
