/** The audit log is complete, written in the transaction of the change, append-only, and can be exported. */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { saveSelectors } from '../../src/config-as-code/stored-selectors.ts'
import { systemTables } from '../../src/system/index.ts'
import { DEFAULT_TOKEN, type FakeGithub, startFakeGithub } from '../fake-github/fake-github.ts'
import { runCli } from '../support/cli.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { cookieHeader, cookiesOf } from './support/cookies.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const TOKEN = 'an-access-token-for-tests'
const PLAN = [[{ plugin: 'org', subtasks: [], options: {} }]]
const AUDIT = '_weir_audit_entries'

describeEachWithTables('audit', (test) => {
  let api: TestApi
  let github: FakeGithub
  let connectionId = 0
  const ask = (method: string, url: string, body?: unknown, headers: Record<string, string> = {}) =>
    api.ask(method, url, body, { headers: { authorization: `Bearer ${TOKEN}`, ...headers } })
  const entries = async (query: string): Promise<any[]> =>
    (await ask('GET', `/v1/audit?pageSize=500&${query}`)).body.entries
  const actions = async (query: string) => (await entries(query)).map(({ action }) => action).reverse()

  beforeAll(async () => {
    github = await startFakeGithub({ world: { repositories: ['acme/web', 'acme/api'].map((name) => ({ name })) } })
    api = await startTestApi(test.database, { AUTH: 'token', AUTH_TOKEN: TOKEN })
    const sent = { name: 'main', endpoint: `${github.url}/`, token: DEFAULT_TOKEN, authMethod: 'AccessToken' }
    connectionId = (await ask('POST', '/plugins/github/connections', sent)).body.id
  })
  afterAll(async () => {
    await api.close()
    await github.stop()
  })

  it('sign-ins, sign-outs and failures', async () => {
    const anyone = (url: string, headers: Record<string, string> = {}) => api.ask('GET', url, undefined, { headers })
    await api.ask('POST', '/auth/token', { token: 'a-wrong-token' })
    await anyone('/projects', { authorization: 'Bearer another-wrong-token' })
    await anyone('/rest/projects', { authorization: 'Bearer a-wrong-key' })
    const cookies = cookiesOf(await api.ask('POST', '/auth/token', { token: TOKEN }))
    const headers = { cookie: cookieHeader(cookies), 'x-csrf-token': cookies.devlake_csrf as string }
    await api.ask('POST', '/auth/logout', undefined, { headers })
    const found = await entries('subject=access')
    expect(found.map(({ action }) => action).reverse()).toEqual([
      'sign-in failed',
      'sign-in failed',
      'sign-in failed',
      'sign-in',
      'sign-out',
    ])
    expect(found[0]).toMatchObject({ actorId: 'token:access token', address: '127.0.0.1' })
    expect(found.at(-1)).toMatchObject({ actorId: 'anonymous', stateAfter: { reason: expect.any(String) } })
    expect(JSON.stringify(found)).not.toMatch(/wrong-|an-access-token/)
  })

  it('runs, reruns and cancels, by whomever', async () => {
    const blueprint = { mode: 'ADVANCED', plan: PLAN, isManual: true }
    const { body: project } = await ask('POST', '/projects', { name: 'runs', blueprint })
    const { body: key } = await ask('POST', '/api-keys', { name: 'ci', type: 'devlake', allowedPath: '.*' })
    const run = await ask(
      'POST',
      `/rest/blueprints/${project.blueprint.id}/trigger`,
      {},
      {
        authorization: `Bearer ${key.apiKey}`,
      },
    )
    await ask('DELETE', `/pipelines/${run.body.id}`)
    await ask('DELETE', `/pipelines/${run.body.id}`)
    await ask('POST', `/pipelines/${run.body.id}/rerun`)
    const found = await entries(`subject=pipeline&subjectKey=${run.body.id}`)
    expect(found.map(({ action, actorId }) => [action, actorId]).reverse()).toEqual([
      ['run', `api-key:${key.id}`],
      ['cancel', 'token:access token'],
      ['rerun', 'token:access token'],
    ])
    await ask('DELETE', `/pipelines/${run.body.id}`)
    const [scheduled] = await api.control.services.blueprints.list({}).then(({ items }) => items)
    const started = await api.control.startPipeline(scheduled!, { skipCollectors: false, fullSync: false })
    expect(await entries(`subject=pipeline&subjectKey=${started?.id}`)).toMatchObject([
      { action: 'run', actorId: 'schedule' },
    ])
    const { body: plain } = await ask('POST', '/pipelines', { name: 'plain', plan: PLAN })
    expect(await actions(`subject=pipeline&subjectKey=${plain.id}`)).toEqual(['run'])
  })

  it('what other programs send, and scopes that selectors find', async () => {
    await ask('POST', '/push/repos', [{ id: 'made:up', name: 'pushed' }])
    expect(await entries('action=push&subject=domain%20rows')).toMatchObject([{ subjectKey: 'repos' }])
    const hook = (await ask('POST', '/plugins/webhook/connections', { name: 'hook' })).body
    const issue = {
      issueKey: 'A-1',
      title: 'A',
      status: 'TODO',
      originalStatus: 'open',
      createdDate: '2026-01-01T00:00:00Z',
    }
    const sent = await ask('POST', `/rest/plugins/webhook/connections/${hook.id}/issues`, issue, {
      authorization: `Bearer ${hook.apiKey.apiKey}`,
    })
    expect(sent.status, sent.text).toBe(200)
    const [pushed] = await entries(`subject=webhook%20issues&subjectKey=${hook.id}`)
    expect(pushed).toMatchObject({ action: 'push', actorId: `api-key:${hook.apiKey.id}` })

    const found = (await ask('GET', `/plugins/github/connections/${connectionId}/remote-scopes?groupId=acme`)).body
    const web = found.children.find(({ fullName }: any) => fullName === 'acme/web').data
    await ask('PUT', `/plugins/github/connections/${connectionId}/scopes`, { data: [web] })
    const connections = [{ pluginName: 'github', connectionId, scopes: [{ scopeId: String(web.githubId) }] }]
    const { body: project } = await ask('POST', '/projects', { name: 'adopts', blueprint: { connections } })
    const selectors = [{ scopes: ['acme/*'], except: [], archived: false, scopeConfigId: 0 }]
    await saveSelectors(test.database, project.blueprint.id, [{ plugin: 'github', connectionId, selectors }])
    const run = await ask('POST', `/blueprints/${project.blueprint.id}/trigger`, {})
    expect(run.status, run.text).toBe(200)
    const adopted = await entries('action=adopt')
    expect(adopted.map(({ subject }) => subject).sort()).toEqual(['blueprint', 'github scopes'])
    expect(new Set(adopted.map(({ actorId }) => actorId))).toEqual(new Set(['selectors']))
  })

  it('nothing changes without its entry', async () => {
    const base = `/plugins/github/connections/${connectionId}`
    const before = await stored()
    const { body: project } = await ask('GET', '/projects/runs')
    const { items } = await api.control.services.pipelines.list({ pending: true })
    const scope = (await api.control.services.scopes.list('github', connectionId)).items[0]!.scope
    const hook = (await api.control.services.connections.list('webhook'))[0]!
    const keys = (await ask('GET', '/api-keys')).body.apikeys
    const { kysely, dialect } = test.database
    const rename = (from: string, to: string) =>
      sql.raw(`alter table ${dialect.quote(from)} rename to ${dialect.quote(to)}`).execute(kysely)
    const asked: [string, string, unknown?][] = [
      ['POST', '/projects', { name: 'unseen' }],
      ['PATCH', '/projects/runs', { description: 'unseen' }],
      ['DELETE', '/projects/adopts'],
      ['POST', '/blueprints', { name: 'unseen', mode: 'ADVANCED', plan: PLAN, isManual: true }],
      ['PATCH', `/blueprints/${project.blueprint.id}`, { enable: false }],
      ['POST', `/pipelines/${items[0]!.id}/rerun`],
      ['DELETE', `/pipelines/${items[0]!.id}`],
      ['POST', '/pipelines', { name: 'unseen', plan: PLAN }],
      ['POST', '/plugins/github/connections', { name: 'unseen', endpoint: `${github.url}/`, token: 'x'.repeat(40) }],
      ['PATCH', base, { name: 'unseen' }],
      ['POST', `${base}/scope-configs`, { name: 'unseen' }],
      ['PATCH', `${base}/scopes/${scope.githubId}`, { description: 'unseen' }],
      ['PUT', `${base}/scopes`, { data: [{ ...scope, description: 'unseen' }] }],
      ['POST', '/plugins/webhook/connections', { name: 'unseen' }],
      ['POST', `/plugins/webhook/connections/${hook.id}/issue/A-1/close`],
      ['POST', '/push/repos', [{ id: 'made:up:too', name: 'unseen' }]],
      ['PUT', '/store/unseen', { seen: true }],
      ['POST', '/api-keys', { name: 'unseen', type: 'devlake', allowedPath: '.*' }],
      ['PUT', `/api-keys/${keys[0].id}`],
      ['DELETE', `/api-keys/${keys[0].id}`],
    ]
    await rename(AUDIT, 'audit_away')
    try {
      for (const [method, url, body] of asked) {
        const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
        const sent = { method: method as 'POST', url, headers, ...(body !== undefined && { payload: body as object }) }
        expect((await api.server.inject(sent)).statusCode, `${method} ${url}`).toBeGreaterThanOrEqual(400)
      }
    } finally {
      await rename('audit_away', AUDIT)
    }
    expect(await stored()).toEqual(before)
  })

  it('no entry tells of what did not happen', async () => {
    const count = async () => (await ask('GET', '/v1/audit?pageSize=1')).body.count
    const before = await count()
    const blueprint = { cronConfig: 'never' }
    expect((await ask('POST', '/projects', { name: 'half', blueprint })).status).toBe(400)
    expect((await ask('GET', '/projects/half/check')).body).toEqual({ exist: false })
    expect((await ask('DELETE', '/projects/nobody')).status).toBe(404)
    expect((await ask('POST', '/push/repos', [{ id: 'x', nothing: 1 }])).status).toBe(400)
    expect(await count()).toBe(before)
  })

  it('is only added to', async () => {
    const [entry] = await entries('')
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      expect([404, 405]).toContain((await ask(method, `/v1/audit/${entry.id}`, {})).status)
    }
    const { kysely } = test.database
    await expect(kysely.updateTable(AUDIT).set({ actor: 'nobody' }).execute()).rejects.toThrow(/only ever added to/)
    await expect(kysely.deleteFrom(AUDIT).execute()).rejects.toThrow(/only ever added to/)
    expect((await entries(''))[0]).toEqual(entry)
  })

  it('is exported as lines of JSON, over REST and on the command line', async () => {
    const { text, headers } = await ask('GET', '/v1/audit/export')
    expect(headers['content-type']).toContain('application/x-ndjson')
    const all = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    const listed = await entries('')
    expect(all).toEqual(listed.toReversed())
    expect(text).not.toContain(DEFAULT_TOKEN)
    const middle = all[5].id
    const rest = await ask('GET', `/v1/audit/export?after=${middle}&subject=project`)
    expect(
      rest.text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(all.filter(({ id, subject }) => id > middle && subject === 'project'))
    const { output, code } = await runCli(['audit', 'export', '--after', String(middle)], { DB_URL: test.url })
    expect(code).toBe(0)
    expect(
      output
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(all.filter(({ id }) => id > middle))
  })

  /** Returns all rows of settings and runs, without the audit. */
  async function stored(): Promise<Record<string, unknown>> {
    const names = [...systemTables.map(({ name }) => name), '_tool_github_connections', '_tool_github_repos', 'repos']
    const found: Record<string, unknown> = {}
    // The inbox of webhooks also keeps refused messages.
    const aside = [AUDIT, 'lease', 'server', 'webhook_deliveries']
    for (const name of names.filter((each) => !aside.some((part) => each.includes(part)))) {
      const rows = await test.database.kysely.selectFrom(name).selectAll().execute()
      found[name] = rows.map((row) => JSON.stringify(row)).sort()
    }
    return found
  }
})
