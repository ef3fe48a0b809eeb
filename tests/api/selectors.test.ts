/** Selectors that are added over the API behave like those of a configuration file. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseConfig } from '../../src/config-as-code/document.ts'
import { exportConfig } from '../../src/config-as-code/export.ts'
import { applyConfig } from '../../src/config-as-code/reconcile.ts'
import { DEFAULT_TOKEN, type FakeGithub, startFakeGithub } from '../fake-github/fake-github.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { configContext } from './support/config-context.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const ADMIN = 'the-token-of-an-admin'
const BOSS = 'the-token-of-an-admin-in-shop'
const VIEWER = 'the-token-of-a-viewer-in-shop'

describeEachWithTables('selectors', (test) => {
  let api: TestApi
  let github: FakeGithub
  let connectionId = 0
  let blueprintId = 0
  let configs: readonly number[] = []

  const send = (method: string, url: string, body?: unknown, token = ADMIN) =>
    api.ask(method, url, body, { headers: { authorization: `Bearer ${token}` } })
  const ask = async (method: string, url: string, body?: unknown) => {
    const answer = await send(method, url, body)
    expect(answer.status, answer.text).toBeLessThan(300)
    return answer.body
  }
  const at = () => `/v1/blueprints/${blueprintId}/selectors`
  const selector = (...scopes: readonly unknown[]) => ({ plugin: 'github', connectionId, scopes })
  const add = (body: object) => ask('POST', at(), body)
  const selectors = async () => (await ask('GET', at())).selectors
  const scopeNames = async (): Promise<string[]> => {
    const { connections } = await ask('GET', `/blueprints/${blueprintId}`)
    const ids = connections.flatMap((each: any) => each.scopes.map(({ scopeId }: any) => scopeId))
    const { scopes } = await ask('GET', `/v1/connections/github/${connectionId}/scopes`)
    return scopes.filter(({ id }: any) => ids.includes(id)).map(({ name }: any) => name)
  }
  const applyExported = async () => {
    const text = await exportConfig(configContext(api))
    expect(text).not.toContain(DEFAULT_TOKEN)
    const variables = { GITHUB_MAIN_TOKEN: DEFAULT_TOKEN }
    return { text, changes: await applyConfig(parseConfig(text, 'weir.yaml', variables), configContext(api)) }
  }
  const audit = async () => (await ask('GET', '/v1/audit?subject=selector')).entries

  beforeAll(async () => {
    const names = ['acme/web', 'acme/api', 'acme/play-1']
    const repositories = [...names.map((name) => ({ name })), { name: 'acme/old', archived: true }]
    github = await startFakeGithub({ world: { repositories } })
    const AUTH_TOKENS = `b:admin@shop:${BOSS},v:viewer@shop:${VIEWER}`
    api = await startTestApi(test.database, { AUTH: 'token', AUTH_TOKEN: ADMIN, AUTH_TOKENS })
    const { id } = await ask('POST', '/plugins/github/connections', {
      name: 'main',
      endpoint: `${github.url}/`,
      authMethod: 'AccessToken',
      token: DEFAULT_TOKEN,
    })
    connectionId = id
    const configAt = `/plugins/github/connections/${connectionId}/scope-configs`
    configs = [
      (await ask('POST', configAt, { name: 'rules', issueTypeBug: 'bug' })).id,
      (await ask('POST', configAt, { name: 'others', issueTypeBug: 'defect' })).id,
    ]
    blueprintId = (await ask('POST', '/projects', { name: 'shop' })).blueprint.id
  })
  afterAll(async () => {
    await api.close()
    await github.stop()
  })

  it('is added with what it chooses now, which joins at once', async () => {
    const added = await add({ ...selector('acme/*'), except: ['acme/play-*'], scopeConfigId: configs[0] })
    expect(added).toMatchObject({
      selector: { plugin: 'github', connectionId, scopes: ['acme/*'], except: ['acme/play-*'], archived: false },
      count: 2,
      newCount: 2,
      scopes: expect.arrayContaining([
        expect.objectContaining({ name: 'acme/web', isNew: true }),
        expect.objectContaining({ name: 'acme/api', isNew: true }),
      ]),
    })
    expect(added.selector).toMatchObject({ topic: null, scopeConfigId: configs[0] })
    expect(await selectors()).toEqual([added.selector])
    expect(await scopeNames()).toEqual(['acme/api', 'acme/web'])
    const { scopes } = await ask('GET', `/v1/connections/github/${connectionId}/scopes`)
    expect(scopes.map((each: any) => each.scopeConfigName)).toEqual(['rules', 'rules'])
    expect(await audit()).toMatchObject([
      { action: 'create', subject: 'selector', subjectKey: `${blueprintId}:${added.selector.id}` },
    ])
  })

  it('is written by an export, and an apply of that changes nothing', async () => {
    const { text, changes } = await applyExported()
    expect(changes).toEqual([])
    expect(text).toContain('- acme/*')
    expect(text).toContain('- acme/play-*')
    expect(text).toContain('scopeConfig: rules')
    expect(text).not.toContain('acme/web')
    expect(await selectors()).toHaveLength(1)
  })

  it('lets what has come to match join at the next run', async () => {
    const scopeId = String((await ask('GET', `/blueprints/${blueprintId}`)).connections[0].scopes[0].scopeId)
    const link = { pluginName: 'github', connectionId, scopes: [{ scopeId }] }
    await ask('PATCH', `/blueprints/${blueprintId}`, { connections: [link] })
    expect(await scopeNames()).toHaveLength(1)
    const run = await ask('POST', `/blueprints/${blueprintId}/trigger`, {})
    await ask('DELETE', `/pipelines/${run.id}`)
    expect(await scopeNames()).toEqual(['acme/api', 'acme/web'])
  })

  it('is refused where a file would be, and then changes nothing', async () => {
    const before = [await selectors(), await scopeNames(), (await audit()).length]
    const advanced = { mode: 'ADVANCED', plan: [[{ plugin: 'org', subtasks: [], options: {} }]], isManual: true }
    const { id: ofPlan } = await ask('POST', '/blueprints', { name: 'plan', ...advanced })
    const wrong: readonly (readonly [object, number, RegExp, string?])[] = [
      [selector('acme/wep'), 400, /nothing called acme\/wep.*did you mean acme\/web.*allowEmpty/],
      [{ ...selector('acme/*'), topic: 'none' }, 400, /matches nothing: except, archived and topic leave none of 4/],
      [{ ...selector('acme/*'), except: ['acme/play-*'], scopeConfigId: configs[0] }, 409, /has this selector already/],
      [
        { ...selector('acme/web'), scopeConfigId: configs[1] },
        409,
        /acme\/web has the scope config rules by a selector/,
      ],
      [{ ...selector('acme/web'), scopeConfigId: 999 }, 404, /no scope config 999/],
      [{ ...selector('acme/web'), connectionId: 999 }, 404, /no github connection 999/],
      [{ ...selector('acme/web'), plugin: 'githup' }, 404, /githup/],
      [selector(), 400, /scopes/],
      [selector('a'.repeat(501)), 400, /500/],
      [{ ...selector('acme/web'), colour: 'red' }, 400, /colour/],
      [selector({ fullName: 'acme/web' }), 400, /githubId is missing/],
      [selector({ colour: 'red' }), 400, /colour is not known/],
      [selector('acme/web'), 400, /runs a plan of its own/, `/v1/blueprints/${ofPlan}/selectors`],
      [selector('acme/web'), 404, /blueprint/, '/v1/blueprints/99999/selectors'],
    ]
    for (const [body, status, says, url = at()] of wrong) {
      const answer = await send('POST', url, body)
      expect([answer.status, answer.text], JSON.stringify(body)).toEqual([status, expect.stringMatching(says)])
      expect(answer.text).not.toContain(DEFAULT_TOKEN)
    }
    expect([await selectors(), await scopeNames(), (await audit()).length]).toEqual(before)
  })

  it('may choose nothing yet where somebody insists, and is exported all the same', async () => {
    const added = await add({ ...selector('acme/later-*'), allowEmpty: true })
    expect(added).toMatchObject({ count: 0, newCount: 0, scopes: [] })
    const { text } = await exportedWithEmpty()
    expect(text).toContain('- acme/later-*')
    await ask('DELETE', `${at()}/${added.selector.id}`)

    async function exportedWithEmpty() {
      const exported = await exportConfig(configContext(api))
      const config = parseConfig(exported, 'weir.yaml', { GITHUB_MAIN_TOKEN: DEFAULT_TOKEN })
      expect(await applyConfig(config, { ...configContext(api), allowsEmpty: true })).toEqual([])
      return { text: exported }
    }
  })

  it('keeps its scope config from being deleted', async () => {
    const { selector: added } = await add({ ...selector('none/*'), scopeConfigId: configs[1], allowEmpty: true })
    const url = `/plugins/github/connections/${connectionId}/scope-configs/${configs[1]}`
    const refused = await send('DELETE', url)
    expect([refused.status, refused.body.message]).toEqual([409, expect.stringMatching(/used by selectors of shop/)])
    await ask('DELETE', `${at()}/${added.id}`)
    await ask('DELETE', url)
  })

  it('is deleted, and comes back as it was; what it let in stays', async () => {
    const [stored] = await selectors()
    expect(await ask('DELETE', `${at()}/${stored.id}`)).toEqual({ selectors: [] })
    expect(await scopeNames()).toEqual(['acme/api', 'acme/web'])
    expect((await send('DELETE', `${at()}/${stored.id}`)).status).toBe(404)
    const { text, changes } = await applyExported()
    expect(changes).toEqual([
      expect.objectContaining({
        subject: 'schedule of shop',
        fields: [expect.objectContaining({ name: 'selectors' })],
      }),
    ])
    expect(text).toContain('acme/web')
    expect(text).not.toContain('acme/*')
    for (const { id } of await selectors()) await ask('DELETE', `${at()}/${id}`)

    const { id, topic, ...rest } = stored
    const added = await add({ ...rest, ...(topic && { topic }) })
    expect(added).toMatchObject({ selector: { id }, count: 2, newCount: 0 })
    expect(await selectors()).toEqual([stored])
    const [last] = await audit()
    expect(last).toMatchObject({ action: 'create', subjectKey: `${blueprintId}:${id}` })
  })

  it('takes a scope as it is written, too', async () => {
    const { children } = await ask('GET', `/plugins/github/connections/${connectionId}/remote-scopes?groupId=acme`)
    const { githubId, fullName, name } = children.find((each: any) => each.fullName === 'acme/old').data
    const added = await add(selector({ githubId, fullName, name }))
    expect(added).toMatchObject({ count: 1, newCount: 1, scopes: [{ name: 'acme/old', isNew: true }] })
    expect(await scopeNames()).toEqual(['acme/api', 'acme/old', 'acme/web'])
    expect((await applyExported()).changes).toEqual([])
  })

  it('is for admins: of the project to delete, of everything to ask a source', async () => {
    const [{ id }] = await selectors()
    const statuses = async (token: string) => [
      (await send('GET', at(), undefined, token)).status,
      (await send('POST', at(), selector('acme/web'), token)).status,
      (await send('DELETE', `${at()}/${id}`, undefined, token)).status,
    ]
    expect(await statuses(VIEWER)).toEqual([200, 403, 403])
    expect(await statuses(BOSS)).toEqual([200, 403, 200])
  })

  it('of two that are added at once both are kept', async () => {
    await Promise.all([add(selector('acme/w*')), add(selector('acme/a*'))])
    const patterns = (await selectors()).flatMap((each: any) => each.scopes).filter((each: any) => each.length)
    expect(patterns.sort()).toEqual(['acme/a*', 'acme/w*'])
  })

  it('goes with its connection', async () => {
    const { id } = await ask('POST', '/plugins/github/connections', {
      name: 'second',
      endpoint: `${github.url}/`,
      authMethod: 'AccessToken',
      token: DEFAULT_TOKEN,
    })
    await add({ ...selector('none/*'), connectionId: id, allowEmpty: true })
    await ask('DELETE', `/plugins/github/connections/${id}`)
    expect((await selectors()).filter((each: any) => each.connectionId === id)).toEqual([])
  })
})
