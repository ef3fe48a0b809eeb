/** Every route is described, and every description is served. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { plugins } from '../../src/plugins/index.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

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
