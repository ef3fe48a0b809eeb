/** Roles: one table of routes. A role applies everywhere or in one project, and comes from a token, an API key or a group. */

import { Readable } from 'node:stream'
import Fastify from 'fastify'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { BREACH, type LawfulRoute, requireHeavy, requireLaws } from '../../src/api/access/route-law.ts'
import type { Api } from '../../src/api/api.ts'
import { installWatchdog } from '../../src/api/watchdog.ts'
import { compilePattern } from '../../src/basics/user-patterns.ts'
import { parseYaml } from '../../src/basics/yaml.ts'
import { readConfig } from '../../src/config/config.ts'
import { createLog } from '../../src/log.ts'
import { openCsv } from '../../src/plugin-kit/push/csv.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const ADMIN = 'the-token-of-an-admin'
const TOKENS = {
  viewer: 'the-token-of-a-viewer',
  operator: 'the-token-of-an-operator',
  shop: 'the-token-of-an-operator-in-shop',
  boss: 'the-token-of-an-admin-in-shop',
}
const AUTH_TOKENS = [
  `v:viewer:${TOKENS.viewer}`,
  `o:operator:${TOKENS.operator}`,
  `s:operator@the%20shop:${TOKENS.shop}`,
  `b:admin@the%20shop:${TOKENS.boss}`,
].join(',')
const READING = ['GET', 'HEAD', 'OPTIONS']
/** They send a body and change nothing. */
const READING_BY_POST = [
  'POST /plugins/jira/apply-regex',
  'POST /plugins/jira/generate-regex',
  'POST /v1/mcp',
  'POST /v1/metrics/rule-preview',
  'POST /v1/patterns/match',
  'POST /v1/plans/check',
  'POST /v1/plans/preview',
  'POST /v1/traffic-plans/simulate',
  'POST /v1/traffic-switches/:id/diff',
  'POST /v1/traffic-switches/:id/simulate',
  'POST /v1/traffic-switches/:id/validate',
  'POST /v1/traffic-switches/lint',
]
/** They change runs, dashboards, traffic, or how a page looks for its reader; never settings or projects. Messages of webhooks stand beside them. */
const FOR_OPERATORS = [
  'DELETE /pipelines/:id',
  'DELETE /v1/own-dashboards/:id',
  'DELETE /v1/shared-dashboards/:id',
  'PATCH /v1/own-dashboards/:id',
  'POST /blueprints/:id/trigger',
  'POST /pipelines',
  'POST /pipelines/:id/rerun',
  'POST /push/:tableName',
  'POST /tasks/:id/rerun',
  'POST /v1/gaps/ask-again',
  'POST /v1/own-dashboards',
  'POST /v1/plugins/:plugin/connections/:connectionId/deliveries/:id/replay',
  'POST /v1/quarantine/redrive',
  'POST /v1/shared-dashboards',
  'POST /v1/traffic-imports',
  'POST /v1/traffic-imports/manifests',
  'POST /v1/traffic-switches',
  'POST /v1/traffic-switches/:id/approve',
  'POST /v1/traffic-switches/:id/preflight',
  'POST /v1/traffic-switches/:id/reverse',
  'POST /v1/traffic-switches/:id/transitions',
  'PUT /store/:key',
  'PUT /v1/traffic-switches/:id',
]
const PLAN = [[{ plugin: 'org', subtasks: [], options: {} }]]

