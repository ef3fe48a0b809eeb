/** Jira over the API: connection tests that say what to change, boards, and the data that forms request. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { startTestApi, type TestApi } from '../api/support/test-api.ts'
import { ACCESS_TOKEN, type FakeJira, SHA, startFakeJira, USER } from '../fake-jira/fake-jira.ts'
import { describeOneWithTables } from '../support/databases.ts'

const FAILED = { code: 0, success: false, message: expect.any(String) }
const base = '/plugins/jira'

describeOneWithTables('jira', (test) => {
  let api: TestApi
  let jira: FakeJira
  let settings: Record<string, unknown>
  let id: number
  beforeAll(async () => {
    jira = await startFakeJira()
    settings = { endpoint: jira.url, authMethod: 'BasicAuth', ...USER, proxy: '', rateLimitPerHour: 0 }
    api = await startTestApi(test.database)
  })
  beforeEach(() => jira.instead.clear())
  afterAll(async () => {
    await api.close()
    await jira.stop()
  })
  const at = (path = '') => `${base}/connections/${id}${path}`

  async function refused(changes: object, status: number, says: RegExp): Promise<void> {
    const answer = await api.ask('POST', `${base}/test`, { ...settings, ...changes })
    expect(answer).toMatchObject({ status, body: FAILED })
    expect(answer.body.message).toMatch(says)
    for (const secret of [USER.password, ACCESS_TOKEN]) expect(answer.text).not.toContain(secret)
  }

  it('tests a connection, with a password or with a token', async () => {
    const tested = await api.ask('POST', `${base}/test`, settings)
    expect(tested).toMatchObject({
      status: 200,
      body: { success: true, message: 'success', causes: null, Connection: { endpoint: jira.url, password: '' } },
    })
    expect(tested.text).not.toContain(USER.password)
    const byToken = { endpoint: jira.url, authMethod: 'AccessToken', token: ACCESS_TOKEN }
    expect(await api.ask('POST', `${base}/test`, byToken)).toMatchObject({ status: 200, body: { success: true } })
  })

  it('says what to change', async () => {
    const site = jira.url.replace('rest/', '')
    await refused({ endpoint: site }, 404, /The endpoint is wrong: Ends in \/rest\//)
    await refused({ endpoint: `${site}jira/rest/` }, 404, /There is no Jira at .* Check the address/)
    await refused({ password: 'wrong' }, 400, /401 Client must be authenticated.*Check that they are complete/)
    await refused({ password: '' }, 400, /password is missing/)
    await refused({ username: '' }, 400, /username is missing/)
    await refused({ authMethod: 'AccessToken' }, 400, /token is missing/)
    await refused({ endpoint: '' }, 400, /endpoint is missing: add it. Ends in \/rest\//)
    const forbidden = { status: 403, body: { errorMessages: ['The user has no access to Jira Software.'] } }
    jira.instead.set('agile/1.0/board', forbidden)
    await refused({}, 403, /has no access to Jira Software.*Check the permissions/)
    jira.instead.set('agile/1.0/board', { status: 404, body: {} })
    await refused({}, 404, /Jira Software, which is not installed/)
    const old = { version: '6.4.14', versionNumbers: [6, 4, 14], deploymentType: 'Server' }
    jira.instead.set('api/2/serverInfo', { status: 200, body: old })
    await refused({}, 400, /Jira 6\.4\.14 is too old: version 7 or later is needed/)
    jira.instead.set('api/2/serverInfo', { status: 200, body: { hello: 'world' } })
    await refused({}, 502, /does not answer as Jira does: check its address/)
    jira.instead.set('api/2/serverInfo', { status: 500, body: {} })
    await refused({}, 503, /failed once, last with: 500/)
  })

  it('stores a connection, shows no password, and tests it again', async () => {
    const created = await api.ask('POST', `${base}/connections`, { name: 'tickets', ...settings })
    expect(created).toMatchObject({ status: 201, body: { name: 'tickets', username: USER.username, password: '' } })
    id = created.body.id
    // The connection is sent back as it was shown, with a masked password, and the stored password stays.
    expect((await api.ask('PATCH', at(), { ...created.body, rateLimitPerHour: 500 })).body.rateLimitPerHour).toBe(500)
    expect(await api.ask('POST', at('/test'))).toMatchObject({ status: 200, body: { success: true } })
    expect(await api.ask('POST', at('/test'), { password: 'wrong' })).toMatchObject({ status: 400, body: FAILED })
    expect((await api.ask('POST', at('/test'))).text).not.toContain(USER.password)
    const stored = await test.database.kysely.selectFrom('_tool_jira_connections').selectAll().execute()
    expect(JSON.stringify(stored)).not.toContain(USER.password)
    for (const lacking of [{ password: '' }, { username: null }, { authMethod: 'AccessToken', token: '' }]) {
      const answer = await api.ask('POST', `${base}/connections`, { name: 'other', ...settings, ...lacking })
      expect(answer).toMatchObject({ status: 400, body: FAILED })
    }
  })

  it('takes no secret over into another way of signing in', async () => {
    const reveal = () => api.control.services.connections.reveal('jira', id)
    expect(await api.ask('PATCH', at(), { authMethod: 'AccessToken' })).toMatchObject({ status: 400, body: FAILED })
    expect(await reveal()).toMatchObject({ authMethod: 'BasicAuth', password: USER.password })
    expect(await api.ask('POST', at('/test'), { authMethod: 'AccessToken' })).toMatchObject({ status: 400 })

    const byToken = await api.ask('PATCH', at(), { authMethod: 'AccessToken', token: ACCESS_TOKEN })
    expect(byToken).toMatchObject({ status: 200, body: { authMethod: 'AccessToken', password: '' } })
    expect(await reveal()).toMatchObject({ token: ACCESS_TOKEN, password: '' })
    expect((await api.ask('PATCH', at(), { authMethod: 'AccessToken', token: byToken.body.token })).status).toBe(200)
    expect(await reveal()).toMatchObject({ token: ACCESS_TOKEN })

    const back = { authMethod: 'BasicAuth', token: byToken.body.token }
    expect((await api.ask('PATCH', at(), back)).status).toBe(400)
    expect((await api.ask('PATCH', at(), { ...back, password: USER.password })).status).toBe(200)
    expect(await reveal()).toMatchObject({ token: '', password: USER.password })
  })

  it('offers boards, page by page, and finds them by name', async () => {
    const boards: any[] = []
    let token = ''
    do {
      const { body } = await api.ask('GET', at(`/remote-scopes?pageToken=${encodeURIComponent(token)}`))
      boards.push(...body.children)
      token = body.nextPageToken
      if (boards.length === 50) {
        expect(JSON.parse(Buffer.from(token, 'base64').toString())).toEqual({ maxResults: 50, startAt: 50 })
      }
    } while (token)
    expect(boards.map((entry) => entry.id)).toEqual(jira.boards.map((board) => String(board.id)))
    expect(boards[77]).toEqual({
      type: 'scope',
      parentId: null,
      id: '78',
      name: 'Checkout board',
      fullName: 'Checkout board',
      data: {
        boardId: 78,
        projectId: 10_000,
        name: 'Checkout board',
        self: `${jira.url}agile/1.0/board/78`,
        type: 'kanban',
      },
    })
    expect((await api.ask('GET', at('/search-remote-scopes?search=checkout&page=1&pageSize=50'))).body).toMatchObject({
      children: [{ id: '78' }],
      page: 1,
      pageSize: 50,
      count: 1,
    })
    const second = await api.ask('GET', at('/search-remote-scopes?search=board&page=2&pageSize=50'))
    expect(second.body.children[0]).toMatchObject({ id: '51' })
    expect(await api.ask('GET', at('/search-remote-scopes'))).toMatchObject({ status: 400, body: FAILED })
    expect(await api.ask('GET', at('/remote-scopes?pageToken=x'))).toMatchObject({ status: 400, body: FAILED })

    const put = await api.ask('PUT', at('/scopes'), { data: [boards[77].data] })
    expect(put).toMatchObject({ status: 200, body: [{ boardId: 78, connectionId: id, jql: '' }] })
    expect(put.body[0]._raw_data_params).toBe(JSON.stringify({ ConnectionId: id, BoardId: 78 }))
    expect((await api.ask('GET', at('/scopes?searchTerm=CHECK'))).body.count).toBe(1)
  })

  it('passes requests of the form on', async () => {
    expect(await api.ask('GET', at('/proxy/rest/api/2/issuetype'))).toMatchObject({
      status: 200,
      body: [{ name: 'Story' }, { name: 'Bug' }, { name: 'Epic' }],
      headers: { 'x-arequestid': '1' },
    })
    const fields = await api.ask('GET', at('/proxy/rest/api/2/field'))
    expect(fields.body).toMatchObject([{ id: 'customfield_10016', name: 'Story Points' }])
    const unknown = await api.server.inject(at('/proxy/rest/api/2/issue/NONE-1'))
    expect([unknown.statusCode, unknown.json().errorMessages]).toMatchObject([404, [expect.any(String)]])
  })

  it('stores scope configs as the form sends them', async () => {
    const regex = `https://git.example/(?P<namespace>\\S+)/(?P<repo_name>\\S+)/-/commit/(?P<commit_sha>\\w{40})`
    const sent = {
      name: 'rules',
      entities: ['TICKET', 'CROSS'],
      storyPointField: 'customfield_10016',
      typeMappings: { Story: { standardType: 'REQUIREMENT' } },
      remotelinkCommitShaPattern: '',
      remotelinkRepoPattern: [{ pattern: 'https://git.example/{namespace}/…', regex }],
    }
    const created = await api.ask('POST', at('/scope-configs'), sent)
    expect(created).toMatchObject({ status: 201, body: sent })
    const wrong = { ...sent, name: 'wrong', remotelinkRepoPattern: [{ pattern: '', regex: '(' }] }
    expect(await api.ask('POST', at('/scope-configs'), wrong)).toMatchObject({ status: 400, body: FAILED })
  })

  it('names the code hosts of an issue and its newest commits', async () => {
    expect((await api.ask('GET', at('/application-types?key=SHOP-1'))).body).toEqual(['GitLab', 'stash'])
    expect((await api.ask('GET', at('/application-types?key=SHOP-2'))).body).toEqual([])
    const { body: urls } = await api.ask('GET', at('/dev-panel-commits?key=SHOP-1&applicationType=GitLab'))
    expect(urls).toEqual(
      [6, 5, 4, 3, 2].map((number) => `https://git.example/group/shop/-/commit/${SHA}?number=${number}`),
    )
    expect((await api.ask('GET', at('/dev-panel-commits?key=SHOP-1&applicationType=stash'))).body).toEqual([])
    for (const [path, status] of [
      ['/application-types', 400],
      ['/application-types?key=', 400],
      ['/application-types?key=NONE-1', 404],
      ['/dev-panel-commits?key=SHOP-1', 400],
      ['/dev-panel-commits?key=NONE-1&applicationType=GitLab', 404],
    ] as const) {
      expect(await api.ask('GET', at(path)), path).toMatchObject({ status, body: FAILED })
    }
    expect((await api.ask('GET', `${base}/connections/99/application-types?key=SHOP-1`)).status).toBe(404)
  })

  it('makes a regular expression of an address, and applies it', async () => {
    const pattern = 'https://git.example/{namespace}/{repo_name}/-/commit/{commit_sha}'
    const made = await api.ask('POST', `${base}/generate-regex`, { pattern })
    expect(made.status).toBe(200)
    const urls = [`https://git.example/group/shop/-/commit/${SHA}`]
    const applied = await api.ask('POST', `${base}/apply-regex`, { ...made.body, urls })
    expect(applied).toMatchObject({ status: 200, body: [{ namespace: 'group', repo_name: 'shop', commit_sha: SHA }] })
    for (const [path, body] of [
      ['generate-regex', {}],
      ['generate-regex', { pattern: 'https://git.example/{namespace}' }],
      ['apply-regex', { regex: '(', urls }],
      ['apply-regex', { regex: 'commit', urls }],
      ['apply-regex', { regex: made.body.regex }],
    ] as const) {
      expect(await api.ask('POST', `${base}/${path}`, body)).toMatchObject({ status: 400, body: FAILED })
    }
  })
})
