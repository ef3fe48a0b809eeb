/** DevLake's contract for connections, scopes and scope configs of every source, beyond their main uses. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { insertRow, updateRows } from '../../src/control-plane/store.ts'
import { pipelines } from '../../src/system/pipelines.ts'
import { collectorLatestState } from '../../src/system/state.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { keysOf, ORIGIN, refused, WRITTEN } from './support/contract.ts'
import { type Answer, startTestApi, type TestApi } from './support/test-api.ts'

const TOKEN = 'a-token-that-is-never-shown'
const NOWHERE = 'http://127.0.0.1:9/'

/** A connection, a scope and a scope config of each source, and all fields that DevLake returns for them. */
const SOURCES = {
  github: {
    connection: { endpoint: NOWHERE, token: TOKEN },
    masked: { token: `${TOKEN.slice(0, 2)}${'*'.repeat(TOKEN.length - 4)}${TOKEN.slice(-2)}` },
    connectionFields: [
      'endpoint',
      'proxy',
      'rateLimitPerHour',
      'authMethod',
      'token',
      'appId',
      'secretKey',
      'installationId',
      'enableGraphql',
      'refreshToken',
      'tokenExpiresAt',
      'refreshTokenExpiresAt',
    ],
    scope: { githubId: 12, name: 'web', fullName: 'acme/web', cloneUrl: 'https://github.com/acme/web.git' },
    scopeId: '12',
    params: (id: number) => ({ ConnectionId: id, Name: 'acme/web' }),
    found: 'ME/WE',
    raws: ['api_issues', 'api_pull_requests'],
    scopeFields: [
      'githubId',
      'name',
      'fullName',
      'HTMLUrl',
      'description',
      'ownerId',
      'language',
      'parentId',
      'parentHtmlUrl',
      'cloneUrl',
      'createdDate',
      'updatedDate',
    ],
    configFields: [
      'issueTypeRequirement',
      'issueTypeBug',
      'issueTypeIncident',
      'issuePriority',
      'issueComponent',
      'issueSeverity',
      'envNamePattern',
      'deploymentPattern',
      'productionPattern',
      'prType',
      'prComponent',
      'prBodyClosePattern',
      'refdiff',
      'prSizeExcludedFileExtensions',
      'productionBranchPattern',
      'issueTextIncident',
    ],
  },
  jira: {
    connection: { endpoint: `${NOWHERE}rest/`, authMethod: 'BasicAuth', username: 'ann', password: TOKEN },
    masked: { password: '' },
    connectionFields: ['endpoint', 'proxy', 'rateLimitPerHour', 'authMethod', 'username', 'password', 'token'],
    scope: { boardId: 5, name: 'Shop', type: 'scrum', self: `${NOWHERE}rest/agile/1.0/board/5`, projectId: 10_000 },
    scopeId: '5',
    params: (id: number) => ({ ConnectionId: id, BoardId: 5 }),
    found: 'SHO',
    raws: ['api_issues', 'api_sprints'],
    scopeFields: ['boardId', 'name', 'projectId', 'self', 'type', 'jql'],
    configFields: [
      'epicKeyField',
      'storyPointField',
      'remotelinkCommitShaPattern',
      'remotelinkRepoPattern',
      'typeMappings',
      'applicationType',
      'dueDateField',
      'issueTextIncident',
    ],
  },
  circleci: {
    connection: { endpoint: NOWHERE, token: TOKEN },
    masked: { token: `${TOKEN.slice(0, 2)}${'*'.repeat(TOKEN.length - 4)}${TOKEN.slice(-2)}` },
    connectionFields: ['endpoint', 'proxy', 'rateLimitPerHour', 'token'],
    scope: { id: 'a1b2', slug: 'github/acme/web', name: 'web', organizationId: 'c3d4' },
    scopeId: 'a1b2',
    params: (id: number) => ({ ConnectionId: id, ProjectSlug: 'github/acme/web' }),
    found: 'WEB',
    raws: ['api_jobs', 'api_pipelines'],
    scopeFields: ['id', 'slug', 'name', 'organizationId'],
    configFields: ['deploymentPattern', 'productionPattern', 'productionBranchPattern'],
  },
}

