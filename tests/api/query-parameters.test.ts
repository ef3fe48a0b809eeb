/** On every route an unknown filter is refused, or at least reported. */
import { globSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import type { Question } from '../../src/mcp/ask.ts'
import { tools } from '../../src/mcp/tools.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

interface Parameter {
  readonly name: string
  readonly isList: boolean
}
interface Operation {
  readonly method: string
  readonly path: string
  readonly url: string
  readonly parameters: readonly Parameter[]
  /** Headers that the operation requires: uploads are refused without their content type. */
  readonly headers: Readonly<Record<string, string>>
}

const takesList = ({ type, anyOf = [] }: any): boolean => type === 'array' || anyOf.some(takesList)

/** Requests that Weir forwards unchanged to another server, and requests that other servers send with parameters of their choice. */
const takesAny = ({ method, path }: Operation) =>
  path.endsWith('/proxy/rest/{path}') ||
  path === '/auth/callback' ||
  (method === 'POST' && path === '/v1/plugins/{plugin}/connections/{connectionId}/deliveries')

function operationsOf(document: any): Operation[] {
  return Object.entries<any>(document.paths).flatMap(([path, methods]) =>
    Object.entries<any>(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      url: path.replace(/\{\w+\}/g, '1'),
      headers: operation.requestBody?.content['multipart/form-data'] ? { 'content-type': 'multipart/form-data' } : {},
      parameters: operation.parameters
        .filter((each: any) => each.in === 'query')
        .map((each: any) => ({ name: each.name, isList: takesList(each.schema) })),
    })),
  )
}

/** Repeats the last letter of the name. */
const misspelt = (name: string) => `${name}${name.at(-1)}`

