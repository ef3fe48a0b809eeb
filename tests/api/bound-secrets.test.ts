/** A stored secret is sent to the server that it was entered for, and to no other. */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { maskSecret } from '../../src/secrets/secrets.ts'
import { runCli } from '../support/cli.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { SECRET_KEY, startTestApi, type TestApi } from './support/test-api.ts'

const TOKEN = 'a-token-of-circleci'
const PROXY_PASSWORD = 'proxy-pass-word'
const ANSWER = '{"id":"1","login":"ada","name":"Ada"}'
const CONNECTIONS = '/plugins/circleci/connections'

/** Starts a server that records the headers and paths of its requests. */
async function startListener() {
  const server = createServer((request, response) => {
    listener.heard.push(request.headers)
    listener.paths.push(request.url ?? '')
    response.setHeader('content-type', 'application/json').end(listener.answer)
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const listener = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    heard: [] as IncomingMessage['headers'][],
    paths: [] as string[],
    answer: ANSWER,
    close: () => new Promise((closed) => server.close(closed)),
  }
  return listener
}
type Listener = Awaited<ReturnType<typeof startListener>>

describeOneWithTables('secrets and their server', (test) => {
  let api: TestApi
  let own: Listener
  let other: Listener
  let count = 0

  beforeAll(async () => {
    own = await startListener()
    other = await startListener()
    api = await startTestApi(test.database)
  })
  beforeEach(() => {
    for (const { heard, paths } of [own, other]) heard.length = paths.length = 0
  })
  afterAll(async () => {
    await api.close()
    await own.close()
    await other.close()
  })

  async function connect(more: object = {}): Promise<{ id: number; name: string }> {
    const name = `bound ${++count}`
    const { body } = await api.ask('POST', CONNECTIONS, { name, endpoint: own.url, token: TOKEN, ...more })
    return { id: body.id, name }
  }
  /** Ways of leaving out the secret. */
  const withoutSecret = [{}, { token: '' }, { token: maskSecret(TOKEN) }, { token: `new-one-1,${maskSecret(TOKEN)}` }]

  it.each(['endpoint', 'proxy'])('another %s needs the secret again, in edits and in tests', async (field) => {
    const { id } = await connect()
    for (const secret of withoutSecret) {
      for (const [method, path] of [
        ['PATCH', `${CONNECTIONS}/${id}`],
        ['POST', `${CONNECTIONS}/${id}/test`],
      ] as const) {
        const refused = await api.ask(method, path, { [field]: other.url, ...secret })
        expect(refused.status, JSON.stringify(secret)).toBe(400)
        expect(refused.body.message).toMatch(/^token is (needed again|masked)/)
      }
    }
    expect(other.heard).toEqual([])
    expect((await api.ask('GET', `${CONNECTIONS}/${id}`)).body[field] ?? '').not.toBe(other.url)

    const tested = await api.ask('POST', `${CONNECTIONS}/${id}/test`, { [field]: other.url, token: 'another-token-1' })
    expect(tested.body).toMatchObject({ success: true })
    expect(JSON.stringify(other.heard)).toContain('another-token-1')
    expect(JSON.stringify(other.heard)).not.toContain(TOKEN)
    const saved = await api.ask('PATCH', `${CONNECTIONS}/${id}`, { [field]: other.url, token: TOKEN })
    expect(saved.status).toBe(200)
  })

  it('what stays at the server needs nothing again', async () => {
    const { id } = await connect({ proxy: other.url })
    for (const change of [
      { endpoint: `${own.url}below/` },
      { endpoint: own.url, name: `bound ${++count}` },
      { proxy: '' },
    ]) {
      expect((await api.ask('PATCH', `${CONNECTIONS}/${id}`, change)).status).toBe(200)
    }
    expect((await api.ask('POST', `${CONNECTIONS}/${id}/test`, { endpoint: own.url })).body).toMatchObject({
      success: true,
    })
    expect(JSON.stringify(own.heard)).toContain(TOKEN)
  })

  it('a password of another way to sign in is not kept for another server', async () => {
    const jira = '/plugins/jira/connections'
    const made = await api.ask('POST', jira, {
      name: `bound ${++count}`,
      endpoint: own.url,
      authMethod: 'BasicAuth',
      username: 'ada',
      password: 'basic-pass-word',
      token: TOKEN,
    })
    const path = `${jira}/${made.body.id}`
    expect((await api.ask('PATCH', path, { endpoint: other.url })).body.message).toMatch(/^password is needed again/)
    expect((await api.ask('PATCH', path, { endpoint: other.url, password: 'another-one' })).status).toBe(200)
    const moved = await api.ask('PATCH', path, { authMethod: 'AccessToken' })
    expect(moved.body.message).toMatch(/^token is missing/)
  })

  it('an answer that is not of the source is no success', async () => {
    for (const [answer, plugin] of [
      ['{}', 'circleci'],
      ['[]', 'circleci'],
      ['"ok"', 'circleci'],
      ['{"message":"hello"}', 'github'],
    ] as const) {
      own.answer = answer
      const sent = { endpoint: own.url, token: TOKEN, authMethod: 'AccessToken' }
      const tested = await api.ask('POST', `/plugins/${plugin}/test`, sent)
      expect([tested.status, tested.body.success, tested.body.message]).toEqual([
        502,
        false,
        expect.stringMatching(/does not answer as .* does/),
      ])
    }
    own.answer = ANSWER
  })

  it('the path of a proxied request stays below the endpoint', async () => {
    const { id } = await connect({ endpoint: `${own.url}api/` })
    const proxied = (path: string) => api.server.inject({ url: `${CONNECTIONS}/${id}/proxy/rest/${path}` })
    const outside = ['%252e%252e/x', '%2e%2e/x', '%2e%2e%2fx', '..%5cx', '%252e%252e%252fx', 'a/%25%32%65%25%32%65/x']
    for (const path of outside) expect([400, 404], path).toContain((await proxied(path)).statusCode)
    expect(own.paths).toEqual([])
    await proxied('projects/a%2Fb?x=1')
    expect(own.paths).toEqual(['/api/projects/a%2Fb?x=1'])
  })

  it('masks never become secrets', async () => {
    const { id } = await connect({ proxy: other.url.replace('://', `://me:${PROXY_PASSWORD}@`) })
    const { body: shown } = await api.ask('GET', `${CONNECTIONS}/${id}`)
    expect(shown.proxy).toContain('me:***')
    expect((await api.ask('PATCH', `${CONNECTIONS}/${id}`, shown)).status).toBe(200)
    const wrong = [{ token: 'xy****yz' }, { proxy: own.url.replace('://', '://me:*****@') }]
    for (const each of wrong) {
      expect((await api.ask('PATCH', `${CONNECTIONS}/${id}`, each)).body.message).toMatch(/is masked|is needed again/)
      const created = { name: `bound ${++count}`, endpoint: own.url, token: TOKEN, ...each }
      expect((await api.ask('POST', CONNECTIONS, created)).body.message).toMatch(/is masked/)
    }
    const plan = [[{ plugin: 'gitextractor', options: { url: 'https://h/x', repoId: '1', password: 'xy****yz' } }]]
    expect((await api.ask('POST', '/pipelines', { name: 'masked', plan })).body.message).toMatch(/password is masked/)
  })

  it('a plan gives its secrets to the same servers only', async () => {
    const task = (host: string, password: string, more: object = {}) => ({
      plugin: 'gitextractor',
      subtasks: [],
      options: { url: `https://${host}/x.git`, repoId: '1', user: 'git', password, ...more },
    })
    const first = { mode: 'ADVANCED', name: 'bound', cronConfig: 'manual', isManual: true }
    const { body } = await api.ask('POST', '/blueprints', { ...first, plan: [[task('one.example', 'plan-pass-word')]] })
    const masked = body.plan[0][0].options.password
    expect(masked).toBe('pl**********rd')
    const path = `/blueprints/${body.id}`
    const change = (plan: unknown) => api.ask('PATCH', path, { plan })
    for (const wrong of [
      [[task('two.example', masked)]],
      [[task('one.example:8443', masked)]],
      [[task('one.example', masked, { proxy: 'http://two.example' })]],
      [[task('one.example', masked, { connectionId: 2, pluginName: 'github' })]],
      [[task('one.example', 'xy****yz')]],
    ]) {
      const refused = await change(wrong)
      expect([refused.status, refused.body.message]).toEqual([
        400,
        expect.stringMatching(/password is masked.*enter it again/),
      ])
    }
    // The task keeps its stored secret when it moves behind another task.
    expect((await change([[task('two.example', 'other-pass')], [task('one.example', masked)]])).status).toBe(200)
    const { plan } = (await api.control.services.blueprints.trigger(body.id)) as any
    expect(plan[1][0].options.password).toBe(masked)
  })

  // Values from a file are checked like values from a form, on every engine, so one engine suffices.
  const once = test.engine === 'postgres' ? it : () => {}
  once('files need the secret again, in dry runs too, and print none', async () => {
    const { name } = await connect({ proxy: own.url.replace('://', `://me:${PROXY_PASSWORD}@`) })
    const file = join(mkdtempSync(join(tmpdir(), 'weir-bound-')), 'weir.yaml')
    const environment = {
      DB_URL: test.url,
      DATA_FOLDER: api.dataFolder,
      ENCRYPTION_SECRET: SECRET_KEY,
      OTHER_PROXY: 'http://me:other-pass-word@127.0.0.1:1',
      TOKEN,
    }
    const run = async (command: string, settings: string) => {
      writeFileSync(file, `connections: {circleci: {${name}: {${settings}}}}\n`)
      const { code, output, errors } = await runCli(['config', command, file], environment)
      expect(output + errors).not.toMatch(/pass-word|a-token-of/)
      return { code, text: output + errors }
    }
    for (const command of ['plan', 'apply']) {
      const moved = await run(command, `endpoint: '${other.url}'`)
      expect([moved.code, moved.text]).toEqual([1, expect.stringContaining('token is needed again')])
    }
    const proxied = await run('plan', 'proxy: {env: OTHER_PROXY}, token: {env: TOKEN}')
    // With the secret the connection is tried, and nobody listens at that address.
    expect([proxied.code, proxied.text]).toEqual([1, expect.stringContaining('ECONNREFUSED')])
    expect(other.heard).toEqual([])
  })
})
