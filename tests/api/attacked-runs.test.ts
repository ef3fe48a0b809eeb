/** Runs and their blueprints under requests that are simultaneous, badly timed or malformed. */

import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { saveSelectors } from '../../src/config-as-code/stored-selectors.ts'
import { insertRows } from '../../src/control-plane/store.ts'
import { createFence } from '../../src/runner/fence.ts'
import { startRunner } from '../../src/runner/runner.ts'
import type { TaskDispatch } from '../../src/runner/task-dispatch.ts'
import { pipelines } from '../../src/system/pipelines.ts'
import { DEFAULT_TOKEN, type FakeGithub, startFakeGithub } from '../fake-github/fake-github.ts'
import { until, untilFinished } from '../pipelines/support/test-control.ts'
import { anyTable } from '../support/any-table.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { type Gateway, openGateway } from '../support/gateway.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'
import { issue } from './support/webhook-client.ts'

const dora = (projectName: string) => [[{ plugin: 'dora', subtasks: null, options: { projectName } }]]

describeEachWithTables('attacked runs', (test) => {
  let api: TestApi
  let github: FakeGithub
  let gateway: Gateway
  beforeAll(async () => {
    github = await startFakeGithub({ world: { repositories: ['acme/web', 'acme/api'].map((name) => ({ name })) } })
    gateway = await openGateway(`${github.url}/`)
    api = await startTestApi(test.database)
  })
  afterAll(async () => {
    await api?.close()
    await gateway?.close()
    await github?.stop()
  })
  const services = () => api.control.services
  const project = async (name: string) =>
    (await api.ask('POST', '/projects', { name, metrics: [{ pluginName: 'dora', pluginOption: {}, enable: true }] }))
      .body.blueprint.id as number
  /** Creates a run of the blueprint that has ended. */
  const finished = async (blueprintId: number) => {
    const { id } = await services().pipelines.create({ blueprintId, plan: dora('any') })
    await services().pipelines.cancel(id)
    return id
  }

  it('take ids as decimal digits only, wherever they come in', async () => {
    const { id } = await services().pipelines.create({ plan: dora('ids') })
    for (const wrong of [
      `0x${id.toString(16)}`,
      `${id}e0`,
      `%2B${id}`,
      `%20${id}`,
      `${id}.0`,
      `0b1`,
      `-${id}`,
      'NaN',
    ]) {
      for (const path of ['/pipelines/ID', '/pipelines/ID/tasks', '/tasks/ID/rerun', '/pipelines?blueprint_id=ID']) {
        const method = path.endsWith('rerun') ? 'POST' : 'GET'
        expect((await api.ask(method, path.replace('ID', wrong))).status, path.replace('ID', wrong)).toBe(400)
      }
      expect((await api.ask('GET', `/pipelines?pageSize=${wrong.replace('-', '0x')}`)).status).toBe(400)
    }
    for (const connectionId of ['0x1', '1e0', '+1', ' 1', -1, 1.5, true, [1]]) {
      const connections = [{ pluginName: 'github', connectionId, scopes: [{ scopeId: '1' }] }]
      const answer = await api.ask('POST', '/blueprints', { name: 'ids', connections })
      expect(answer.status, String(connectionId)).toBe(400)
      expect(answer.body.message).toMatch(/connectionId/)
    }
    expect((await api.ask('GET', `/pipelines/${id}`)).body.id).toBe(id)
    await services().pipelines.cancel(id)
  })

  it('give at most a thousand rows a page, and nothing for a status that nothing has', async () => {
    const rows = Array.from({ length: 1005 }, () => ({ name: 'many', blueprint_id: 7777, status: 'TASK_COMPLETED' }))
    await insertRows(test.database.kysely, pipelines, rows)
    const all = await api.ask('GET', '/pipelines?pageSize=100000&blueprint_id=7777')
    expect(all.body).toMatchObject({ count: 1005 })
    expect(all.body.pipelines).toHaveLength(1000)
    for (const path of ['/pipelines', '/blueprints/7777/pipelines']) {
      expect((await api.ask('GET', `${path}?status=TASK_UNHEARD_OF`)).body).toEqual({ count: 0, pipelines: [] })
    }
    await sql`delete from _devlake_pipelines where blueprint_id = 7777`.execute(test.database.kysely)
  })

  it('leave one pending run a blueprint, however often runs are run again at once', async () => {
    const blueprintId = await project('again')
    const runs = [await finished(blueprintId), await finished(blueprintId), await finished(blueprintId)]
    const again = await Promise.all(runs.map((id) => api.ask('POST', `/pipelines/${id}/rerun`)))
    expect(again.map(({ status }) => status).sort()).toEqual([200, 400, 400])
    const { count, items } = await services().pipelines.list({ blueprintId, pending: true })
    expect(count).toBe(1)
    expect((await api.ask('POST', `/blueprints/${blueprintId}/trigger`, {})).status).toBe(400)
    await services().pipelines.cancel(items[0]?.id ?? 0)
    expect((await api.ask('POST', `/pipelines/${items[0]?.id}/rerun`)).status).toBe(200)
    await services().pipelines.cancel(items[0]?.id ?? 0)
  })

  it('work for a project under the name that it has by then', async () => {
    const blueprintId = await project('old name')
    const plan = [
      ...dora('old name'),
      [{ plugin: 'org', subtasks: null, options: { projectMappings: [{ projectName: 'old name', scopes: [] }] } }],
    ]
    const { id } = await services().pipelines.create({ blueprintId, plan })
    const begun = await services().pipelines.tasks(id)
    const set = (status: string) =>
      sql`update _devlake_tasks set status = ${status} where id = ${begun[0]?.id}`.execute(test.database.kysely)
    await set('TASK_RUNNING')
    const rename = () => api.ask('PATCH', '/projects/old%20name', { name: 'new name' })
    expect(await rename()).toMatchObject({ status: 409 })
    expect((await api.ask('GET', '/projects/old%20name')).status).toBe(200)
    await set('TASK_CREATED')
    expect(await rename()).toMatchObject({ status: 201 })
    const text = JSON.stringify([await services().pipelines.get(id), await services().pipelines.tasks(id)])
    expect(text).not.toContain('old name')
    expect(text.match(/"projectName":"new name"/g)).toHaveLength(4)
    await services().pipelines.cancel(id)
  })

  it('keep every change of a blueprint that was made at once with others', async () => {
    const id = await project('edited')
    const changes = [{ name: 'renamed' }, { labels: ['a'] }, { priority: 7 }, { skipOnFail: true }, { fullSync: true }]
    const answers = await Promise.all(changes.map((change) => api.ask('PATCH', `/blueprints/${id}`, change)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    const { body } = await api.ask('GET', `/blueprints/${id}`)
    expect(body).toMatchObject(Object.assign({}, ...changes))
  })

  /** Creates a blueprint that looks for new scopes at a source behind the gateway. */
  async function adopting(name: string): Promise<{ id: number; connectionId: number }> {
    const id = await project(name)
    const { body } = await api.ask('POST', '/plugins/github/connections', {
      name,
      endpoint: gateway.url,
      authMethod: 'AccessToken',
      token: DEFAULT_TOKEN,
    })
    const selectors = [{ scopes: ['acme/*'], except: [], archived: false, scopeConfigId: 0 }]
    await saveSelectors(test.database, id, [{ plugin: 'github', connectionId: body.id, selectors }])
    return { id, connectionId: body.id }
  }

  it('do not undo what is edited while a source is asked for its scopes', async () => {
    const { id, connectionId } = await adopting('adopting')
    const held = gateway.hold()
    const triggered = api.ask('POST', `/blueprints/${id}/trigger`, {})
    await until(async () => held.waiting() > 0)
    const { body: webhook } = await api.ask('POST', '/plugins/webhook/connections', { name: 'joined meanwhile' })
    const own = { pluginName: 'webhook', connectionId: webhook.id, scopes: [] }
    await api.ask('PATCH', `/blueprints/${id}`, { connections: [own], cronConfig: '0 5 * * *', skipOnFail: true })
    held.release()
    const { body: run } = await triggered
    expect(run).toMatchObject({ blueprintId: id, skipOnFail: true })
    const { body } = await api.ask('GET', `/blueprints/${id}`)
    expect(body).toMatchObject({ cronConfig: '0 5 * * *', skipOnFail: true })
    expect(body.connections).toEqual(expect.arrayContaining([own]))
    expect(
      body.connections.find((each: any) => each.connectionId === connectionId && each.pluginName === 'github').scopes,
    ).toHaveLength(2)
    await services().pipelines.cancel(run.id)
  })

  it('are cancelled and the runner stops while a source hangs that the schedule waits for', async () => {
    const { id } = await adopting('hanging')
    await sql`update _weir_blueprint_ticks set ticked_at = ${new Date('2026-01-01')}
      where blueprint_id = ${id}`.execute(test.database.kysely)
    const held = gateway.hold()
    const dispatch: TaskDispatch = {
      fence: createFence(),
      async run(_task, signal, begin) {
        if (!(await begin())) return undefined
        await sleep(600_000, undefined, { signal }).catch(() => {})
        return { status: 'TASK_CANCELLED' }
      },
      close: async () => {},
    }
    const runner = await startRunner(api.control, { dispatch, consume: true, maxParallel: 0, resume: true })
    await until(async () => held.waiting() > 0)
    const { id: run } = await services().pipelines.create({ plan: dora('quick') })
    await until(async () => (await services().pipelines.tasks(run))[0]?.status === 'TASK_RUNNING')
    await services().pipelines.cancel(run)
    expect(await untilFinished(api.control, run)).toMatchObject({ status: 'TASK_CANCELLED', finishedTasks: 1 })
    await runner.stop()
    expect(held.waiting()).toBe(1)
    held.release()
    // The schedule's tick is not used up: the next server follows it.
    expect(await services().pipelines.list({ blueprintId: id })).toMatchObject({ count: 0 })
  })

  it('answer others while thirty fields are added at once', async () => {
    const field = (index: number) => ({ columnName: `x_crowd_${index}`, displayName: 'crowd', dataType: 'text' })
    const all = await Promise.all(
      Array.from({ length: 30 }, (_, index) => api.ask('POST', '/plugins/customize/repos/fields', field(index))),
    )
    expect(all.map(({ status }) => status)).toEqual(all.map(() => 200))
  })

  it('answer others while messages wait for the rebuild of their connection', async () => {
    const { body } = await api.ask('POST', '/plugins/webhook/connections', { name: 'rebuilt' })
    const { sent } = await test.database.aside((own) =>
      own.transaction(async ({ kysely }) => {
        await anyTable(kysely)
          .selectFrom('_tool_webhook_connections')
          .selectAll()
          .where('id', '=', body.id)
          .forUpdate()
          .execute()
        // More requests than the server has database connections.
        const messages = Promise.all(
          Array.from({ length: 30 }, (_, index) =>
            api.ask('POST', `/plugins/webhook/connections/${body.id}/issues`, issue(`K-${index}`)),
          ),
        )
        await sleep(300)
        expect((await api.ask('GET', '/projects')).status).toBe(200)
        return { sent: messages }
      }),
    )
    expect((await sent).map(({ status }) => status)).toEqual(Array.from({ length: 30 }, () => 200))
  })
})
