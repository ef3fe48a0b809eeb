/** Every route is described, and every description is served. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { plugins } from '../../src/plugins/index.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

/** Every route of the reference but those of single plugins. */
const REFERENCE = `
GET /ping, GET /ready, GET /health, GET /version, GET /proceed-db-migration, GET /swagger/doc.json,
GET /swagger/index.html, GET /auth/methods, GET /auth/login, GET /auth/callback, POST /auth/logout, GET /auth/userinfo,
GET /projects, POST /projects, GET /projects/{projectName}, GET /projects/{projectName}/check,
PATCH /projects/{projectName}, DELETE /projects/{projectName},
GET /blueprints, POST /blueprints, GET /blueprints/{id}, PATCH /blueprints/{id}, DELETE /blueprints/{id},
POST /blueprints/{id}/trigger, GET /blueprints/{id}/pipelines,
POST /pipelines, GET /pipelines, GET /pipelines/{id}, DELETE /pipelines/{id}, GET /pipelines/{id}/tasks,
GET /pipelines/{id}/subtasks, POST /pipelines/{id}/rerun, GET /pipelines/{id}/logging.tar.gz, POST /tasks/{id}/rerun,
GET /api-keys, POST /api-keys, PUT /api-keys/{id}, DELETE /api-keys/{id}, GET /store/{key}, PUT /store/{key},
GET /plugins, GET /plugininfo, POST /push/{tableName}, GET /domainlayer/repos`
/** Below /plugins/<name>/. */
const OF_SOURCE = `
POST test, GET connections, POST connections, GET connections/{connectionId}, PATCH connections/{connectionId},
DELETE connections/{connectionId}, POST connections/{connectionId}/test,
GET connections/{connectionId}/scopes, PUT connections/{connectionId}/scopes,
GET connections/{connectionId}/scopes/{scopeId}, PATCH connections/{connectionId}/scopes/{scopeId},
DELETE connections/{connectionId}/scopes/{scopeId}, GET connections/{connectionId}/scopes/{scopeId}/latest-sync-state,
GET connections/{connectionId}/scope-configs, POST connections/{connectionId}/scope-configs,
GET connections/{connectionId}/scope-configs/{scopeConfigId}, PATCH connections/{connectionId}/scope-configs/{scopeConfigId},
DELETE connections/{connectionId}/scope-configs/{scopeConfigId}, GET scope-config/{scopeConfigId}/projects,
GET connections/{connectionId}/remote-scopes, GET connections/{connectionId}/proxy/rest/{*}`
const SEARCH = 'GET connections/{connectionId}/search-remote-scopes'
const OF_JIRA = `
GET connections/{connectionId}/application-types, GET connections/{connectionId}/dev-panel-commits,
POST generate-regex, POST apply-regex`
const routesIn = (list: string, base = '') => list.split(',').map((route) => route.trim().replace(' ', ` ${base}`))

describeEachDatabase('the description', (test) => {
  let api: TestApi
  let document: any
  beforeAll(async () => {
    api = await startTestApi(test.database)
    document = (await api.ask('GET', '/swagger/doc.json')).body
  })
  afterAll(() => api.close())

  it('is OpenAPI 3.1, as JSON and as a page', async () => {
    expect(document.openapi).toBe('3.1.0')
    expect((await api.ask('GET', '/swagger')).body.openapi).toBe('3.1.0')
    const page = await api.ask('GET', '/api/swagger/index.html', undefined, { headers: { accept: 'text/html' } })
    expect(page.text).toContain('<code>POST /blueprints/{id}/trigger</code>')
  })

  it('holds exactly the routes that are served', () => {
    const described = Object.entries<any>(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(described.length).toBeGreaterThan(100)
    for (const each of described) {
      const [method = '', path = ''] = each.split(' ')
      const url = path.replace('{*}', '*').replace(/\{(\w+)\}/g, ':$1')
      expect(api.server.hasRoute({ method: method as 'GET', url }), each).toBe(true)
    }
    // The router names the methods of each place in its tree; HEAD comes with GET.
    const served = [...api.server.printRoutes().matchAll(/\(([A-Z, ]+)\)$/gm)]
      .flatMap(([, methods = '']) => methods.split(', '))
      .filter((method) => method !== 'HEAD')
    expect(served.length).toBe(described.length)
  })

  it('holds every route of the reference', () => {
    const named = [
      ...routesIn(REFERENCE),
      ...['github', 'jira', 'circleci'].flatMap((plugin) => routesIn(OF_SOURCE, `/plugins/${plugin}/`)),
      ...['github', 'jira'].flatMap((plugin) => routesIn(SEARCH, `/plugins/${plugin}/`)),
      ...routesIn(OF_JIRA, '/plugins/jira/'),
    ]
    const missing = named.filter((route) => {
      const [method = '', path = ''] = route.split(' ')
      return !document.paths[path]?.[method.toLowerCase()]
    })
    expect(missing).toEqual([])
  })

  it('says for each route what it is for, what it takes and what it answers', () => {
    for (const [path, methods] of Object.entries<any>(document.paths)) {
      for (const [method, { summary, tags, responses, parameters = [] }] of Object.entries<any>(methods)) {
        const where = `${method} ${path}`
        expect(summary, where).toMatch(/\w/)
        expect(tags, where).toHaveLength(1)
        expect(
          Object.keys(responses).some((status) => Number(status) < 400),
          where,
        ).toBe(true)
        const named = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name)
        const inPath = parameters.filter((each: any) => each.in === 'path').map((each: any) => each.name)
        expect(inPath.sort(), where).toEqual(named.sort())
      }
    }
  })

  it('gives each data source its routes, with the fields that it describes', () => {
    const sources = plugins.flatMap(({ source }) => (source && !source.settingsOf ? [source] : []))
    for (const { name, connection } of sources) {
      const { post } = document.paths[`/plugins/${name}/connections`]
      const { properties } = post.requestBody.content['application/json'].schema
      expect(Object.keys(properties)).toEqual(['name', ...Object.keys(connection.fields)])
      expect(document.paths).toHaveProperty([`/plugins/${name}/connections/{connectionId}/scopes/{scopeId}`])
    }
  })
})
