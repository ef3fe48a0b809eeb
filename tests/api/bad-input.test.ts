/** For every bad input the answer says what to change, and nothing is changed. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { describeEachWithTables } from '../support/databases.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const TABLES = ['projects', '_devlake_blueprints', '_devlake_pipelines', '_devlake_tasks', '_tool_github_connections']
const task = (more: object) => [[{ plugin: 'dora', subtasks: [], options: { projectName: 'kept' }, ...more }]]
const advanced = (plan: unknown) => ({ name: 'x', mode: 'ADVANCED', isManual: true, plan })

describeEachWithTables('bad input', (test) => {
  let api: TestApi
  let before: unknown
  const state = async () => {
    const rows = TABLES.map((table) => test.database.kysely.selectFrom(table).selectAll().execute())
    return JSON.parse(JSON.stringify(await Promise.all(rows)))
  }
  beforeAll(async () => {
    api = await startTestApi(test.database)
    await api.ask('POST', '/projects', {
      name: 'kept',
      metrics: [{ pluginName: 'dora', pluginOption: {}, enable: true }],
    })
    await api.ask('POST', '/plugins/github/connections', {
      name: 'kept',
      token: 'a secret token',
      endpoint: 'http://127.0.0.1:9/',
    })
  })
  beforeEach(async () => {
    before = await state()
  })
  afterAll(() => api.close())

  async function refused(method: string, url: string, body: unknown, status: number, says: RegExp): Promise<void> {
    const answer = await api.ask(method, url, body)
    expect(answer.status, `${method} ${url} ${answer.text}`).toBe(status)
    expect(answer.body).toMatchObject({ code: 0, success: false, causes: null })
    expect(answer.body.message).toMatch(says)
    expect(await state()).toEqual(before)
  }

  it('malformed JSON', async () => {
    for (const url of [
      '/projects',
      '/blueprints',
      '/pipelines',
      '/plugins/github/connections',
      '/push/repos',
      '/api-keys',
    ]) {
      await refused('POST', url, '{"name": "x"', 400, /not JSON/)
      await refused('POST', url, '"text"', 400, /must be/)
    }
    await refused('POST', '/projects', '{"name":"a\\u0000b"}', 400, /NUL/)
    await refused('PUT', '/store/deep', `${'['.repeat(5000)}${']'.repeat(5000)}`, 400, /nested deeper/)
  })

  it('wrong types', async () => {
    await refused('POST', '/projects', { name: {} }, 400, /name must be text/)
    await refused('POST', '/projects', { name: 'x', metrics: 'dora' }, 400, /metrics must be a list/)
    await refused('POST', '/blueprints', { name: 'x', mode: 'NORMAL', priority: 'high' }, 400, /priority/)
    await refused('POST', '/blueprints', { ...advanced('later') }, 400, /plan must be a list/)
    await refused('POST', '/plugins/github/connections', { name: 'x', token: ['a'] }, 400, /token must be text/)
    await refused(
      'PATCH',
      '/plugins/github/connections/1',
      { rateLimitPerHour: 1.5 },
      400,
      /rateLimitPerHour must be a whole number/,
    )
    await refused(
      'PATCH',
      '/plugins/github/connections/1',
      { endpoint: 'api.github.com' },
      400,
      /endpoint must be an address/,
    )
  })

  it('unknown fields of records; the forms of plugins may send what they like', async () => {
    await refused('POST', '/projects', { name: 'x', colour: 'red' }, 400, /colour is not a known field/)
    await refused('PATCH', '/projects/kept', { descripton: '' }, 400, /descripton is not a known field/)
    await refused('POST', '/blueprints', { ...advanced(task({})), cron: '* * * * *' }, 400, /cron is not a known field/)
    await refused('POST', '/pipelines', { plan: task({}), skip: true }, 400, /skip is not a known field/)
  })

  it('bodies of 10 MB', async () => {
    await refused('POST', '/projects', { name: 'x', description: 'x'.repeat(10_000_000) }, 413, /too large/)
    await refused('PUT', '/plugins/github/connections/1/scopes', { data: ['x'.repeat(10_000_000)] }, 413, /too large/)
  })

  it('ids that do not exist', async () => {
    await refused('GET', '/blueprints/999999', undefined, 404, /no blueprint 999999/)
    await refused('GET', '/pipelines/999999', undefined, 404, /no pipeline 999999/)
    await refused('GET', '/blueprints/99999999999999999999', undefined, 400, /id/)
    await refused('POST', '/tasks/999999/rerun', undefined, 404, /no task 999999/)
    await refused('GET', '/plugins/github/connections/999999', undefined, 404, /no github connection 999999/)
    const connections = [{ pluginName: 'github', connectionId: 999999, scopes: [{ scopeId: '1' }] }]
    await refused('PATCH', '/blueprints/1', { connections }, 400, /999999/)
    await refused('PATCH', '/blueprints/1', { connections: [{ ...connections[0], connectionId: 1 }] }, 400, /scope/)
  })

  it('names with slashes, quotes, emoji and SQL are names like others', async () => {
    for (const name of [
      'a/b',
      `"quoted"`,
      "o'brien",
      '🚀',
      `'; drop table projects; --`,
      'ünï cödé',
      '100%',
      'a\\b',
      '%_',
    ]) {
      const path = `/projects/${encodeURIComponent(name)}`
      expect((await api.ask('POST', '/projects', { name })).body.name).toBe(name)
      expect((await api.ask('GET', path)).body.name).toBe(name)
      expect((await api.ask('GET', `/projects?keyword=${encodeURIComponent(name)}`)).body.projects[0].name).toBe(name)
      expect((await api.ask('PATCH', path, { description: name })).body.description).toBe(name)
      expect((await api.ask('DELETE', path)).status).toBe(200)
    }
    expect(await state()).toEqual(before)
  })

  it('things in use are not deleted', async () => {
    const { body: run } = await api.ask('POST', '/blueprints/1/trigger', {})
    before = await state()
    await refused('DELETE', '/projects/kept', undefined, 409, /not finished/)
    await refused('DELETE', '/blueprints/1', undefined, 409, /not finished/)
    await refused('POST', '/blueprints/1/trigger', {}, 400, /pending|not finished|already/i)
    await api.ask('DELETE', `/pipelines/${run.id}`)
  })

  it('plans that name what does not exist', async () => {
    for (const url of ['/blueprints', '/pipelines', '/v1/plans/preview']) {
      await refused('POST', url, { ...advancedFor(url), plan: task({ plugin: 'nothing' }) }, 400, /nothing/)
      await refused('POST', url, { ...advancedFor(url), plan: task({ subtasks: ['walkTheDog'] }) }, 400, /walkTheDog/)
      await refused('POST', url, { ...advancedFor(url), plan: [[{ options: {} }]] }, 400, /plugin/)
    }
    await refused('POST', '/pipelines', { plan: [] }, 400, /task|stage/)
    await refused('POST', '/pipelines', { plan: [[]] }, 400, /task/)
  })
  const advancedFor = (url: string) => (url === '/pipelines' ? {} : advanced([]))

  it('schedules that never come, and dates in the future', async () => {
    const wrong = { name: 'x', mode: 'NORMAL' }
    await refused('POST', '/blueprints', { ...wrong, cronConfig: '0 0 30 2 *' }, 400, /never/)
    await refused('POST', '/blueprints', { ...wrong, cronConfig: 'every day' }, 400, /schedule/)
    await refused('PATCH', '/blueprints/1', { cronConfig: '61 * * * *' }, 400, /schedule/)
    await refused('PATCH', '/blueprints/1', { timeAfter: '2999-01-01T00:00:00Z' }, 400, /future/)
    await refused('PATCH', '/blueprints/1', { timeAfter: 'soon' }, 400, /timeAfter/)
  })
})