describeEachWithTables('contract of data sources', (test) => {
  let api: TestApi
  beforeAll(async () => {
    const plain = await startTestApi(test.database)
    const ask: TestApi['ask'] = async (...question) => {
      const answer = await plain.ask(...question)
      expect(answer.text).not.toContain(TOKEN)
      return answer
    }
    api = { ...plain, ask }
  })
  afterAll(() => api.close())

  const succeeded = ({ status, body, text }: Answer, expected = 200) => {
    expect(status, text).toBe(expected)
    return body
  }
  /** Runs `body` while a pipeline is running: then nothing that the pipeline may read can be deleted. */
  async function whileRunning(body: () => Promise<void>): Promise<void> {
    const { kysely } = test.database
    const id = await insertRow(kysely, pipelines, { name: 'running', status: 'TASK_RUNNING' })
    await body()
    await updateRows(kysely, pipelines, { id }, { status: 'TASK_COMPLETED' })
  }

  for (const [plugin, source] of Object.entries(SOURCES)) {
    const base = `/plugins/${plugin}/connections`

    it(`connections of ${plugin}`, async () => {
      const created = succeeded(await api.ask('POST', base, { ...source.connection, name: 'one', proxy: null }), 201)
      const at = `${base}/${created.id}`
      expect(keysOf(created)).toEqual(['id', 'name', ...WRITTEN, ...source.connectionFields].sort())
      expect(created).toMatchObject({ ...source.masked, name: 'one', proxy: '', rateLimitPerHour: 0 })
      expect(succeeded(await api.ask('GET', at))).toEqual(created)
      expect(succeeded(await api.ask('GET', base))).toEqual([created])
      // `curl -d` declares its body as a form.
      const form = { headers: { 'content-type': 'application/x-www-form-urlencoded' } }
      const renamed = succeeded(await api.ask('PATCH', at, JSON.stringify({ Name: 'two', unknown: [1] }), form))
      expect(renamed).toMatchObject({ ...created, name: 'two', updatedAt: expect.any(String) })
      expect(succeeded(await api.ask('PATCH', at))).toMatchObject({ name: 'two' })
      // A secret that is sent back masked or empty stays as it is.
      succeeded(await api.ask('PATCH', at, renamed))
      const secret = Object.keys(source.masked)[0] as string
      succeeded(await api.ask('PATCH', at, { [secret]: '' }))
      expect(await api.control.services.connections.reveal(plugin, created.id)).toMatchObject({ [secret]: TOKEN })

      await refused(api, ['POST', base, { ...source.connection, name: 'two' }], 400, /already called two/)
      await refused(
        api,
        ['POST', base, { ...source.connection, name: 'three', [secret]: '' }],
        400,
        new RegExp(`${secret} is missing`),
      )
      await refused(api, ['POST', base, {}], 400, /name is missing/)
      await refused(api, ['POST', base, '{'], 400, /not JSON/)
      await refused(api, ['PATCH', at, { name: '' }], 400, /name is missing/)
      await refused(api, ['GET', `${base}/999`], 404)
      await refused(api, ['PATCH', `${base}/999`, {}], 404)
      await refused(api, ['DELETE', `${base}/999`], 404)
      await refused(api, ['GET', `${base}/x`], 400)
      await refused(api, ['POST', `${at}x/test`], 400)
      await refused(api, ['POST', `${base}/999/test`], 400)
      // Some of several tokens may work, so GitHub's test reports each token separately.
      await refused(api, ['POST', `${at}/test`], plugin === 'github' ? 200 : 503, /127\.0\.0\.1:9/)
      await refused(api, ['GET', `${at}/remote-scopes`], 503, /127\.0\.0\.1:9/)
      await refused(api, ['GET', `${base}/999/remote-scopes`], 404)
      await refused(api, ['GET', `${base}/999/proxy/rest/x`], 404)

      await whileRunning(() => refused(api, ['DELETE', at], 409, /is running/))
      const config = succeeded(await api.ask('POST', `${at}/scope-configs`, { name: 'goes with it' }), 201)
      const deleted = succeeded(await api.ask('DELETE', at))
      expect(deleted).toMatchObject({ ...source.masked, id: created.id, name: 'two' })
      await refused(api, ['GET', `/plugins/${plugin}/scope-config/${config.id}/projects`], 404)
      expect(succeeded(await api.ask('GET', base))).toEqual([])
    })

    it(`scopes of ${plugin}`, async () => {
      const { id } = succeeded(await api.ask('POST', base, { ...source.connection, name: 'scopes' }), 201)
      const at = `${base}/${id}/scopes`
      const one = `${at}/${source.scopeId}`
      const config = succeeded(await api.ask('POST', `${base}/${id}/scope-configs`, { name: 'attached' }), 201)
      const [put] = succeeded(
        await api.ask('PUT', at, { data: [{ ...source.scope, connectionId: 999, scopeConfigId: config.id }] }),
      )
      const fields = [...WRITTEN, ...ORIGIN, 'connectionId', ...source.scopeFields]
      expect(keysOf(put)).toEqual([...fields, 'scopeConfigId'].sort())
      expect(put).toMatchObject({ ...source.scope, connectionId: id, scopeConfigId: config.id })
      expect(put._raw_data_table).toBe(`_raw_${plugin}_scopes`)
      expect(put._raw_data_params).toBe(JSON.stringify(source.params(id)))
      expect(succeeded(await api.ask('GET', one))).toMatchObject({ scope: put, scopeConfig: { id: config.id } })
      // All columns are written: omitted fields are cleared.
      const [again] = succeeded(await api.ask('PUT', at, { data: [source.scope] }))
      expect(keysOf(again)).toEqual([...fields].sort())
      expect(succeeded(await api.ask('GET', one))).toEqual({ scope: again })
      expect(succeeded(await api.ask('PATCH', one, { scopeConfigId: config.id }))).toMatchObject({
        scopeConfigId: config.id,
      })
      expect(succeeded(await api.ask('PATCH', one, { scopeConfigId: null }))).not.toHaveProperty('scopeConfigId')

      for (const [query, count] of [
        ['', 1],
        [`searchTerm=${encodeURIComponent(source.found)}`, 1],
        ['searchTerm=%25', 0],
        ['page=2', 1],
        ['blueprints=true', 1],
      ] as const) {
        const { body } = await api.ask('GET', `${at}?${query}`)
        expect([body.count, body.scopes.length], query).toEqual([count, query === 'page=2' ? 0 : count])
      }
      const state = (raw: string, day: number) =>
        insertRow(test.database.kysely, collectorLatestState, {
          raw_data_params: again._raw_data_params,
          raw_data_table: `_raw_${plugin}_${raw}`,
          latest_success_start: new Date(Date.UTC(2024, 0, day)),
        })
      const [newer = '', older = ''] = source.raws
      await state(older, 1)
      await state(newer, 2)
      const synced = succeeded(await api.ask('GET', `${one}/latest-sync-state`))
      expect(synced).toEqual([
        {
          raw_data_table: `_raw_${plugin}_${newer}`,
          raw_data_params: again._raw_data_params,
          latest_success_start: '2024-01-02T00:00:00.000Z',
        },
        {
          raw_data_table: `_raw_${plugin}_${older}`,
          raw_data_params: again._raw_data_params,
          latest_success_start: '2024-01-01T00:00:00.000Z',
        },
      ])

      for (const [method, url, body, status] of [
        ['PUT', at, undefined, 400],
        ['PUT', at, { data: 'x' }, 400],
        ['PUT', at, { data: [1] }, 400],
        ['PUT', at, { data: [{ ...source.scope, scopeConfigId: 999 }] }, 400],
        ['PUT', `${base}/999/scopes`, { data: [source.scope] }, 400],
        ['PATCH', one, { scopeConfigId: 999 }, 400],
        ['GET', `${at}/none`, undefined, 404],
        ['PATCH', `${at}/none`, {}, 404],
        ['DELETE', `${at}/none`, undefined, 404],
        ['GET', `${at}/none/latest-sync-state`, undefined, 404],
        ['GET', `${at}?pageSize=0`, undefined, 400],
        ['GET', `${at}?page=x`, undefined, 400],
        ['DELETE', `${one}?delete_data_only=perhaps`, undefined, 400],
      ] as const) {
        await refused(api, [method, url, body], status)
      }
      const connections = [{ pluginName: plugin, connectionId: id, scopes: [{ scopeId: source.scopeId }] }]
      const blueprint = succeeded(
        await api.ask('POST', '/blueprints', { name: plugin, mode: 'NORMAL', isManual: true, connections }),
        201,
      )
      const users = { blueprints: [plugin], projects: [] }
      await refused(api, ['DELETE', one], 409, /is in use/, users)
      await refused(api, ['DELETE', `${base}/${id}`], 409, /is in use/, users)
      await whileRunning(() => refused(api, ['DELETE', `${one}?delete_data_only=true`], 409, /is running/))
      expect(succeeded(await api.ask('DELETE', `${one}?delete_data_only=true`))).toMatchObject(source.scope)
      expect(succeeded(await api.ask('GET', `${one}/latest-sync-state`))).toEqual([])
      await api.ask('DELETE', `/blueprints/${blueprint.id}`)
      await refused(api, ['DELETE', `${base}/${id}`], 409, /has scopes/)
      expect(succeeded(await api.ask('DELETE', one))).toMatchObject(source.scope)
      succeeded(await api.ask('DELETE', `${base}/${id}`))
    })

    it(`scope configs of ${plugin}`, async () => {
      const { id } = succeeded(await api.ask('POST', base, { ...source.connection, name: 'first' }), 201)
      const { id: other } = succeeded(await api.ask('POST', base, { ...source.connection, name: 'second' }), 201)
      const at = `${base}/${id}/scope-configs`
      const rules = { name: 'rules', entities: ['CICD', 'UNHEARD_OF'], connectionId: 999, component: 'ignored' }
      const created = succeeded(await api.ask('POST', at, rules), 201)
      expect(keysOf(created)).toEqual(
        ['id', ...WRITTEN, 'connectionId', 'name', 'entities', ...source.configFields].sort(),
      )
      expect(created).toMatchObject({ connectionId: id, name: 'rules', entities: rules.entities })
      const newer = succeeded(await api.ask('POST', at, { name: 'newer', entities: null }), 201)
      expect(newer.entities).toEqual([])
      expect(succeeded(await api.ask('GET', at)).map((each: any) => each.id)).toEqual([newer.id, created.id])
      expect(succeeded(await api.ask('GET', `${base}/${other}/scope-configs`))).toEqual([])
      expect(succeeded(await api.ask('PATCH', `${at}/${created.id}`, { Entities: [] }))).toMatchObject({
        name: 'rules',
        entities: [],
      })
      const used = `/plugins/${plugin}/scope-config/${created.id}/projects`
      expect(succeeded(await api.ask('GET', used))).toEqual({ count: 0, projects: [] })

      await refused(api, ['POST', `${base}/${other}/scope-configs`, { name: 'rules' }], 400, /already called rules/)
      await refused(api, ['POST', at, {}], 400, /name is missing/)
      await refused(api, ['POST', at, { name: 'x', entities: 'CODE,CICD' }], 400, /entities/)
      await refused(api, ['POST', `${base}/999/scope-configs`, { name: 'x' }], 404)
      await refused(api, ['PATCH', `${at}/${created.id}`, { name: 'newer' }], 400, /already called newer/)
      await refused(api, ['GET', `${base}/${other}/scope-configs/${created.id}`], 404)
      await refused(api, ['GET', `${at}/x`], 400)
      await refused(api, ['DELETE', `${at}/999`], 404)
      await refused(api, ['GET', `/plugins/${plugin}/scope-config/x/projects`], 400)

      const [scope] = succeeded(
        await api.ask('PUT', `${base}/${id}/scopes`, { data: [{ ...source.scope, scopeConfigId: created.id }] }),
      )
      await refused(api, ['DELETE', `${at}/${created.id}`], 409, /used by 1 scope/, [scope])
      await whileRunning(() => refused(api, ['DELETE', `${at}/${newer.id}`], 409, /is running/))
      expect(succeeded(await api.ask('DELETE', `${at}/${newer.id}`))).toEqual(newer)
      succeeded(await api.ask('DELETE', `${base}/${id}/scopes/${source.scopeId}`))
      for (const each of [id, other]) succeeded(await api.ask('DELETE', `${base}/${each}`))
    })
  }

  it('GitHub: an app needs its key and installation, and no token', async () => {
    const base = '/plugins/github/connections'
    const app = {
      name: 'app',
      endpoint: NOWHERE,
      authMethod: 'AppKey',
      appId: '1',
      secretKey: TOKEN,
      installationId: 2,
    }
    for (const name of ['appId', 'secretKey', 'installationId']) {
      await refused(api, ['POST', base, { ...app, [name]: undefined }], 400, new RegExp(`${name} is missing`))
    }
    const { id, ...created } = succeeded(await api.ask('POST', base, app), 201)
    expect(created).toMatchObject({ authMethod: 'AppKey', appId: '1', installationId: 2, token: '' })
    // Only the fields of the chosen authentication method are checked.
    succeeded(await api.ask('PATCH', `${base}/${id}`, { token: '' }))
    await refused(api, ['PATCH', `${base}/${id}`, { authMethod: 'AccessToken' }], 400, /token is missing/)
    succeeded(await api.ask('DELETE', `${base}/${id}`))
  })
})
