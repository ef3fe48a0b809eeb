/** Every route is described, and every described route is served. */
import { Validator } from '@seriousme/openapi-schema-validator'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { plugins } from '../../src/plugins/index.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

/** All routes of DevLake except those of single plugins. */
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
/** Routes below /plugins/<name>/. */
const OF_SOURCE = `
POST test, GET connections, POST connections, GET connections/{connectionId}, PATCH connections/{connectionId},
DELETE connections/{connectionId}, POST connections/{connectionId}/test,
GET connections/{connectionId}/scopes, PUT connections/{connectionId}/scopes,
GET connections/{connectionId}/scopes/{scopeId}, PATCH connections/{connectionId}/scopes/{scopeId},
DELETE connections/{connectionId}/scopes/{scopeId}, GET connections/{connectionId}/scopes/{scopeId}/latest-sync-state,
GET connections/{connectionId}/scope-configs, POST connections/{connectionId}/scope-configs,
GET connections/{connectionId}/scope-configs/{scopeConfigId}, PATCH connections/{connectionId}/scope-configs/{scopeConfigId},
DELETE connections/{connectionId}/scope-configs/{scopeConfigId}, GET scope-config/{scopeConfigId}/projects,
GET connections/{connectionId}/remote-scopes, GET connections/{connectionId}/proxy/rest/{path}`
const SEARCH = 'GET connections/{connectionId}/search-remote-scopes'
const OF_JIRA = `
GET connections/{connectionId}/application-types, GET connections/{connectionId}/dev-panel-commits,
POST generate-regex, POST apply-regex`
const routesIn = (list: string, base = '') => list.split(',').map((route) => route.trim().replace(' ', ` ${base}`))

const operationsOf = (document: any) =>
  Object.entries<any>(document.paths).flatMap(([path, methods]) =>
    Object.entries<any>(methods).map(([method, operation]) => ({
      where: `${method} ${path}`,
      method: method.toUpperCase(),
      path,
      operation,
    })),
  )