describeEachWithTables('roles', (test) => {
  let api: TestApi
  const as = async (token: string, method: string, url: string, body?: unknown) =>
    api.ask(method, url, body, { headers: { authorization: `Bearer ${token}` } })
  const status = async (token: string, method: string, url: string, body?: unknown) =>
    (await as(token, method, url, body)).status
  const ids: Record<string, { blueprint: number; pipeline: number }> = {}

  beforeAll(async () => {
    api = await startTestApi(test.database, { AUTH: 'token', AUTH_TOKEN: ADMIN, AUTH_TOKENS })
    for (const name of ['the shop', 'bank']) {
      const blueprint = { mode: 'ADVANCED', plan: PLAN, isManual: true }
      const { body } = await as(ADMIN, 'POST', '/projects', { name, blueprint })
      const run = await as(ADMIN, 'POST', `/blueprints/${body.blueprint.id}/trigger`, {})
      ids[name] = { blueprint: body.blueprint.id, pipeline: run.body.id }
    }
  })
  afterAll(() => api.close())

  it('every route says whose it is, how much it takes and what it costs; one that does not is refused', async () => {
    const { laws } = api.server as unknown as { laws: readonly LawfulRoute[] }
    const lawOf = (method: string, url: string) => laws.find((each) => each.method === method && each.url === url)
    const { paths } = (api.server as any).swagger()
    const described = Object.entries<object>(paths).flatMap(([path, methods]) => {
      const url = path.replace('rest/{path}', 'rest/*').replaceAll(/\{(\w+)\}/g, ':$1')
      return Object.keys(methods).map((method) => ({ method: method.toUpperCase(), url }))
    })
    expect(described.filter(({ method, url }) => !lawOf(method, url))).toEqual([])
    const open = laws.filter(({ least }) => ['probe', 'anyone', 'signed'].includes(least))
    expect(open.filter(({ method }) => !['GET', 'HEAD'].includes(method)).map(({ url }) => url)).toEqual([
      '/auth/token',
      '/auth/logout',
      '/v1/plugins/:plugin/connections/:connectionId/deliveries',
    ])
    const bare = Fastify() as unknown as Api
    requireLaws(bare)
    const config = { least: 'anyone', reach: 'everywhere', size: 'list', cost: 'light' } as const
    expect(() => bare.get('/forgotten', async () => '')).toThrow('GET /forgotten does not declare least, reach, size')
    expect(() => bare.get('/half', { config: { least: 'viewer' } }, async () => '')).toThrow('reach, size, cost')
    expect(() => bare.post('/large', { config }, async () => '')).toThrow('its size must be none or small')
    const file = { ...config, least: 'viewer', size: 'file' } as const
    expect(() => bare.post('/file', { config: file }, async () => '')).toThrow('takes a file: its cost is heavy')
  })

  it('what changes something is for admins, but for the routes of the lists', () => {
    const { laws } = api.server as unknown as { laws: readonly LawfulRoute[] }
    const openTo = (role: string) => {
      const routes = laws.filter(
        ({ method, url, least }) => least === role && !url.startsWith('/plugins/webhook/') && !READING.includes(method),
      )
      return [...new Set(routes.map(({ method, url }) => `${method} ${url}`))].sort()
    }
    expect(openTo('viewer')).toEqual(READING_BY_POST)
    expect(openTo('operator')).toEqual(FOR_OPERATORS)
  })

  it('a route that does otherwise than it says of its cost is found', async () => {
    const told: string[] = []
    const bare = Fastify({ loggerInstance: createLog('error', { write: (line) => void told.push(line) }) }) as any
    requireLaws(bare)
    installWatchdog(bare)
    const law = { least: 'viewer', reach: 'everywhere', size: 'none' }
    const route = (path: string, cost: string, run: () => unknown) =>
      bare.get(path, { config: { ...law, cost } }, async () => (await run()) ?? 'done')
    route('/heavy', 'heavy', () => 'done here')
    route('/threads', 'heavy', () => requireHeavy('simulate'))
    route('/streamed', 'streamed', () => 'at once')
    route('/in-pieces', 'streamed', () => Readable.from(['piece']))
    route('/light', 'light', () => requireHeavy('simulate'))
    route('/yaml', 'light', () => parseYaml('a: 1'))
    route('/csv', 'heavy', () => openCsv('x.csv', Buffer.from('a')))
    route('/pattern', 'heavy', () => compilePattern('a'))
    const statusOf = async (url: string) => (await bare.inject({ url })).statusCode
    const breaches = () => told.splice(0).filter((line) => line.includes(BREACH))
    expect([await statusOf('/heavy'), breaches()]).toEqual([200, [expect.stringMatching(/GET \/heavy .*nothing in a/)]])
    expect([await statusOf('/streamed'), breaches()]).toEqual([200, [expect.stringMatching(/\/streamed .*at once/)]])
    for (const url of ['/threads', '/in-pieces']) expect([await statusOf(url), breaches()]).toEqual([200, []])
    for (const url of ['/light', '/yaml', '/csv', '/pattern']) expect(await statusOf(url), url).toBe(500)
    await bare.close()
  })

  it('a viewer reads, an operator runs, an admin changes', async () => {
    const { blueprint } = ids.bank!
    const asked: [string, string, unknown, viewer: number, operator: number][] = [
      ['GET', '/projects', undefined, 200, 200],
      ['GET', '/plugins/github/connections', undefined, 200, 200],
      ['GET', '/api-keys', undefined, 403, 403],
      ['GET', '/v1/audit', undefined, 403, 403],
      ['GET', '/v1/audit/export', undefined, 403, 403],
      ['PUT', '/store/seen', {}, 403, 201],
      ['POST', `/blueprints/${blueprint}/trigger`, {}, 403, 400],
      ['POST', '/projects', { name: 'new' }, 403, 403],
      ['PATCH', `/blueprints/${blueprint}`, { enable: false }, 403, 403],
      ['POST', '/plugins/github/connections', { name: 'x' }, 403, 403],
      ['POST', '/plugins/github/test', {}, 403, 403],
      ['GET', '/plugins/github/connections/1/proxy/rest/user', undefined, 403, 403],
      ['POST', '/api-keys', { name: 'k', type: 'devlake', allowedPath: '.*' }, 403, 403],
    ]
    for (const [method, url, body, viewer, operator] of asked) {
      const answers = [await status(TOKENS.viewer, method, url, body), await status(TOKENS.operator, method, url, body)]
      expect(answers, `${method} ${url}`).toEqual([viewer, operator])
    }
    expect(await status(ADMIN, 'GET', '/api-keys')).toBe(200)
    const { body } = await as(TOKENS.shop, 'GET', '/v1/access')
    expect(body).toEqual({ id: 'token:s', name: 's', roles: [{ role: 'operator', project: 'the shop' }] })
  })

  it('a role in a project ends with that project', async () => {
    const [shop, bank] = [ids['the shop']!, ids.bank!]
    const names = async (url: string, list: string) => (await as(TOKENS.shop, 'GET', url)).body[list]
    expect((await names('/projects', 'projects')).map(({ name }: any) => name)).toEqual(['the shop'])
    expect((await names('/blueprints', 'blueprints')).map(({ id }: any) => id)).toEqual([shop.blueprint])
    expect((await names('/pipelines', 'pipelines')).map(({ id }: any) => id)).toEqual([shop.pipeline])
    expect((await as(TOKENS.viewer, 'GET', '/projects')).body.count).toBe(2)

    const both = async (method: string, url: (of: typeof shop) => string, body?: unknown) => [
      await status(TOKENS.shop, method, url(shop), body),
      await status(TOKENS.shop, method, url(bank), body),
    ]
    expect(await both('GET', ({ blueprint }) => `/blueprints/${blueprint}`)).toEqual([200, 403])
    expect(await both('GET', ({ pipeline }) => `/pipelines/${pipeline}/tasks`)).toEqual([200, 403])
    expect(await both('DELETE', ({ pipeline }) => `/pipelines/${pipeline}`)).toEqual([200, 403])
    expect(await both('POST', ({ pipeline }) => `/pipelines/${pipeline}/rerun`)).toEqual([200, 403])
    expect(await both('PATCH', ({ blueprint }) => `/blueprints/${blueprint}`, {})).toEqual([403, 403])
    const metric = '/v1/metrics/deployment-frequency?from=2026-01-01&to=2026-02-01&project='
    expect(await status(TOKENS.shop, 'GET', `${metric}the%20shop`)).toBe(200)
    expect(await status(TOKENS.shop, 'GET', `${metric}bank`)).toBe(403)
    expect(await status(TOKENS.shop, 'GET', `${metric}the%20shop&project=bank`)).not.toBe(200)
    const keys = await names('/v1/four-keys?project=bank&project=the%20shop', 'projects')
    expect(keys.map(({ project }: any) => project)).toEqual(['the shop'])
    expect(await status(TOKENS.shop, 'GET', '/projects/bank')).toBe(403)
    expect(await status(TOKENS.shop, 'GET', '/v1/receipts')).toBe(403)
    expect(await status(TOKENS.shop, 'POST', '/pipelines', { plan: PLAN, blueprintId: bank.blueprint })).toBe(403)
    for (const sent of [{ project: 'bank' }, { Project: 'bank' }, { project: 'the shop', PROJECT: 'bank' }]) {
      expect([400, 403], JSON.stringify(sent)).toContain(
        await status(TOKENS.shop, 'POST', '/v1/quarantine/redrive', sent),
      )
    }

    const change = (body: unknown) => status(TOKENS.boss, 'PATCH', `/blueprints/${shop.blueprint}`, body)
    expect(await change({ enable: true })).toBe(200)
    for (const sent of [{ projectName: 'bank' }, { ProjectName: 'bank' }]) expect(await change(sent)).toBe(403)
    expect(await status(TOKENS.boss, 'PATCH', '/projects/the%20shop', { name: 'bank' })).toBe(403)
    expect(await status(TOKENS.boss, 'PATCH', '/projects/the%20shop', { description: 'ours' })).toBe(201)
    expect(await status(TOKENS.boss, 'DELETE', '/projects/bank')).toBe(403)
    expect(await status(TOKENS.boss, 'POST', '/plugins/github/connections', { name: 'x' })).toBe(403)
  })

  it('an admin of a project adds nothing to it that is not its own, and nobody changes dashboards of others', async () => {
    const { blueprint } = ids['the shop']!
    const change = (body: unknown) => as(TOKENS.boss, 'PATCH', `/blueprints/${blueprint}`, body)
    const { body: connection } = await as(ADMIN, 'POST', '/plugins/webhook/connections', { name: 'of the bank' })
    const webhook = { pluginName: 'webhook', connectionId: connection.id, scopes: [] }
    const stolen = [
      [{ plugin: 'gitextractor', options: { url: 'https://git.example/x', repoId: 'x', connectionId: 1 } }],
    ]
    for (const sent of [{ connections: [webhook] }, { plan: stolen }, { beforePlan: stolen }, { afterPlan: PLAN }]) {
      expect(await change(sent), JSON.stringify(sent)).toMatchObject({
        status: 403,
        body: { message: expect.stringContaining('needs the role admin in all projects') },
      })
    }
    // Clients do this: they send back the whole answer that they received.
    const { body: shown } = await as(TOKENS.boss, 'GET', `/blueprints/${blueprint}`)
    expect((await change({ ...shown, name: 'renamed' })).status).toBe(200)
    expect(await status(ADMIN, 'PATCH', `/blueprints/${blueprint}`, { connections: [webhook] })).toBe(200)
    expect((await change({ connections: [webhook] })).status).toBe(200)
    expect((await change({ connections: [{ ...webhook, scopes: [{ scopeId: 'other' }] }] })).status).toBe(403)
    expect((await change({ connections: [] })).status).toBe(200)
    expect((await change({ connections: [webhook] })).status).toBe(403)

    const { body: dashboard } = await as(ADMIN, 'POST', '/v1/own-dashboards', { title: 'of an admin' })
    const { body: own } = await as(TOKENS.shop, 'POST', '/v1/own-dashboards', { title: 'of the shop' })
    for (const token of [TOKENS.shop, TOKENS.boss]) {
      expect(await status(token, 'PATCH', `/v1/own-dashboards/${dashboard.id}`, { title: 'taken' })).toBe(403)
      expect(await status(token, 'DELETE', `/v1/own-dashboards/${dashboard.id}`)).toBe(403)
    }
    expect(await status(TOKENS.boss, 'DELETE', `/v1/own-dashboards/${own.id}`)).toBe(403)
    expect(await status(TOKENS.shop, 'PATCH', `/v1/own-dashboards/${own.id}`, { title: 'renamed' })).toBe(200)
    expect(await status(TOKENS.operator, 'DELETE', `/v1/own-dashboards/${own.id}`)).toBe(200)
  })

  it('API keys have roles, too', async () => {
    const key = { type: 'devlake', allowedPath: '.*' }
    const made = await as(ADMIN, 'POST', '/api-keys', { ...key, name: 'r', role: 'viewer', projects: ['the shop'] })
    expect(made.body).toMatchObject({ role: 'viewer', projects: ['the shop'] })
    expect(await status(ADMIN, 'POST', '/api-keys', { ...key, name: 'p', projects: ['the shop'] })).toBe(400)
    expect(await status(ADMIN, 'POST', '/api-keys', { ...key, name: 'q', role: 'owner' })).toBe(400)
    const { body } = await as(made.body.apiKey, 'GET', '/rest/projects')
    expect(body.projects.map(({ name }: any) => name)).toEqual(['the shop'])
    expect(await status(made.body.apiKey, 'GET', '/rest/projects/bank')).toBe(403)
    expect(await status(made.body.apiKey, 'POST', `/rest/blueprints/${ids['the shop']!.blueprint}/trigger`, {})).toBe(
      403,
    )
    expect(await status(made.body.apiKey, 'GET', '/rest/api-keys')).toBe(403)
  })

  it('settings that say nothing clear are refused', () => {
    for (const AUTH_TOKENS of [
      'viewer',
      'a:owner:0123456789abcdef',
      'a:viewer:short',
      'a:viewer@%zz:0123456789abcdef',
    ]) {
      expect(() => readConfig({ AUTH_TOKENS }), AUTH_TOKENS).toThrow(/^AUTH_TOKENS is wrong: must look like/)
    }
    expect(() => readConfig({ PROXY_IDENTITY_ROLES: 'staff' })).toThrow(/^PROXY_IDENTITY_ROLES is wrong/)
    expect(() => readConfig({ PROXY_IDENTITY_SECRET: 'short' })).toThrow(/^PROXY_IDENTITY_SECRET is wrong/)
    expect(() => readConfig({ TRUSTED_PROXIES: 'a proxy' })).toThrow(/^TRUSTED_PROXIES is wrong/)
  })
})
