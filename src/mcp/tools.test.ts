/** The official client calls every tool, over a child process and over HTTP, and gets the same answers as the routes give. */
import { mkdtempSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, expect, it } from 'vitest'
import launched from '../../scripts/launch.json' with { type: 'json' }
import { SECRET_KEY, startTestApi, type TestApi } from '../../tests/api/support/test-api.ts'
import { calculate } from '../../tests/metrics/calculate.ts'
import { DAY, plantOrganisation, START } from '../../tests/metrics/organisation.ts'
import { describeOneWithTables } from '../../tests/support/databases.ts'
import { programEnvironment, programFile } from '../../tests/support/programs.ts'
import { write } from '../database/write.ts'
import { textOf } from '../metrics/answer/say.ts'
import { metrics } from '../metrics/index.ts'

const STEPS = 30
const TOKEN = 'the-token-of-an-admin'
const range = { from: new Date(START).toISOString(), to: new Date(START + STEPS * DAY).toISOString() }
const TOOLS = [
  'explain_metric',
  'list_metrics',
  'list_projects',
  'preview_rules',
  'read_answer',
  'read_items',
  'read_metric',
  'read_series',
]

describeOneWithTables('assistants', (test) => {
  let api: TestApi
  let address: string
  let names: string[]
  let key: string
  const clients: Client[] = []
  const headers = { authorization: `Bearer ${TOKEN}` }
  const route = async (path: string) => (await api.ask('GET', path, undefined, { headers })).body

  beforeAll(async () => {
    api = await startTestApi(test.database, { AUTH: 'token', AUTH_TOKEN: TOKEN })
    await api.server.listen({ host: '127.0.0.1', port: 0 })
    address = `http://127.0.0.1:${(api.server.server.address() as AddressInfo).port}`
    const { rows, truths } = plantOrganisation(2, STEPS)
    names = truths.map(({ project }) => project)
    await write(test.database, rows)
    for (const name of names) {
      await api.ask('POST', '/projects', { name }, { headers })
      await calculate(test.database, name)
    }
    key = await newKey('reader', {})
  })
  afterAll(async () => {
    for (const client of clients) await client.close()
    await api.close()
  })

  async function newKey(name: string, more: object) {
    const body = { name, type: 'devlake', allowedPath: '/v1/mcp', role: 'viewer', ...more }
    return (await api.ask('POST', '/api-keys', body, { headers })).body.apiKey as string
  }
  async function overHttp(apiKey = key) {
    const client = new Client({ name: 'test', version: '1' })
    clients.push(client)
    const requestInit = { headers: { authorization: `Bearer ${apiKey}` } }
    // The transport's type of `sessionId` does not fit exactOptionalPropertyTypes.
    await client.connect(new StreamableHTTPClientTransport(new URL(`${address}/rest/v1/mcp`), { requestInit }) as any)
    return client
  }
  async function overStdio() {
    const client = new Client({ name: 'test', version: '1' })
    clients.push(client)
    await client.connect(
      new StdioClientTransport({
        command: process.execPath,
        args: [...launched.flags, programFile('src/main.ts'), 'mcp'],
        env: {
          ...programEnvironment(),
          PATH: process.env.PATH ?? '',
          DB_URL: test.url,
          DATA_FOLDER: mkdtempSync(join(tmpdir(), 'weir-mcp-')),
          ENCRYPTION_SECRET: SECRET_KEY,
          LOGGING_LEVEL: 'error',
        },
      }),
    )
    return client
  }
  async function call(client: Client, name: string, given: Record<string, unknown> = {}) {
    const result: any = await client.callTool({ name, arguments: given })
    const [first, ...notes] = result.content.map(({ text }: any) => text as string)
    return { isError: result.isError === true, text: first as string, notes: notes as string[] }
  }
  const answer = async (client: Client, name: string, given: Record<string, unknown> = {}) => {
    const { isError, text } = await call(client, name, given)
    expect(isError, text).toBe(false)
    return JSON.parse(text)
  }

  it.each(['a child process', 'HTTP'])('every tool answers over %s what the route says', async (way) => {
    const client = await (way === 'HTTP' ? overHttp() : overStdio())
    const [project = ''] = names
    const listed = await client.listTools()
    expect(listed.tools.map(({ name }) => name).sort()).toEqual(TOOLS)
    expect(listed.tools.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true)

    expect((await answer(client, 'list_projects')).projects.map(({ name }: any) => name)).toEqual([...names].sort())
    const known = await answer(client, 'list_metrics')
    expect(known.map(({ name }: any) => name)).toEqual(metrics.map(({ name }) => name))
    expect(known.every(({ title, unit, definition }: any) => title && unit && definition)).toBe(true)

    const query = `project=${encodeURIComponent(project)}&from=${range.from}&to=${range.to}`
    const told = await answer(client, 'read_answer', { project, ...range })
    const whole = await route(`/v1/answer?${query}`)
    expect(told.sentences).toEqual(whole.sentence.map(textOf))
    expect(told.findings.where).toBe(textOf(whole.findings.where))
    expect(told.keys.map(({ now }: any) => now)).toEqual(whole.keys.map(({ now }: any) => now))
    expect(told.keys.filter(({ now }: any) => /\d/.test(now.inWords)).length).toBeGreaterThan(2)
    expect([told.sure, told.attention]).toEqual([whole.sure, whole.attention])

    const metric = 'change-lead-time'
    const asked = { metric, project, ...range }
    const value = (await route(`/v1/metrics/${metric}?${query}`)).values[0]
    expect(await answer(client, 'read_metric', asked)).toMatchObject({
      title: 'Change lead time',
      unit: 'minutes',
      project,
      values: [{ value: value.value, counted: value.counted }],
    })
    const byRepository = await answer(client, 'read_metric', { ...asked, groupBy: 'repository' })
    expect(byRepository.values.length).toBeGreaterThan(0)
    const series = await answer(client, 'read_series', { ...asked, bucket: 'week' })
    expect(series.points).toEqual((await route(`/v1/metrics/${metric}/series?${query}&bucket=week`)).points)
    expect(series.unit).toBe('minutes')

    const page = await call(client, 'read_items', { ...asked, pageSize: 5 })
    expect(JSON.parse(page.text).items).toHaveLength(5)
    expect(page.notes.join()).toContain('ask for page 2')
    const counted = await answer(client, 'read_items', { ...asked, reason: 'counted', pageSize: 100 })
    expect(counted.items.filter(({ reason }: any) => reason === null)).toHaveLength(value.counted)
    const explained = await answer(client, 'explain_metric', asked)
    expect(explained).toMatchObject({ value: value.value, counted: value.counted, unit: 'minutes' })
    expect(explained.leftOut.every(({ remedy }: any) => remedy.length > 10)).toBe(true)

    const before = await route(`/v1/four-keys?${query}`)
    const previewed = await answer(client, 'preview_rules', {
      project,
      ...range,
      rules: { productionPattern: 'nothing' },
    })
    expect(previewed.effects[0]).toMatchObject({ rule: 'productionPattern', matching: 0 })
    expect(previewed.keys[0].after.counted).toBeLessThan(previewed.keys[0].before.counted)
    expect(await route(`/v1/four-keys?${query}`)).toEqual(before)
  })

  it('mistakes are answered with a sentence and the nearest names, and long answers are cut', async () => {
    const client = await overHttp()
    const [project = ''] = names
    const wrong = async (name: string, given: Record<string, unknown>) => {
      const { isError, text } = await call(client, name, given)
      expect(isError).toBe(true)
      return text
    }
    expect(await wrong('read_metric', { metric: 'change-led-time', project })).toMatch(/did you mean change-lead-time/)
    expect(await wrong('read_metric', { metric: 'change-lead-time', project: `${project}x` })).toMatch(
      new RegExp(`did you mean .*${project}`),
    )
    expect(await wrong('read_answer', { project: `${project}x` })).toMatch(/did you mean/)
    expect(await wrong('read_answer', {})).toMatch(/project/)
    expect(await wrong('read_metric', { metric: 'change-lead-time', project, from: 'yesterday' })).toMatch(/from/)
    expect(await wrong('read_series', { metric: 'change-lead-time', project, bucked: 'day' })).toMatch(/bucked/)
    expect(await wrong('preview_rules', { project, rules: { deploymentPattern: '(' } })).toMatch(/deploymentPattern/)
    expect(await wrong('read_items', { metric: 'change-lead-time', project, pageSize: 1000 })).toMatch(/pageSize/)
    const long = { metric: 'change-lead-time', project, bucket: 'day', from: '2023-01-01T00:00:00Z', to: range.to }
    const { text, notes } = await call(client, 'read_series', long)
    expect(JSON.parse(text).points).toHaveLength(100)
    expect(notes.join()).toMatch(/points: the first 100 of 3\d\d/)
  })

  it('keys and roles hold as everywhere', async () => {
    const [own = '', other = ''] = names
    const client = await overHttp(await newKey('own', { projects: [own] }))
    expect((await answer(client, 'list_projects')).projects.map(({ name }: any) => name)).toEqual([own])
    expect((await call(client, 'read_metric', { metric: 'change-lead-time', project: own })).isError).toBe(false)
    for (const name of ['read_metric', 'read_series', 'read_items', 'explain_metric']) {
      const refused = await call(client, name, { metric: 'change-lead-time', project: other })
      expect(refused).toMatchObject({ isError: true, text: expect.stringContaining('needs the role viewer') })
    }
    expect((await call(client, 'read_answer', { project: other })).isError).toBe(true)
    expect((await call(client, 'preview_rules', { project: other, rules: {} })).isError).toBe(true)

    await expect(overHttp('wrong')).rejects.toThrow(/not valid/)
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
    expect((await api.ask('POST', '/v1/mcp', message)).status).toBe(401)
    expect((await api.ask('POST', '/v1/mcp', message, { headers })).body.result.tools).toHaveLength(TOOLS.length)
    expect((await api.ask('POST', '/v1/mcp', { nothing: true }, { headers })).status).toBe(400)
    expect((await api.ask('GET', '/v1/mcp', undefined, { headers })).status).toBe(405)
  })
})