describeOneWithTables('the description', (test) => {
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
    // tests/web/reference.test.ts opens this page. Without a built client it links to the JSON.
    const page = await api.ask('GET', '/api/swagger/index.html', undefined, { headers: { accept: 'text/html' } })
    expect(page.text).toContain('<a href="/swagger/doc.json">')
  })

  it('is the same made route by route, when it is asked for, as made at once', async () => {
    // The description above checks the answers of this server, so its own description is made only when it is requested.
    const asked = await startTestApi(test.database)
    const atOnce = await startTestApi(test.database, {}, [...plugins])
    expect((await asked.ask('GET', '/swagger/doc.json')).body).toEqual((atOnce.server as any).swagger())
    await Promise.all([asked.close(), atOnce.close()])
  })

  it('holds exactly the routes that are served', () => {
    const described = Object.entries<any>(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(described.length).toBeGreaterThan(100)
    for (const each of described) {
      const [method = '', path = ''] = each.split(' ')
      const url = path.replace('rest/{path}', 'rest/*').replace(/\{(\w+)\}/g, ':$1')
      expect(api.server.hasRoute({ method: method as 'GET', url }), each).toBe(true)
    }
    // The router prints the methods of each place in its tree. HEAD comes with GET.
    const served = [...api.server.printRoutes().matchAll(/\(([A-Z, ]+)\)$/gm)]
      .flatMap(([, methods = '']) => methods.split(', '))
      .filter((method) => method !== 'HEAD')
    // Files of the web client are not part of the interface.
    expect(served.length).toBe(described.length + 1)
    expect(api.server.hasRoute({ method: 'GET', url: '/assets/*' })).toBe(true)
  })

  it('holds every route of DevLake', () => {
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

  it('is valid, with names and access rules for each operation and no part that nothing uses', async () => {
    expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true })
    const operations = operationsOf(document)
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(operations.length)
    expect(ids.filter((id) => !/^[a-z][A-Za-z0-9]+$/.test(id))).toEqual([])
    const schemes = Object.keys(document.components.securitySchemes)
    for (const { where, operation } of operations) {
      expect(operation.security.length, where).toBeGreaterThan(0)
      for (const each of operation.security.flatMap(Object.keys)) expect(schemes).toContain(each)
      for (const status of [400, 401, 403, 405, 429, 503]) expect(operation.responses[status], where).toBeDefined()
      for (const { in: place, name, schema } of operation.parameters) {
        expect(name, where).toMatch(place === 'header' ? /^[\w-]+$/ : /^\w+$/)
        expect(typeof schema, where).toBe('object')
      }
    }
    const text = JSON.stringify(document)
    for (const [kind, parts] of Object.entries<any>(document.components)) {
      if (kind === 'securitySchemes') continue
      for (const name of Object.keys(parts)) expect(text).toContain(`"#/components/${kind}/${name}"`)
    }
    expect(document.components.responses.MethodNotAllowed.headers.Allow).toMatchObject({ required: true })
  })

  it('marks what cannot be left out', () => {
    const needed = (path: string, method = 'post') =>
      document.paths[path][method].requestBody.content['application/json'].schema.required ?? []
    expect(needed('/projects')).toEqual(['name'])
    expect(needed('/pipelines')).toEqual(['plan'])
    expect(needed('/plugins/jira/connections')).toEqual(['name', 'endpoint'])
    expect(needed('/plugins/jira/connections/{connectionId}', 'patch')).toEqual([])
    expect(needed('/plugins/github/connections/{connectionId}/scope-configs')).toEqual(['name'])
    expect(document.paths['/blueprints/{id}/trigger'].post.requestBody.required).toBe(false)
    expect(document.paths['/projects'].post.requestBody.required).toBe(true)
  })

  it('has examples that work as they stand', async () => {
    const values: Record<string, string> = {
      projectName: 'shop',
      connectionName: 'main',
      tableName: 'repos',
      table: 'issues',
    }
    const examples = operationsOf(document).flatMap(({ method, path, operation }) =>
      Object.values<any>(operation.requestBody?.content?.['application/json']?.examples ?? {}).map(({ value }) => ({
        method,
        path,
        value,
      })),
    )
    // Routes that create things come first, because the other routes use these things.
    const isMaker = ({ path }: { path: string }) => !path.includes('{')
    const sorted = [...examples.filter(isMaker), ...examples.filter((each) => !isMaker(each))]
    expect(sorted.length).toBeGreaterThan(25)
    for (const { method, path, value } of sorted) {
      const url = path.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? '1')
      const answer = await api.ask(method, url, value)
      expect(answer.status, `${method} ${url} ${answer.text}`).toBeLessThan(300)
      if (path === '/v1/traffic-switches') values.id = answer.body.id
    }
  })

  it('tells an address that has other methods from one that nobody knows', async () => {
    for (const [path, methods] of Object.entries<any>(document.paths)) {
      const url = path.replace(/\{\w+\}/g, '1')
      // `lint` could also be the id of a switch.
      const [method = ''] = ['put', 'delete', 'patch', 'post', 'options'].filter(
        (each) => !methods[each] && !path.endsWith('/lint'),
      )
      if (method === '') continue
      // The unreadable body is not parsed.
      const answer = await api.ask(method.toUpperCase(), url, '{')
      expect(answer.status, `${method} ${url} ${answer.text}`).toBe(405)
      expect(answer.body).toMatchObject({ code: 0, success: false, message: expect.stringMatching(/has no method/) })
      const allowed = Object.keys(methods).flatMap((each) => (each === 'get' ? ['GET', 'HEAD'] : [each.toUpperCase()]))
      expect(answer.headers.allow.split(', ')).toEqual(allowed.sort())
    }
    expect((await api.ask('GET', '/nowhere')).status).toBe(404)
    // An older client may ask for such a file after an update.
    expect((await api.ask('GET', '/assets/nothere.js')).status).toBe(404)
    expect((await api.ask('POST', '/assets/nothere.js', '{')).status).toBe(405)
    expect((await api.ask('POST', '/nowhere', '{')).status).toBe(404)
  })

  it('refuses every operation that is not public to whoever has no token, or a wrong one', async () => {
    const locked = await startTestApi(test.database, { AUTH: 'token', AUTH_TOKEN: 'right-token-of-this-test' })
    const described = (await locked.ask('GET', '/swagger/doc.json')).body
    let address = 0
    for (const { method, path, operation, where } of operationsOf(described)) {
      const isOpen = operation.security.some((each: object) => Object.keys(each).length === 0)
      const url = path.replace(/\{\w+\}/g, '1')
      for (const headers of [{}, { authorization: 'Bearer wrong' }, { cookie: 'session=wrong' }]) {
        // Each request has a different address, because attempts are counted per address.
        const remoteAddress = `10.0.${++address >> 8}.${address & 255}`
        const sent = { method: method as 'GET', url, headers, remoteAddress }
        const { statusCode } = await locked.server.inject(isOpen ? { ...sent, method: 'GET' } : sent)
        if (isOpen) expect(statusCode, where).not.toBe(403)
        else expect(statusCode, where).toBe(401)
      }
    }
    await locked.close()
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
