/** Findings of generated requests: every value has a checked form and length, and names of prototypes match nothing. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseConfig } from '../../src/config-as-code/document.ts'
import { lintText } from '../../traffic/lint/text.ts'
import { initialPlan } from '../../traffic/model/init.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'
import { upload } from './support/upload.ts'

const HALF = '\ud83d'
const PROTOTYPE_NAMES = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf']
const METRIC_ROUTES = ['', '/series', '/items', '/explanation', '/policies']

describeEachWithTables('checked values', (test) => {
  let api: TestApi
  beforeAll(async () => {
    api = await startTestApi(test.database)
    await api.ask('POST', '/projects', {
      name: 'shop',
      metrics: [{ pluginName: 'dora', pluginOption: '', enable: true }],
    })
    await api.ask('POST', '/plugins/jira/connections', {
      name: 'main',
      endpoint: 'http://127.0.0.1:9/rest/',
      authMethod: 'BasicAuth',
      username: 'u',
      password: 'p',
    })
    await api.ask('POST', '/plugins/github/connections', { name: 'main', endpoint: 'http://127.0.0.1:9/', token: 't' })
  })
  afterAll(() => api.close())

  async function refused(method: string, url: string, body: unknown, says: RegExp, headers = {}): Promise<void> {
    const answer = await api.ask(method, url, body, { headers })
    expect(answer.status, `${method} ${url} ${answer.text}`).toBe(400)
    expect(answer.body.message).toMatch(says)
  }

  it('a project made as DevLake makes it has metrics', async () => {
    for (const route of METRIC_ROUTES) {
      const { status } = await api.ask('GET', `/v1/metrics/deployment-frequency${route}?project=shop`)
      expect(status, route).toBe(200)
    }
    expect((await api.ask('GET', '/projects/shop')).body.metrics).toMatchObject([{ pluginOption: '' }])
  })

  it('options of metrics are objects with values of their kind', async () => {
    const patch = (pluginName: string, pluginOption: unknown, says: RegExp) =>
      refused('PATCH', '/projects/shop', { metrics: [{ pluginName, pluginOption, enable: true }] }, says)
    for (const wrong of ['x', 5, true, []]) await patch('dora', wrong, /pluginOption must be an object/)
    await patch('dora', { policy: 'x' }, /policy must be an object/)
    await patch('dora', { policy: { excludeBots: 'x' } }, /excludeBots must be true or false/)
    for (const name of PROTOTYPE_NAMES) await patch('dora', JSON.parse(`{"policy":{"${name}":true}}`), /is not known/)
    await patch('linker', { prToIssueRegexp: 5 }, /prToIssueRegexp must be text/)
    await patch('linker', { prToIssueRegexp: '(' }, /does not compile/)
  })

  it('JSON fields of scope configs have a schema', async () => {
    const jira = '/plugins/jira/connections/1/scope-configs'
    const wrong: readonly [object, RegExp][] = [
      [{ typeMappings: 'junk' }, /typeMappings.*must be an object/],
      [{ typeMappings: ['junk'] }, /typeMappings/],
      [{ typeMappings: { Bug: 'BUG' } }, /typeMappings\.Bug.*must be an object/],
      [{ typeMappings: { Bug: { standardType: 5 } } }, /typeMappings\.Bug\.standardType.*must be text/],
      [{ typeMappings: { Bug: { standardType: 'x'.repeat(256) } } }, /standardType/],
      [{ typeMappings: { Bug: { statusMappings: { done: { standardStatus: {} } } } } }, /standardStatus.*text/],
      [{ remotelinkRepoPattern: 'x' }, /remotelinkRepoPattern.*must be a list/],
      [{ remotelinkRepoPattern: [{ regex: 5 }] }, /regex/],
      [{ remotelinkRepoPattern: [{ regex: '(' }] }, /compile/],
      [{ storyPointField: 'x'.repeat(256) }, /storyPointField.*at most 255/],
      [{ entities: 'TICKET' }, /entities must be a list/],
    ]
    for (const [fields, says] of wrong) await refused('POST', jira, { name: 'wrong', ...fields }, says)
    const github = '/plugins/github/connections/1/scope-configs'
    for (const refdiff of ['x', 5, [], { tagsLimit: 'many' }, { tagsPattern: '(' }, { tagsPattern: {} }]) {
      await refused('POST', github, { name: 'wrong', refdiff }, /refdiff/)
    }
    const right = {
      typeMappings: { Bug: { standardType: 'BUG', statusMappings: { done: { standardStatus: 'DONE' } } } },
    }
    const saved = await api.ask('POST', jira, { name: 'right', ...right })
    expect(saved).toMatchObject({ status: 201, body: right })
  })

  it('junk that was stored before counts as nothing', async () => {
    const saved = await api.ask('POST', '/plugins/jira/connections/1/scope-configs', { name: 'old' })
    await test.database.kysely
      .updateTable('_tool_jira_scope_configs')
      .set({ remotelink_repo_pattern: '"x"', type_mappings: '"junk"' })
      .where('id', '=', saved.body.id)
      .execute()
    const answer = await api.ask('PATCH', `/plugins/jira/connections/1/scope-configs/${saved.body.id}`, { name: 'new' })
    expect(answer).toMatchObject({ status: 200, body: { typeMappings: null, remotelinkRepoPattern: null } })
    await test.database.kysely
      .updateTable('project_metric_settings')
      .set({ plugin_option: '[5]' })
      .where('project_name', '=', 'shop')
      .execute()
    expect((await api.ask('GET', '/v1/metrics/deployment-frequency?project=shop')).status).toBe(200)
  })

  it.each(PROTOTYPE_NAMES)('%s is no name of anything', async (name) => {
    await refused('POST', '/projects', `{"name":"x","metrics":[{"pluginName":"${name}"}]}`, /no metric/)
    expect((await api.ask('GET', `/v1/metrics/${name}?project=shop`)).status).toBe(404)
    await refused('POST', '/pipelines', `{"plan":[[{"plugin":"${name}","options":{}}]]}`, /plugin/)
    // No column can be called `__proto__`, and such a field is ignored.
    if (name !== '__proto__') await refused('POST', '/push/repos', `[{"id":"1","${name}":"x"}]`, /has no column/)
    expect((await api.ask('GET', `/plugins/customize/${name}/fields`)).status).toBe(404)
    for (const yaml of [`kind: ${name}\nmetadata: { name: x }`, `apiVersion: weir/v1\nkind: ${name}`]) {
      expect((await api.ask('POST', '/v1/traffic-switches/lint', { yaml })).status).toBe(200)
    }
    const own = await api.ask('PUT', `/store/${name}`, `{"${name}":1}`)
    expect(own.text).toBe(`{"${name}":1}`)
    expect((await api.ask('GET', `/store/${name}`)).text).toBe(`{"${name}":1}`)
  })

  it('a kind that is an object is a finding', async () => {
    for (const kind of ['{ toString: 1 }', '[{ toString: 1 }]', '5', 'null']) {
      const yaml = `apiVersion: v1\nkind: ${kind}\nmetadata: { name: { toString: 1 } }`
      const answer = await api.ask('POST', '/v1/traffic-switches/lint', { yaml, against: yaml })
      expect(answer, yaml).toMatchObject({ status: 200, body: [{ code: 'TS-Y02' }] })
    }
  })

  it('names are no longer than their columns', async () => {
    const long = 'x'.repeat(101)
    await refused('POST', '/v1/metrics/rule-preview', { project: long, rules: {} }, /project.*at most 100/)
    await refused('GET', `/v1/metrics/deployment-frequency?project=${long}`, undefined, /project.*at most 100/)
    await refused('POST', '/projects', { name: long }, /at most 100/)
    await refused('POST', '/blueprints', { name: 'x'.repeat(256), mode: 'NORMAL' }, /name.*at most 255/)
    await refused('POST', '/blueprints', { name: 'x', labels: ['x'.repeat(192)] }, /labels/)
    const scope = { githubId: 1, name: 'x'.repeat(256), fullName: 'a/b' }
    await refused('PUT', '/plugins/github/connections/1/scopes', { data: [scope] }, /name/)
    await refused('POST', '/plugins/github/connections', { name: 'x'.repeat(256), token: 't' }, /name/)
    await refused('POST', '/push/repos', [{ id: 'r', deleted: false, language: 'x'.repeat(256) }], /language.*longer/)
    const csv = await upload(api, 'POST', '/plugins/customize/csvfiles/issues.csv', `id,status\n1,${'x'.repeat(256)}`, {
      boardId: 'b',
      boardName: 'x',
    })
    expect(csv).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/line 2: column status: longer/) },
    })
  })

  it('what Schemathesis found', async () => {
    expect((await api.ask('GET', '/v1/tasks/999999/log')).status).toBe(404)
    // A scope whose fields lack the parts from which its rows are named can be deleted.
    const login = { name: 'main', endpoint: 'http://127.0.0.1:9/', token: 't' }
    const { body: connection } = await api.ask('POST', '/plugins/circleci/connections', login)
    const scopes = `/plugins/circleci/connections/${connection.id}/scopes`
    expect((await api.ask('PUT', scopes, { data: [{ id: 'bare' }] })).status).toBe(200)
    expect((await api.ask('DELETE', `${scopes}/bare`)).status).toBe(200)
    // The reverse of a switch is checked like any other plan.
    const yaml = initialPlan('reversed', 'canary')
    const { body: made } = await api.ask('POST', '/v1/traffic-switches', { yaml })
    const back = await api.ask('POST', `/v1/traffic-switches/${made.id}/reverse`, { sourceSecurityGroup: 'nonsense' })
    expect(back).toMatchObject({ status: 422, body: { message: expect.stringMatching(/TS-V01/) } })
    await refused('PUT', `/v1/traffic-switches/${made.id}`, { yaml, name: 'other' }, /either yaml or/)
  })

  it('a name is counted by characters, not by halves of them', async () => {
    const name = '🚀'.repeat(100)
    expect((await api.ask('POST', '/projects', { name })).body.name).toBe(name)
    expect((await api.ask('GET', `/projects/${encodeURIComponent(name)}`)).body.name).toBe(name)
    await refused('POST', '/projects', { name: `${name}🚀` }, /at most 100/)
  })

  describe('NUL and half characters are refused', () => {
    const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

    it('in JSON, whether as values or names, at any depth', async () => {
      for (const bad of ['\\u0000', '\\ud83d', '\\udc00x']) {
        await refused('POST', '/projects', `{"name":"a${bad}"}`, /NUL|surrogate/)
        await refused('PUT', '/store/x', `{"a":[{"b":[[{"${bad}":1}]]}]}`, /NUL|surrogate/)
        await refused('POST', '/push/repos', `[{"id":"${bad}"}]`, /NUL|surrogate/)
        await refused('POST', '/plugins/webhook/connections', `{"name":"${bad}"}`, /NUL|surrogate/)
      }
      expect((await api.ask('PUT', '/store/x', '"\\\\u0000 and \\ud83d\\ude80"')).status).toBe(201)
    })

    it('in forms, queries and addresses', async () => {
      await refused('POST', '/projects', 'name=a%00b', /NUL/, FORM)
      await refused('GET', '/projects?keyword=%00', undefined, /NUL/)
      await refused('GET', '/v1/audit?subject=a%00', undefined, /NUL/)
      await refused('GET', '/projects/a%00b', undefined, /NUL/)
      await refused('GET', '/plugins/github/connections/1/scopes/a%00b', undefined, /NUL/)
    })

    it('in uploads: fields, their names, and files', async () => {
      const issues = (file: string, boardId: string) =>
        upload(api, 'POST', '/plugins/customize/csvfiles/issues.csv', file, { boardId, boardName: 'x' })
      const csv = 'id,title\n1,a'
      const said = (text: RegExp) => ({ status: 400, body: { message: expect.stringMatching(text) } })
      expect(await issues(csv, 'b\0')).toMatchObject(said(/NUL/))
      expect(await issues(`${csv}\0`, 'b')).toMatchObject(said(/line 2.*NUL/))
      expect(await upload(api, 'PUT', '/plugins/org/teams.csv', 'Id,Name\n1,a\0')).toMatchObject(said(/NUL/))
      const strange = await upload(api, 'PUT', '/plugins/org/teams.csv', 'Id,Name\n1,a', { 'a\0': 'x' })
      expect(strange).toMatchObject(said(/NUL/))
    })

    it('in YAML that escapes them', async () => {
      for (const bad of ['\\0', '\\x00', '\\u0000', '\\ud83d']) {
        const yaml = `apiVersion: weir/v1\nkind: TrafficSwitch\nmetadata: { name: "a${bad}b" }`
        const answer = await api.ask('POST', '/v1/traffic-switches', { yaml })
        expect(answer).toMatchObject({ status: 422, body: { message: expect.stringMatching(/NUL|surrogate/) } })
        expect(lintText(yaml, '')).toMatchObject([{ code: 'TS-Y01' }])
        expect(() => parseConfig(`projects: { "a${bad}": {} }`, 'weir.yaml', {})).toThrow(/weir\.yaml.*contains/s)
      }
      await refused('POST', '/v1/traffic-switches', { apiVersion: 'x', name: HALF }, /surrogate/)
    })
  })
})
