/** The metrics for Prometheus, access to them, and ids that lead from an answer to the log. */
import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { recordUse } from '../../src/control-plane/connections/connection-states.ts'
import { ownHealthTemplate } from '../../src/dashboards/grafana/own-health.ts'
import { write } from '../../src/database/write.ts'
import { gaps } from '../../src/plugin-kit/raw/gaps.ts'
import { quarantine } from '../../src/plugin-kit/raw/quarantine.ts'
import type { Runner } from '../../src/runner/runner.ts'
import { startTestApi, type TestApi } from '../api/support/test-api.ts'
import { inProcess, testRunner, until, untilFinished } from '../pipelines/support/test-control.ts'
import { describeEachWithTables } from '../support/databases.ts'

const TOKEN = 'ghp_plantedTokenThatNobodyMaySee'
const ADMIN = 'an-access-token-of-an-admin'
const WATCHER = 'an-access-token-of-a-watcher'

/** Returns the value of a line, or undefined if there is none. */
function amountOf(text: string, name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
  const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  const line = text
    .split('\n')
    .find((each) => /^[^{ ]+/.exec(each)?.[0] === name && wanted.every((label) => each.includes(label)))
  return line === undefined ? undefined : Number(line.split(' ').at(-1))
}

describeEachWithTables('metrics of Weir itself', (test) => {
  let api: TestApi
  let runner: Runner
  const read = async () => (await api.ask('GET', '/metrics')).text
  beforeAll(async () => {
    api = await startTestApi(test.database)
    runner = await testRunner(api.control, inProcess(api.control))
    await api.ask('POST', '/plugins/github/connections', {
      name: 'main',
      endpoint: 'https://api.github.com/',
      authMethod: 'AccessToken',
      token: TOKEN,
    })
    await api.ask('POST', '/projects', { name: 'shop' })
  })
  afterAll(async () => {
    await runner.stop()
    await api.close()
  })

  it('count requests by route, method and status, and never by what was sent', async () => {
    await api.ask('GET', '/projects/shop')
    await api.ask('GET', '/projects/nobody-knows-this')
    await api.server.inject({ url: '/no/such/address/at-all' })
    const text = await read()
    const ofProject = { method: 'GET', route: '/projects/:projectName' }
    expect(amountOf(text, 'weir_http_request_duration_seconds_count', { ...ofProject, status: '200' })).toBe(1)
    expect(amountOf(text, 'weir_http_request_duration_seconds_count', { ...ofProject, status: '404' })).toBe(1)
    expect(amountOf(text, 'weir_http_request_duration_seconds_count', { route: 'unknown' })).toBe(1)
    expect(text).not.toMatch(/nobody-knows-this|at-all/)
  })

  it('count tasks, rows and the queue', async () => {
    const plan = [[{ plugin: 'dora', options: { projectName: 'shop' } }]]
    const { body } = await api.ask('POST', '/pipelines', { name: 'by hand', plan })
    expect((await untilFinished(api.control, body.id)).status).toBe('TASK_COMPLETED')
    const ofTask = { plugin: 'dora', status: 'TASK_COMPLETED' }
    const text = await until(async () => {
      const now = await read()
      return (amountOf(now, 'weir_task_duration_seconds_count', ofTask) ?? 0) >= 1 && now
    })
    expect(amountOf(text, 'weir_subtask_seconds_total', { plugin: 'dora' })).toBeGreaterThanOrEqual(0)
    expect(amountOf(text, 'weir_rows_written_total', { plugin: 'dora' })).toBeDefined()
    expect(amountOf(text, 'weir_pipelines', { state: 'waiting' })).toBe(0)
    expect(amountOf(text, 'weir_queue_oldest_seconds')).toBe(0)
    expect(amountOf(text, 'weir_servers', { kind: 'server', state: 'alive' })).toBe(1)
    expect(amountOf(text, 'weir_servers', { kind: 'worker', state: 'alive' })).toBe(0)
  })

  it('tell budgets, gaps, quarantine, storage, the pool and the process', async () => {
    await recordUse(test.database.kysely, { plugin: 'github', connectionId: 1, requestsLeft: 4321 })
    const own = { plugin: 'github', params: '{}', subtask: 'collectIssues', raw_table: '_raw_github_api_issues' }
    await write(test.database, [
      gaps.row({ ...own, list: '', kind: 'lost', address: '/issues', attempts: 1 }),
      ...[1, 2].map((raw_id) => quarantine.row({ ...own, raw_id, record_key: '', entity: 'issues', reason: 'odd' })),
    ])
    const text = await read()
    const connection = { plugin: 'github', connection: 'main' }
    expect(amountOf(text, 'weir_connection_requests_left', connection)).toBe(4321)
    expect(amountOf(text, 'weir_connection_up', connection)).toBe(1)
    expect(amountOf(text, 'weir_gaps', { plugin: 'github', kind: 'lost' })).toBe(1)
    expect(amountOf(text, 'weir_quarantined_records', { plugin: 'github' })).toBe(2)
    expect(amountOf(text, 'weir_storage_bytes', { layer: 'system' })).toBeGreaterThan(0)
    expect(amountOf(text, 'weir_database_up')).toBe(1)
    expect(amountOf(text, 'weir_database_connections', { state: 'open' })).toBeGreaterThan(0)
    expect(amountOf(text, 'process_resident_memory_bytes')).toBeGreaterThan(1_000_000)
    expect(text).toContain('nodejs_eventloop_lag_seconds')
    expect(text).not.toContain(TOKEN)
  })

  it.each([
    ['the dashboard of Weir itself', () => JSON.stringify(ownHealthTemplate('own')), 20],
    ['the alert rules', () => readFileSync('deploy/prometheus/rules.yaml', 'utf8'), 10],
  ])('are all that %s asks for', async (_what, textOf, least) => {
    const known = new Set((await read()).match(/^# TYPE (\S+)/gm)?.map((line) => line.slice('# TYPE '.length)))
    const asked = new Set(textOf().match(/\b(weir|process|nodejs)_\w+/g))
    expect(asked.size).toBeGreaterThanOrEqual(least)
    const isKnown = (name: string) => known.has(name) || known.has(name.replace(/_(count|bucket)$/, ''))
    expect([...asked].filter((name) => !isKnown(name))).toEqual([])
    expect(textOf()).not.toContain('DS_PROMETHEUS')
  })

  it('are for viewers of everything where people sign in', async () => {
    const tokens = `watch:viewer:${WATCHER},shop:viewer@shop:an-access-token-of-one-project`
    const closed = await startTestApi(test.database, { AUTH: 'token', AUTH_TOKEN: ADMIN, AUTH_TOKENS: tokens })
    const ask = (token?: string) =>
      closed.ask('GET', '/metrics', undefined, token ? { headers: { authorization: `Bearer ${token}` } } : {})
    expect((await ask()).status).toBe(401)
    expect((await ask('an-access-token-of-one-project')).status).toBe(403)
    const { status, headers, text } = await ask(WATCHER)
    expect(status).toBe(200)
    expect(headers['content-type']).toContain('text/plain')
    expect(text).not.toMatch(new RegExp(`${ADMIN}|${WATCHER}`))
    await closed.close()
  })

  it('have an id for each request, in the answer and in the log', async () => {
    const sent = await api.ask('GET', '/projects/shop', undefined, { headers: { 'x-request-id': 'proxy.7:a-1' } })
    expect(sent.headers['x-request-id']).toBe('proxy.7:a-1')
    expect(api.log()).toMatch(/"request":"proxy\.7:a-1".*"route":"\/projects\/:projectName"/)
    const odd = await api.ask('GET', '/projects/shop', undefined, { headers: { 'x-request-id': 'not "harmless"' } })
    expect(odd.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  })
})
