/** DevLake's contract for pipelines, tasks and subtasks, beyond their main uses: fields, filters, order, each failure. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { insertRow, updateRows } from '../../src/control-plane/store.ts'
import { pipelines, subtasks, tasks } from '../../src/system/pipelines.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { create, DONE, keysOf, POLICY, refused, sorted, WRITTEN } from './support/contract.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const PIPELINE = [
  'id',
  ...WRITTEN,
  'name',
  'blueprintId',
  'plan',
  'totalTasks',
  'finishedTasks',
  'beganAt',
  'finishedAt',
  'status',
  'message',
  'errorName',
  'spentSeconds',
  'interruptions',
  'stage',
  'labels',
  'priority',
  ...POLICY,
]
const TASK = [
  'id',
  ...WRITTEN,
  'plugin',
  'subtasks',
  'options',
  'status',
  'message',
  'errorName',
  'progress',
  'progressDetail',
  'failedSubTask',
  'pipelineId',
  'pipelineRow',
  'pipelineCol',
  'beganAt',
  'finishedAt',
  'spentSeconds',
  'interruptions',
]
const DORA = { plugin: 'dora', subtasks: [], options: { projectName: 'x' } }

describeEachWithTables('contract of runs', (test) => {
  let api: TestApi
  beforeAll(async () => {
    api = await startTestApi(test.database)
  })
  afterAll(() => api.close())

  it('pipelines and tasks', async () => {
    const blueprint = await create(api, '/blueprints', { name: 'b', mode: 'ADVANCED', isManual: true, plan: [[DORA]] })
    const sent = {
      name: 'run',
      plan: [[DORA, DORA], [DORA]],
      BlueprintId: blueprint.id,
      labels: ['team a'],
      timeAfter: '2024-01-01T00:00:00Z',
    }
    const run = await create(api, '/pipelines', sent)
    expect(keysOf(run)).toEqual(sorted(...PIPELINE))
    expect(run).toMatchObject({
      blueprintId: blueprint.id,
      totalTasks: 3,
      labels: ['team a'],
      timeAfter: '2024-01-01T00:00:00.000Z',
    })
    await refused(api, ['POST', '/pipelines', sent], 400, /not finished/)
    await refused(api, ['POST', '/pipelines', { ...sent, BlueprintId: 999 }], 400, /no blueprint 999/)
    await refused(api, ['POST', '/pipelines', { name: 'without plan' }], 400, /plan/)
    await refused(api, ['POST', '/pipelines', { plan: [[], []] }], 400, /no task/)
    for (const [query, count] of [
      [`blueprint_id=${blueprint.id}`, 1],
      ['label=team%20a', 1],
      ['label=team', 0],
      ['status=TASK_CREATED&label=team%20a', 1],
      ['pending=0&label=team%20a', 1],
      ['pending=1&label=team%20a', 1],
    ] as const) {
      expect((await api.ask('GET', `/pipelines?${query}`)).body.count, query).toBe(count)
    }
    const { body: first } = await api.ask('GET', `/pipelines/${run.id}/tasks`)
    expect(first.tasks.map((task: any) => [task.pipelineRow, task.pipelineCol])).toEqual([
      [2, 1],
      [1, 2],
      [1, 1],
    ])
    for (const task of first.tasks) expect(keysOf(task)).toEqual(sorted(...TASK))
    expect((await api.ask('GET', `/pipelines/${run.id}/logging.tar.gz`)).status).toBe(404)

    // As a runner leaves it: one task failed, and therefore the run failed.
    const [last, second, done] = first.tasks
    const set = (id: number, status: string) => updateRows(test.database.kysely, tasks, { id }, { status })
    await updateRows(
      test.database.kysely,
      pipelines,
      { id: run.id },
      { status: 'TASK_FAILED', finished_at: new Date() },
    )
    await set(done.id, 'TASK_COMPLETED')
    await set(second.id, 'TASK_FAILED')
    expect(await api.ask('DELETE', `/pipelines/${run.id}`)).toMatchObject({ status: 200, body: DONE })
    expect((await api.ask('GET', `/pipelines/${run.id}`)).body.status).toBe('TASK_FAILED')
    const { body: again } = await api.ask('POST', `/pipelines/${run.id}/rerun`)
    expect(again.map((task: any) => [task.pipelineRow, task.pipelineCol, task.status])).toEqual([
      [1, 2, 'TASK_RERUN'],
      [2, 1, 'TASK_RERUN'],
    ])
    const { body: newest } = await api.ask('GET', `/pipelines/${run.id}/tasks`)
    expect(newest.tasks.map(({ id }: any) => id)).toEqual([again[1].id, again[0].id, done.id])
    expect(last.id).not.toBe(again[1].id)
    await refused(api, ['POST', `/pipelines/${run.id}/rerun`], 400, /TASK_RERUN/)
    await refused(api, ['POST', `/tasks/${done.id}/rerun`], 400, /TASK_RERUN/)

    for (const { id } of newest.tasks) await set(id, 'TASK_COMPLETED')
    await updateRows(test.database.kysely, pipelines, { id: run.id }, { status: 'TASK_COMPLETED' })
    await refused(api, ['POST', `/pipelines/${run.id}/rerun`], 400, /nothing to run again/)
    expect((await api.ask('POST', `/tasks/${done.id}/rerun`)).body).toMatchObject({ pipelineRow: 1, pipelineCol: 1 })
    await api.ask('DELETE', `/pipelines/${run.id}`)

    for (const [method, url, status] of [
      ['GET', '/pipelines/999/tasks', 404],
      ['GET', '/pipelines/x/tasks', 400],
      ['GET', '/pipelines/999/subtasks', 404],
      ['GET', '/pipelines/x/subtasks', 400],
      ['DELETE', '/pipelines/x', 400],
      ['POST', '/pipelines/x/rerun', 400],
      ['POST', '/tasks/x/rerun', 400],
      ['GET', '/pipelines/x/logging.tar.gz', 400],
      ['GET', '/pipelines?blueprint_id=x', 400],
    ] as const) {
      await refused(api, [method, url], status)
    }
  })

  it('subtasks of a pipeline', async () => {
    const jira = { plugin: 'jira', subtasks: [], options: { connectionId: 1, boardId: 1 } }
    const run = await create(api, '/pipelines', { plan: [[jira, jira], [DORA]] })
    const { body } = await api.ask('GET', `/pipelines/${run.id}/tasks`)
    const [second, first] = body.tasks.filter(({ plugin }: any) => plugin === 'jira')
    const add = (task_id: number, number: number, name: string, values: object) =>
      insertRow(test.database.kysely, subtasks, { task_id, number, name, sequence: 1, ...values })
    const ended = { began_at: new Date(), finished_at: new Date() }
    await add(first.id, 1, 'collectIssues', { is_collector: true, ...ended, finished_records: 12 })
    await add(first.id, 2, 'extractIssues', ended)
    await add(second.id, 1, 'collectIssues', { is_collector: true, began_at: new Date() })
    await add(second.id, 2, 'collectSprints', { is_collector: true })
    const summary = async (...states: [string, string]) => {
      for (const [index, { id }] of [first, second].entries()) {
        await updateRows(test.database.kysely, tasks, { id }, { status: states[index] })
      }
      return (await api.ask('GET', `/pipelines/${run.id}/subtasks`)).body
    }
    const answer = await summary('TASK_COMPLETED', 'TASK_RUNNING')
    expect(answer).toMatchObject({ count: 2, completionRate: 0.33, status: 'TASK_RUNNING' })
    // None of dora, org and refdiff collects anything.
    expect(answer.subtasks.map(({ id }: any) => id)).toEqual([first.id, second.id])
    expect(keysOf(answer.subtasks[0])).toEqual(
      [
        'id',
        ...WRITTEN,
        'pipelineId',
        'beganAt',
        'finishedAt',
        'plugin',
        'options',
        'status',
        'failedSubTask',
        'message',
        'errorName',
        'spentSeconds',
        'subtaskDetails',
      ].sort(),
    )
    expect(keysOf(answer.subtasks[0].subtaskDetails[0])).toEqual(
      [
        'id',
        ...WRITTEN,
        'taskId',
        'name',
        'number',
        'beganAt',
        'finishedAt',
        'spentSeconds',
        'finishedRecords',
        'sequence',
        'isCollector',
        'isFailed',
        'message',
      ].sort(),
    )
    expect(answer.subtasks[0].subtaskDetails).toMatchObject([
      { name: 'collectIssues', isCollector: true, finishedRecords: 12 },
      { name: 'extractIssues', isCollector: false },
    ])
    expect((await summary('TASK_COMPLETED', 'TASK_FAILED')).status).toBe('TASK_PARTIAL')
    expect((await summary('TASK_FAILED', 'TASK_FAILED')).status).toBe('TASK_FAILED')
    expect((await summary('TASK_COMPLETED', 'TASK_COMPLETED')).status).toBe('TASK_COMPLETED')
    await api.ask('DELETE', `/pipelines/${run.id}`)
  })
})
