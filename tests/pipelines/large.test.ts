/** Organisations larger than any list was designed for. FULL_SIZE=true uses the promised sizes. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { LONGEST_WHOLE_TEXT } from '../../src/database/fit.ts'
import { startTestApi, type TestApi } from '../api/support/test-api.ts'
import { describeEachWithTables } from '../support/databases.ts'

const isFull = process.env.FULL_SIZE === 'true'
/** 1,500 repositories, three times the number that once made every list fail. */
const SCOPES = isFull ? 50_000 : 1500
const TASKS = isFull ? 10_000 : 3000
const AT_ONCE = 1500
const TIMEOUT = isFull ? 900_000 : 120_000

describeEachWithTables('a large organisation', (test) => {
  let api: TestApi
  let connection: number
  beforeAll(async () => {
    api = await startTestApi(test.database)
    const settings = {
      name: 'large',
      endpoint: 'http://127.0.0.1:1/',
      token: 't'.repeat(800_000),
      enableGraphql: false,
    }
    const { status, body } = await api.ask('POST', '/plugins/github/connections', settings)
    expect(status).toBe(201)
    connection = body.id
  })
  afterAll(() => api?.close())
  const lists = async () => {
    for (const path of ['/projects', '/blueprints', '/pipelines', '/plugins/github/connections']) {
      expect((await api.ask('GET', path)).status, path).toBe(200)
    }
  }

  it('keeps a token of 800 KB whole', async () => {
    const { connections } = api.control.services
    expect((await connections.reveal('github', connection)).token).toBe('t'.repeat(800_000))
    await lists()
  })

  it('refuses what would have to be cut, and says how long it is', () => {
    const { connections } = api.control.services
    // Random letters, so that compression cannot shorten the text enough.
    const noise = Array.from({ length: LONGEST_WHOLE_TEXT }, () => String.fromCharCode(48 + Math.random() * 75)).join(
      '',
    )
    return expect(connections.update('github', connection, { token: noise })).rejects.toThrow(
      new RegExp(`^token: text of \\d{8} characters is too long, at most ${LONGEST_WHOLE_TEXT} can be stored$`),
    )
  })

  it(`has ${SCOPES} scopes in one project`, { timeout: TIMEOUT }, async () => {
    const at = `/plugins/github/connections/${connection}/scopes`
    const ids = Array.from({ length: SCOPES }, (_, index) => index + 1)
    for (let start = 0; start < SCOPES; start += AT_ONCE) {
      const data = ids
        .slice(start, start + AT_ONCE)
        .map((id) => ({ githubId: id, name: `r${id}`, fullName: `acme/r${id}`, cloneUrl: `http://127.0.0.1:1/r${id}` }))
      const { status, body } = await api.ask('PUT', at, { data })
      expect([status, body.length]).toEqual([200, data.length])
    }
    expect((await api.ask('GET', `${at}?pageSize=10&blueprints=true`)).body.count).toBe(SCOPES)

    const { body: project } = await api.ask('POST', '/projects', {
      name: 'large',
      metrics: [{ pluginName: 'dora', pluginOption: {}, enable: true }],
    })
    const { id } = project.blueprint
    const scopes = ids.map((each) => ({ scopeId: String(each) }))
    const connections = [{ pluginName: 'github', connectionId: connection, scopes }]
    expect((await api.ask('PATCH', `/blueprints/${id}`, { connections })).status).toBe(200)

    const { body: shown } = await api.ask('GET', '/projects/large')
    expect(shown.blueprint.connections[0].scopes).toHaveLength(SCOPES)
    // The web client does this: it sends back everything that it received.
    const renamed = await api.ask('PATCH', `/blueprints/${id}`, { ...shown.blueprint, name: 'larger' })
    expect([renamed.status, renamed.body.name]).toEqual([200, 'larger'])
    await lists()
    const { body: preview } = await api.ask('GET', `/v1/blueprints/${id}/plan`)
    expect(preview.tasks).toHaveLength(2 * SCOPES + 4)

    const { status, body: run } = await api.ask('POST', `/blueprints/${id}/trigger`, {})
    expect([status, run.totalTasks]).toEqual([200, 2 * SCOPES + 4])
    await lists()
    const { tasks } = (await api.ask('GET', `/pipelines/${run.id}/tasks`)).body
    expect(tasks).toHaveLength(run.totalTasks)
    const { body: summary } = await api.ask('GET', `/pipelines/${run.id}/subtasks`)
    expect([summary.count, summary.subtasks.length]).toEqual([2 * SCOPES, 1000])
    expect((await api.ask('DELETE', `/pipelines/${run.id}`)).status).toBe(200)
    expect((await api.ask('GET', `/pipelines/${run.id}`)).body.status).toBe('TASK_CANCELLED')
    expect((await api.ask('DELETE', '/projects/large')).status).toBe(200)
    await lists()
  })

  it(`has a run of ${TASKS} tasks, as it was posted`, { timeout: TIMEOUT }, async () => {
    const plan = [
      Array.from({ length: TASKS }, (_, index) => ({ plugin: 'dora', options: { projectName: `p${index}` } })),
    ]
    const { status, body: run } = await api.ask('POST', '/pipelines', { name: 'large', plan })
    expect([status, run.totalTasks, run.plan[0].length]).toEqual([201, TASKS, TASKS])
    await lists()
    expect((await api.ask('GET', `/pipelines/${run.id}`)).body.plan[0].at(-1).options).toEqual(plan[0]?.at(-1)?.options)
    expect((await api.ask('GET', '/pipelines')).body.pipelines[0]).toMatchObject({ id: run.id, plan: [] })
    expect((await api.ask('DELETE', `/pipelines/${run.id}`)).status).toBe(200)
    const { body: again } = await api.ask('POST', `/pipelines/${run.id}/rerun`)
    expect(again).toHaveLength(TASKS)
    await api.ask('DELETE', `/pipelines/${run.id}`)
  })
})
