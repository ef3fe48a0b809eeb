/** Refused and unusable data is reported by the task and by the API, which can retry it. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { rawTable } from '../../src/plugin-kit/raw/raw-table.ts'
import { type Runner, startRunner } from '../../src/runner/runner.ts'
import { createTaskThreads } from '../../src/runner/task-threads.ts'
import { SECRET_KEY, startTestApi, type TestApi } from '../api/support/test-api.ts'
import { type FakeCircleci, startFakeCircleci, TOKEN } from '../fake-circleci/fake-circleci.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { untilFinished } from './support/test-control.ts'

const SLUG = 'github/acme/web'

describeOneWithTables('a project with gaps', (test) => {
  let api: TestApi
  let runner: Runner
  let fake: FakeCircleci
  let blueprintId: number

  beforeAll(async () => {
    api = await startTestApi(test.database)
    fake = await startFakeCircleci(5)
    runner = await startRunner(api.control, {
      dispatch: createTaskThreads({
        databaseUrl: test.url,
        secretKey: SECRET_KEY,
        dataFolder: api.dataFolder,
        pluginModule: new URL('../../src/plugins/index.ts', import.meta.url).href,
      }),
      consume: true,
      maxParallel: 1,
      resume: true,
    })
    const { services } = api.control
    await services.connections.create('circleci', { name: 'ci', endpoint: fake.url, token: TOKEN })
    await services.scopes.put('circleci', 1, [{ id: 'u1', slug: SLUG, name: 'web' }])
    const connections = [{ pluginName: 'circleci', connectionId: 1, scopes: [{ scopeId: 'u1' }] }]
    const project = await services.projects.create({ name: 'web', blueprint: { timeAfter: null, connections } })
    blueprintId = project.blueprint?.id ?? 0
  })
  beforeEach(() => {
    fake.failures.length = 0
  })
  afterAll(async () => {
    await runner?.stop()
    await fake?.stop()
    await api?.close()
  })

  const fail = (path: string, status: number) => fake.failures.push(...Array(60).fill({ path, status }))
  const taskOf = async (pipelineId: number) => {
    const { status } = await untilFinished(api.control, pipelineId)
    const tasks = await api.control.services.pipelines.tasks(pipelineId)
    return { status, task: tasks.find(({ plugin }) => plugin === 'circleci') }
  }
  const trigger = async () => taskOf((await api.control.services.blueprints.trigger(blueprintId)).id)
  const receiptOf = async (rawTableName: string) => {
    const { body } = await api.ask('GET', '/v1/receipts?project=web')
    return body.receipts.find((each: any) => each.rawTable === rawTableName)
  }

  it('completes, names what is missing, and asks for it again when told to', async () => {
    fail('/workflow/workflow-of-pipeline-3/job', 403)
    const { status, task } = await trigger()
    expect({ status, taskStatus: task?.status }).toEqual({ status: 'TASK_COMPLETED', taskStatus: 'TASK_COMPLETED' })
    expect(task?.message).toMatch(/^collectJobs: .*workflow-of-pipeline-3\/job is forbidden: 403/)
    expect(await receiptOf('_raw_circleci_api_jobs')).toMatchObject({
      plugin: 'circleci',
      connectionId: 1,
      scopeId: 'u1',
      scopeName: 'web',
      subtask: 'collectJobs',
      status: 'gap',
      received: 8,
      stored: 8,
      gaps: [{ kind: 'lost', status: 403, attempts: 1, isAskedAgain: true, address: expect.stringContaining('/job') }],
    })
    expect((await receiptOf('_raw_circleci_api_pipelines')).gaps).toEqual([])

    fake.failures.length = 0
    const scope = { plugin: 'circleci', connectionId: 1, scopeId: 'u1' }
    const { status: created, body: pipeline } = await api.ask('POST', '/v1/gaps/ask-again', scope)
    expect(created).toBe(201)
    expect((await taskOf(pipeline.id)).task).toMatchObject({ status: 'TASK_COMPLETED', message: '' })
    expect(await receiptOf('_raw_circleci_api_jobs')).toMatchObject({ status: 'complete', stored: 10, gaps: [] })
  })

  it('names what was put aside, lists it, and tries it again when told to', async () => {
    const raw = rawTable('circleci_api_pipelines').name
    const first = fake.pipelines[0] as { created_at: string }
    const right = first.created_at
    first.created_at = 'not a time'
    expect((await trigger()).task?.message).toMatch(/extractPipelines: 1 record could not be used and was put aside/)
    const { body } = await api.ask('GET', '/v1/quarantine?plugin=circleci&connectionId=1&scopeId=u1')
    expect(body).toMatchObject({
      count: 1,
      records: [
        {
          plugin: 'circleci',
          scopeId: 'u1',
          subtask: 'extractPipelines',
          rawTable: raw,
          entity: '_tool_circleci_pipelines',
        },
      ],
    })
    expect(body.records[0].reason).toMatch(/not a time/)
    expect((await api.ask('GET', '/v1/quarantine?plugin=circleci&connectionId=9')).body.count).toBe(0)

    // Fix the stored record, as if the plugin had learned to read it.
    first.created_at = right
    const data = Buffer.from(JSON.stringify(first))
    await test.database.kysely.updateTable(raw).set({ data }).where('id', '=', body.records[0].rawId).execute()
    const requests = fake.requests.length
    const { body: pipeline } = await api.ask('POST', '/v1/quarantine/redrive', { project: 'web' })
    expect((await taskOf(pipeline.id)).task).toMatchObject({ status: 'TASK_COMPLETED', message: '' })
    expect(fake.requests).toHaveLength(requests)
    expect((await api.ask('GET', '/v1/quarantine')).body.count).toBe(0)
  })

  it('fails where nothing at all could be collected', async () => {
    fail('/v2/', 400)
    const { status, task } = await trigger()
    expect([status, task?.status]).toEqual(['TASK_PARTIAL', 'TASK_FAILED'])
    expect(task?.message).toMatch(/nothing could be collected: .*400 as asked/)
  })

  it('refuses what is not there', async () => {
    const scope = { plugin: 'circleci', connectionId: 1, scopeId: 'none' }
    for (const path of ['/v1/quarantine/redrive', '/v1/gaps/ask-again']) {
      expect((await api.ask('POST', path, scope)).status).toBe(404)
      expect((await api.ask('POST', path, { project: 'none' })).status).toBe(404)
      expect((await api.ask('POST', path, {})).status).toBe(400)
    }
    expect((await api.ask('GET', '/v1/receipts?project=none')).status).toBe(404)
    expect((await api.ask('GET', '/v1/receipts?plugin=none')).status).toBe(404)
  })
})