describeEachWithTables('parameters of queries', (test) => {
  let api: TestApi
  let operations: readonly Operation[]
  beforeAll(async () => {
    api = await startTestApi(test.database)
    const described = operationsOf((await api.ask('GET', '/swagger/doc.json')).body)
    operations = described.filter((each) => !takesAny(each))
    expect(described.length - operations.length).toBeGreaterThan(1)
  })
  beforeAll(async () => {
    for (const name of ['first', 'second']) await api.ask('POST', '/projects', { name })
  })
  afterAll(() => api.close())
  const ours = () => operations.filter(({ path }) => path.startsWith('/v1/'))
  const devLakes = () => operations.filter(({ path }) => !path.startsWith('/v1/'))

  it('are refused by every route of ours that does not know them, with what was meant', async () => {
    expect(ours().length).toBeGreaterThan(70)
    for (const { method, url, parameters } of ours()) {
      const known = parameters.map(({ name }) => name)
      const unknown = known[0] === undefined ? 'unheardOf' : misspelt(known[0])
      for (const prefix of ['', '/api']) {
        const { status, body } = await api.ask(method, `${prefix}${url}?${unknown}=1`)
        expect(status, `${method} ${url}`).toBe(400)
        expect(body.message, `${method} ${url}`).toContain(
          known[0] === undefined
            ? 'This address has no parameters: leave out unheardOf.'
            : `There is no parameter ${unknown}; did you mean ${known[0]}`,
        )
        for (const name of known) expect(body.message).toContain(name)
      }
    }
  })

  it('are refused by routes of ours when they stand twice and may stand once', async () => {
    const listed: string[] = []
    for (const { method, url, path, parameters } of ours()) {
      for (const { name, isList } of parameters) {
        const { status, body } = await api.ask(method, `${url}?${name}=1&${name}=2&${name}=3`)
        const message = `${name} may stand once, and stands 3 times.`
        if (isList) listed.push(`${path} ${name}`)
        if (isList) expect(body.message, `${method} ${url} ${name}`).not.toBe(message)
        else expect([status, body.message], `${method} ${url} ${name}`).toEqual([400, message])
      }
    }
    expect(listed).toContain('/v1/four-keys project')
    expect(listed).toContain('/v1/service-report issueCategory')
  })

  it('are ignored by the routes of DevLake, which say so', async () => {
    expect(devLakes().length).toBeGreaterThan(150)
    for (const { method, url, parameters, headers } of devLakes()) {
      const known = parameters.map(({ name }) => name)
      const unknown = known[0] === undefined ? 'unheardOf' : misspelt(known[0])
      const where = `${method} ${url}`
      const plain = await api.ask(method, url, undefined, { headers })
      const asked = await api.ask(method, `${url}?${unknown}=1`, undefined, { headers })
      expect(plain.headers.warning, where).toBeUndefined()
      expect(asked.headers.warning ?? '', where).toMatch(/^299 - "There is no parameter \w+: it was ignored[.;]/)
      if (known[0] !== undefined) expect(asked.headers.warning, where).toContain(`did you mean ${known[0]}`)
      if (method === 'GET') expect(asked.status, where).toBe(plain.status)
    }
  })

  it('count once on the routes of DevLake where they stand twice: the first', async () => {
    for (const { method, url, parameters } of devLakes()) {
      for (const { name, isList } of parameters) {
        const { headers, status } = await api.ask(method, `${url}?${name}=1&${name}=2`)
        const warning = isList ? undefined : `299 - "${name} may stand once, and stands 2 times: the first counts."`
        expect(headers.warning, `${method} ${url} ${name}`).toBe(warning)
        if (isList || method !== 'GET') continue
        expect(status, `${method} ${url} ${name}`).toBe((await api.ask(method, `${url}?${name}=1`)).status)
      }
    }
    const { body, headers } = await api.ask('GET', '/projects?pageSize=1&pageSize=2')
    expect(body.projects).toHaveLength(1)
    expect(headers.warning).toContain('pageSize may stand once')
  })

  it('with strange names reach no header as they are', async () => {
    const strange = encodeURIComponent('x"\r\nSet-Cookie: a=b 🚀')
    const { headers, status } = await api.ask('GET', `/projects?${strange}=1`)
    expect(status).toBe(200)
    expect(headers.warning).toBe(`299 - "There is no parameter ${strange}: it was ignored."`)
    expect(headers['set-cookie']).toBeUndefined()
    const many = Array.from({ length: 200 }, (_, index) => `unheard${index}=1`).join('&')
    expect((await api.ask('GET', `/projects?${many}`)).headers.warning.length).toBeLessThan(1000)
  })

  it('that were seen: filters with swapped and missing letters, and an environment nobody knows', async () => {
    const refused = async (url: string) => (await api.ask('GET', url)).body.message
    expect(await refused('/v1/metrics/change-lead-time?project=first&environmnt=STAGING&form=2020-01-01')).toMatch(
      /^There is no parameter environmnt; did you mean environment\? There is no parameter form; did you mean from or format\? There are: project, group, all, from, /,
    )
    expect(await refused('/v1/service-report?project=first&categry=Outage')).toContain(
      'There is no parameter categry; did you mean issueCategory?',
    )
    expect(await refused('/v1/metrics/change-lead-time?project=first&environment=PRODUKTION')).toBe(
      'There is no environment PRODUKTION; did you mean PRODUCTION? There are: PRODUCTION, STAGING, TESTING.',
    )
  })

  /** Finds the operation for an address as documents write it, with `…` and `{metric}` in it. */
  const operationAt = (address: string) =>
    operations.find(({ method, path }) => {
      if (method !== 'GET') return false
      const parts = path.split('/').map((part) => (part.startsWith('{') ? '[^/]+' : part))
      return new RegExp(`^(/api)?${parts.join('/')}$`).test(address)
    })

  it('that assistants send are known', async () => {
    const asked: Question[] = []
    for (const { input, run } of tools) {
      const fields = Object.keys((z.toJSONSchema(input, { io: 'input' }) as any).properties ?? {})
      const everything = Object.fromEntries(fields.map((name) => [name, name === 'projects' ? ['x'] : 'x']))
      await run(async (question) => {
        asked.push(question)
        return { status: 400, body: { message: 'no' } }
      }, everything)
    }
    expect(asked.length).toBe(tools.length)
    for (const { method, path, query = {} } of asked.filter((each) => each.method === 'GET')) {
      const known = operationAt(path)?.parameters.map(({ name }) => name) ?? []
      expect(known, `${method} ${path}`).toEqual(expect.arrayContaining(Object.keys(query)))
    }
  })

  it('that documents show are known', () => {
    let found = 0
    for (const file of [...globSync('docs/**/*.md'), 'README.md']) {
      const text = readFileSync(file, 'utf8')
      for (const [, address = '', query = ''] of text.matchAll(/(\/v1\/[\w/{}…-]+)\?([^\s`'")|]+)/g)) {
        const known = operationAt(address)?.parameters.map(({ name }) => name)
        const sent = query.split('&').map((pair) => pair.split('=')[0])
        expect(known, `${file}: ${address}`).toEqual(expect.arrayContaining(sent))
        found++
      }
    }
    expect(found).toBeGreaterThan(10)
  })
})
