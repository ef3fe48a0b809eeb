/** Runs over the API: created, watched, cancelled, run again. No runner executes them here. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { logFolder } from '../../src/runner/task-log.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const DONE = { code: 0, success: true, message: 'success', causes: null, data: null }
const FAILED = { code: 0, success: false, message: expect.any(String) }
const options = { projectName: 'none', url: 'https://git:hidden-password@example.org/x.git' }
const plan = [[{ plugin: 'dora', options }], [{ Plugin: 'refdiff', subtasks: null, options }]]

describeEachWithTables('runs', (test) => {
  let api: TestApi
  beforeAll(async () => {
    api = await startTestApi(test.database)
  })
  afterAll(() => api.close())

  it('are created, listed, shown, cancelled and run again', async () => {
    const sent = { name: 'by hand', plan, labels: ['parallel/x'], priority: 2, skipOnFail: 'true' }
    const created = await api.ask('POST', '/pipelines', sent)
    expect(created).toMatchObject({
      status: 201,
      body: {
        status: 'TASK_CREATED',
        totalTasks: 2,
        finishedTasks: 0,
        blueprintId: 0,
        skipOnFail: true,
        beganAt: null,
      },
    })
    expect(created.text).not.toContain('hidden-password')
    const { id } = created.body
    for (const [query, count] of [
      ['', 1],
      ['?pending=1', 1],
      ['?status=TASK_FAILED', 0],
      ['?label=parallel/x', 1],
      ['?label=parallel', 0],
      ['?blueprint_id=7', 0],
    ] as const) {
      expect((await api.ask('GET', `/pipelines${query}`)).body.count, query).toBe(count)
    }
    const { body } = await api.ask('GET', `/pipelines/${id}/tasks`)
    expect(body).toMatchObject({
      count: 2,
      tasks: [
        { plugin: 'refdiff', pipelineRow: 2, pipelineCol: 1, status: 'TASK_CREATED', progressDetail: null },
        { plugin: 'dora', pipelineRow: 1, pipelineCol: 1 },
      ],
    })
    expect(JSON.stringify(body)).not.toContain('hidden-password')
    expect((await api.ask('GET', `/pipelines/${id}/subtasks`)).body).toMatchObject({ count: 0, completionRate: 1 })
    expect(await api.ask('POST', `/pipelines/${id}/rerun`)).toMatchObject({ status: 400, body: FAILED })
    expect(await api.ask('POST', `/tasks/${body.tasks[0].id}/rerun`)).toMatchObject({ status: 400, body: FAILED })
    expect(await api.ask('DELETE', `/pipelines/${id}`)).toMatchObject({ status: 200, body: DONE })
    expect(await api.ask('DELETE', `/pipelines/${id}`)).toMatchObject({ status: 200, body: DONE })
    expect((await api.ask('GET', `/pipelines/${id}`)).body.status).toBe('TASK_CANCELLED')

    const events = (await api.ask('GET', `/v1/pipelines/${id}/events`)).text
    expect(JSON.parse(/^data: (.*)$/m.exec(events)?.[1] ?? '')).toMatchObject({ pipeline: { id }, tasks: [{}, {}] })
    expect(events).toContain('event: end')

    const again = await api.ask('POST', `/pipelines/${id}/rerun`)
    expect(again).toMatchObject({ status: 200, body: [{ status: 'TASK_RERUN' }, { status: 'TASK_RERUN' }] })
    await api.ask('DELETE', `/pipelines/${id}`)
    const one = await api.ask('POST', `/tasks/${again.body[0].id}/rerun`)
    expect(one).toMatchObject({ status: 200, body: { status: 'TASK_RERUN', pipelineId: id } })
    await api.ask('DELETE', `/pipelines/${id}`)

    const log = join(logFolder(api.dataFolder, id), 'pipeline.log')
    mkdirSync(dirname(log), { recursive: true })
    writeFileSync(log, 'begins\n')
    const archive = await api.server.inject(`/pipelines/${id}/logging.tar.gz`)
    expect(archive.headers['content-disposition']).toContain('logging.tar.gz')
    expect(gunzipSync(archive.rawPayload).toString('latin1')).toContain('begins')
    expect((await api.ask('GET', `/v1/tasks/${one.body.id}/log`)).status).toBe(200)

    for (const [method, url, status] of [
      ['GET', '/pipelines?page=x', 400],
      ['GET', '/pipelines/99', 404],
      ['GET', '/pipelines/x', 400],
      ['DELETE', '/pipelines/99', 404],
      ['POST', '/pipelines/99/rerun', 404],
      ['GET', '/pipelines/99/logging.tar.gz', 404],
      ['GET', '/v1/pipelines/99/events', 404],
      ['GET', '/v1/tasks/99/log', 404],
      ['POST', '/tasks/99/rerun', 404],
    ] as const) {
      expect(await api.ask(method, url), `${method} ${url}`).toMatchObject({ status, body: FAILED })
    }
  })
})
