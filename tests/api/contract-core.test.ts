/** What the reference promises of its core endpoints beyond their main uses: fields, defaults, filters, each failure. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openDatabase } from '../../src/database/open.ts'
import { insertRow, updateRows } from '../../src/pipelines/store.ts'
import { pipelines, subtasks, tasks } from '../../src/system/pipelines.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const FAILED = { code: 0, success: false, causes: null, data: null, message: expect.stringMatching(/\w/) }
const DONE = { code: 0, success: true, message: 'success', causes: null, data: null }
const ORIGIN = ['_raw_data_params', '_raw_data_table', '_raw_data_id', '_raw_data_remark']
const WRITTEN = ['createdAt', 'updatedAt']
const POLICY = ['skipOnFail', 'timeAfter', 'skipCollectors', 'fullSync']
const PROJECT = ['name', 'description', ...WRITTEN, ...ORIGIN, 'metrics', 'blueprint']
const BLUEPRINT = [
  ...['id', ...WRITTEN, 'name', 'projectName', 'mode', 'plan', 'enable', 'cronConfig', 'isManual'],
  ...['beforePlan', 'afterPlan', 'labels', 'connections', 'priority', ...POLICY],
]
const PIPELINE = [
  ...[
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
  ],
  ...['message', 'errorName', 'spentSeconds', 'stage', 'labels', 'priority', ...POLICY],
]
const TASK = [
  ...[
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
  ],
  ...['failedSubTask', 'pipelineId', 'pipelineRow', 'pipelineCol', 'beganAt', 'finishedAt', 'spentSeconds'],
]
const API_KEY = [
  ...['id', ...WRITTEN, 'creator', 'creatorEmail', 'updater', 'updaterEmail', 'name', 'expiredAt', 'allowedPath'],
  ...['type', 'extra'],
]
const DORA = { plugin: 'dora', subtasks: [], options: { projectName: 'x' } }
const keysOf = (record: object) => Object.keys(record).sort()

describeEachDatabase('contract of the core', (test) => {
  let api: TestApi
  beforeAll(async () => {
    api = await startTestApi(test.database)
  })
  afterAll(() => api.close())

  async function refused(method: string, url: string, body: unknown, status: number, says = /\w/): Promise<void> {
    const answer = await api.ask(method, url, body)
    expect(answer, `${method} ${url} ${JSON.stringify(body)}: ${answer.text}`).toMatchObject({ status, body: FAILED })
    expect(answer.body.message).toMatch(says)
  }
  const create = async (url: string, body: unknown) => {
    const answer = await api.ask('POST', url, body)
    expect(answer.status, answer.text).toBe(201)
    return answer.body
  }

  it('pages: 50 at once unless told, below 1 means the default', async () => {
    for (let number = 0; number < 51; number++) await create('/projects', { name: `page ${number}` })
    const names = async (query: string) =>
      (await api.ask('GET', `/projects?keyword=page&${query}`)).body.projects.map(({ name }: any) => name)
    expect(await names('')).toHaveLength(50)
    expect(await names('page=0&pageSize=0')).toEqual(await names(''))
    expect(await names('page=2')).toHaveLength(1)
    expect(await names('pageSize=100000')).toHaveLength(51)
    expect(await names('page=3')).toEqual([])
    expect((await api.ask('GET', '/blueprints')).body).toMatchObject({ count: 51, blueprints: { length: 50 } })
    for (const list of ['/projects', '/blueprints', '/pipelines', '/api-keys']) {
      await refused('GET', `${list}?page=first`, undefined, 400, /page/)
      await refused('GET', `${list}?pageSize=all`, undefined, 400, /pageSize/)
    }
    for (const name of await names('pageSize=100')) await api.ask('DELETE', `/projects/${encodeURIComponent(name)}`)
  })

  it('projects', async () => {
    const plain = await create('/projects', { name: 'plain', description: null, metrics: null, blueprint: null })
    expect(keysOf(plain)).toEqual([...PROJECT].sort())
    expect(keysOf(plain.blueprint)).toEqual([...BLUEPRINT].sort())
    expect(plain).toMatchObject({ description: '', metrics: [] })
    const listed = (await api.ask('GET', '/projects')).body.projects[0]
    expect(keysOf(listed)).toEqual([...PROJECT].sort())
    const { body: run } = await api.ask('POST', `/blueprints/${plain.blueprint.id}/trigger`)
    expect((await api.ask('GET', '/projects')).body.projects[0].lastPipeline.id).toBe(run.id)
    expect((await api.ask('GET', '/projects/plain')).body).not.toHaveProperty('lastPipeline')
    await refused('DELETE', '/projects/plain', undefined, 409, /not finished/)
    await api.ask('DELETE', `/pipelines/${run.id}`)

    const given = await create('/projects', {
      name: 'given',
      blueprint: { name: 'mine', mode: 'NORMAL', isManual: true, cronConfig: 'manual', skipOnFail: true },
    })
    expect(given.blueprint).toMatchObject({ name: 'mine', isManual: true, skipOnFail: true, projectName: 'given' })

    const metrics = [{ pluginName: 'dora', pluginOption: { a: 1 }, enable: true }]
    const changed = await api.ask('PATCH', '/projects/given', { description: 'kept', metrics })
    expect(changed).toMatchObject({ status: 201, body: { description: 'kept', metrics } })
    const cleared = await api.ask('PATCH', '/projects/given', { metrics: [] })
    expect(cleared.body).toMatchObject({ description: '', metrics })
    const renamed = await api.ask('PATCH', '/projects/given', { NAME: 'a / new name' })
    expect(renamed.body).toMatchObject({
      name: 'a / new name',
      metrics,
      blueprint: { name: 'mine', projectName: 'a / new name' },
    })
    expect((await api.ask('GET', '/api/projects/a%20%2F%20new%20name')).status).toBe(200)
    await refused('PATCH', '/projects/plain', { name: 'a / new name' }, 400, /already/)
    await refused('PATCH', '/projects/plain', { name: '' }, 400, /name/)
    await refused(
      'POST',
      '/projects',
      { name: 'x', metrics: [{ pluginName: 'none', enable: true }] },
      400,
      /no metric none/,
    )
    await refused('POST', '/projects', { name: 'x', blueprint: { cronConfig: 'never' } }, 400, /schedule/)
    expect((await api.ask('GET', '/projects/x/check')).body).toEqual({ exist: false })
  })

  it('blueprints', async () => {
    const standalone = { name: 'standalone', mode: 'NORMAL', cronConfig: '0 0 * * *' }
    const made = await create('/blueprints', { ...standalone, labels: 'one', connections: null, timeAfter: null })
    expect(keysOf(made)).toEqual([...BLUEPRINT].sort())
    expect(made).toMatchObject({ projectName: '', labels: ['one'], connections: [], timeAfter: null, plan: [] })
    const at = `/blueprints/${made.id}`
    await refused('POST', `${at}/trigger`, {}, 400, /no task/)
    for (const timeAfter of [
      '2024-01-31T12:00:00Z',
      '2024-01-31T13:00:00+0100',
      '2024-01-31T07:00:00-05:00',
      '2024-01-31T12:00:00.000Z',
      '2024-01-31T12:00:00.000000Z',
      '2024-01-31 12:00',
      '2024-01-31 12:00:00',
    ]) {
      expect((await api.ask('PATCH', at, { timeAfter })).body.timeAfter, timeAfter).toBe('2024-01-31T12:00:00.000Z')
    }
    expect((await api.ask('PATCH', at, { timeAfter: '0001-01-01T00:00:00Z' })).body.timeAfter).toBeNull()
    // What is left out stays, null sets back.
    await api.ask('PATCH', at, { priority: 7, skipOnFail: true, labels: ['a', 'b'] })
    expect((await api.ask('PATCH', at, { Priority: null })).body).toMatchObject({
      priority: 0,
      skipOnFail: true,
      labels: ['a', 'b'],
    })
    expect((await api.ask('PATCH', at, { cronConfig: 'MANUAL' })).body.isManual).toBe(true)

    const plan = [[{ ...DORA, subtasks: null }]]
    const wrapped = await api.ask('PATCH', at, { beforePlan: plan, afterPlan: plan })
    expect(wrapped.body).toMatchObject({ plan: [[DORA], [DORA]] })
    expect((await api.ask('PATCH', at, { ...wrapped.body, plan: [[DORA], [DORA], [DORA]] })).body.plan).toHaveLength(2)

    const empty = await create('/blueprints', { name: 'empty', mode: 'ADVANCED', isManual: true, plan: [[]] })
    await refused('POST', `/blueprints/${empty.id}/trigger`, undefined, 400, /no task/)
    for (const [body, says] of [
      [{ ...standalone, name: '' }, /name/],
      [{ ...standalone, name: undefined }, /name/],
      [{ ...standalone, mode: 'SIMPLE' }, /mode/],
      [{ ...standalone, cronConfig: '' }, /cronConfig/],
      [{ ...standalone, projectName: 'nowhere' }, /no project nowhere/],
      [{ ...standalone, projectName: 'plain' }, /already has the blueprint/],
      [{ ...standalone, mode: 'ADVANCED' }, /plan is empty/],
      [{ ...standalone, connections: [{ pluginName: 'github', connectionId: 1, scopes: [] }] }, /no scopes/],
      [
        { ...standalone, connections: [{ pluginName: 'nothing', connectionId: 1, scopes: [{ scopeId: '1' }] }] },
        /nothing/,
      ],
    ] as const) {
      await refused('POST', '/blueprints', body, 400, says)
    }
    await refused('GET', '/blueprints?type=YEARLY', undefined, 400, /type must be/)
    await refused('PATCH', '/blueprints/x', {}, 400)
    await refused('DELETE', '/blueprints/x', undefined, 400)
    await refused('POST', '/blueprints/x/trigger', {}, 400)
    await refused('GET', '/blueprints/x/pipelines', undefined, 400)
    await refused('POST', `${at}/trigger`, { fullSync: 'perhaps' }, 400, /fullSync/)
    expect((await api.ask('GET', '/blueprints/999/pipelines')).body).toEqual({ count: 0, pipelines: [] })
  })

  it('pipelines and tasks', async () => {
    const blueprint = await create('/blueprints', { name: 'b', mode: 'ADVANCED', isManual: true, plan: [[DORA]] })
    const sent = {
      name: 'run',
      plan: [[DORA, DORA], [DORA]],
      BlueprintId: blueprint.id,
      labels: ['team a'],
      timeAfter: '2024-01-01T00:00:00Z',
    }
    const run = await create('/pipelines', sent)
    expect(keysOf(run)).toEqual([...PIPELINE].sort())
    expect(run).toMatchObject({
      blueprintId: blueprint.id,
      totalTasks: 3,
      labels: ['team a'],
      timeAfter: '2024-01-01T00:00:00.000Z',
    })
    await refused('POST', '/pipelines', sent, 400, /not finished/)
    await refused('POST', '/pipelines', { ...sent, BlueprintId: 999 }, 400, /no blueprint 999/)
    await refused('POST', '/pipelines', { name: 'without plan' }, 400, /plan/)
    await refused('POST', '/pipelines', { plan: [[], []] }, 400, /no task/)
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
    for (const task of first.tasks) expect(keysOf(task)).toEqual([...TASK].sort())
    expect((await api.ask('GET', `/pipelines/${run.id}/logging.tar.gz`)).status).toBe(404)

    // As a runner leaves it: one task failed, and with it the run.
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
    await refused('POST', `/pipelines/${run.id}/rerun`, undefined, 400, /TASK_RERUN/)
    await refused('POST', `/tasks/${done.id}/rerun`, undefined, 400, /TASK_RERUN/)

    for (const { id } of newest.tasks) await set(id, 'TASK_COMPLETED')
    await updateRows(test.database.kysely, pipelines, { id: run.id }, { status: 'TASK_COMPLETED' })
    await refused('POST', `/pipelines/${run.id}/rerun`, undefined, 400, /nothing to run again/)
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
      await refused(method, url, undefined, status)
    }
  })

  it('subtasks of a pipeline', async () => {
    const jira = { plugin: 'jira', subtasks: [], options: { connectionId: 1, boardId: 1 } }
    const run = await create('/pipelines', { plan: [[jira, jira], [DORA]] })
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
    // Neither dora nor org nor refdiff collect anything.
    expect(answer.subtasks.map(({ id }: any) => id)).toEqual([first.id, second.id])
    expect(keysOf(answer.subtasks[0])).toEqual(
      [
        ...['id', ...WRITTEN, 'pipelineId', 'beganAt', 'finishedAt', 'plugin', 'options', 'status', 'failedSubTask'],
        ...['message', 'errorName', 'spentSeconds', 'subtaskDetails'],
      ].sort(),
    )
    expect(keysOf(answer.subtasks[0].subtaskDetails[0])).toEqual(
      [
        ...['id', ...WRITTEN, 'taskId', 'name', 'number', 'beganAt', 'finishedAt', 'spentSeconds', 'finishedRecords'],
        ...['sequence', 'isCollector', 'isFailed', 'message'],
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

  it('API keys', async () => {
    const key = { name: 'listed', type: 'devlake', allowedPath: '/projects/.*' }
    const created = await create('/api-keys', key)
    expect(keysOf(created)).toEqual([...API_KEY, 'apiKey'].sort())
    await create('/api-keys', { ...key, name: 'of a plugin', type: 'plugin:webhook' })
    await create('/api-keys', { ...key, name: 'newest' })
    const { body } = await api.ask('GET', '/api-keys')
    expect(body.apikeys.map(({ name }: any) => name)).toEqual(['newest', 'listed'])
    expect(keysOf(body.apikeys[0])).toEqual([...API_KEY].sort())
    expect((await api.ask('GET', '/api-keys?page=2&pageSize=1')).body).toMatchObject({
      count: 2,
      apikeys: [{ name: 'listed' }],
    })
    const renewed = await api.ask('PUT', `/api-keys/${created.id}`, undefined, {
      headers: { 'x-forwarded-user': 'ada' },
    })
    expect(renewed.body).toMatchObject({ id: created.id, name: 'listed', updater: 'ada', allowedPath: key.allowedPath })
    await refused('POST', '/api-keys', { ...key, name: 'x'.repeat(256) }, 400, /name/)
    await refused('POST', '/api-keys', { ...key, name: 'y', expiredAt: 'soon' }, 400, /expiredAt/)
    await refused('DELETE', '/api-keys/x', undefined, 400)
  })

  it('says who asks, as a proxy before it does', async () => {
    const userinfo = async (headers: Record<string, string>) =>
      (await api.ask('GET', '/auth/userinfo', undefined, { headers })).body
    const forwarded = { 'x-forwarded-user': 'ada', 'x-forwarded-email': 'ada@example.org' }
    expect(await userinfo(forwarded)).toEqual({ authenticated: true, name: 'ada', email: 'ada@example.org' })
    expect(await userinfo({ authorization: `Basic ${btoa('grace:any')}` })).toMatchObject({ name: 'grace' })
  })

  it('plugins and their tables', async () => {
    const { body } = await api.ask('GET', '/plugins')
    for (const each of body) {
      expect(keysOf(each)).toEqual(['metric', 'plugin'])
      expect(keysOf(each.metric)).toEqual(['isProjectMetric', 'requiredDataEntities', 'runAfter'])
    }
    expect(body.find(({ plugin }: any) => plugin === 'refdiff').metric.isProjectMetric).toBe(false)
    const { body: info } = await api.ask('GET', '/plugininfo')
    expect(keysOf(info)).toEqual(['DomainInfos', 'PluginInfos'])
    const jira = info.PluginInfos.find(({ name }: any) => name === 'jira')
    expect(keysOf(jira)).toEqual(['description', 'name', 'tables', 'task_mata'])
    expect(keysOf(jira.task_mata[0])).toEqual(['description', 'domain_types', 'enabled_by_default', 'name', 'required'])
    expect(keysOf(jira.tables[0])).toEqual(['error', 'field', 'table_name'])
    expect(keysOf(jira.tables[0].field[0])).toEqual(['data_type', 'db_name', 'gorm_data_type', 'name', 'tags'])
  })

  it('pushed rows, and the repositories among them', async () => {
    await api.ask('POST', '/push/repos', [
      { id: 'push:1', name: 'one' },
      { id: 'push:2', name: 'two', deleted: true },
    ])
    expect((await api.ask('POST', '/push/repos', [{ id: 'push:1', name: 'first' }])).status).toBe(200)
    const { body } = await api.ask('GET', '/domainlayer/repos')
    expect(body).toMatchObject({ count: 2, repos: [{ id: 'push:1', name: 'first' }, { id: 'push:2' }] })
    expect(keysOf(body.repos[0])).toEqual(
      [
        ...['id', ...WRITTEN, ...ORIGIN, 'name', 'url', 'description', 'owner_id', 'language', 'forked_from'],
        ...['created_date', 'updated_date', 'deleted'],
      ].sort(),
    )
    await refused('POST', '/push/repos', [{ id: 'push:3', created_date: 'soon' }], 400, /Row 1/)
    const narrow = await startTestApi(test.database, { PUSH_API_ALLOWED_TABLES: 'issues, boards' })
    try {
      expect((await narrow.ask('POST', '/push/boards', [{ id: 'push:1' }])).status).toBe(200)
      expect(await narrow.ask('POST', '/push/repos', [{ id: 'push:4' }])).toMatchObject({ status: 403, body: FAILED })
    } finally {
      await narrow.close()
    }
  })

  it('a page for browsers that says what to do next', async () => {
    const database = await openDatabase(await test.createDatabase())
    const empty = await startTestApi(database)
    try {
      expect((await empty.ask('GET', '/')).text).toMatch(/First steps.*GitHub.*weir config apply/s)
      const { body: project } = await empty.ask('POST', '/projects', { name: '<b>bold</b>' })
      const scheduled = (await empty.ask('GET', '/')).text
      expect(scheduled).toMatch(/Nothing has run yet\. The schedule begins at \d{4}-\d\d-\d\d 00:00 UTC/)
      expect(scheduled).not.toContain('<b>bold')
      await empty.ask('PATCH', `/blueprints/${project.blueprint.id}`, { isManual: true })
      expect((await empty.ask('GET', '/')).text).toContain('Nothing is scheduled')
      await empty.ask('POST', `/blueprints/${project.blueprint.id}/trigger`)
      expect((await empty.ask('GET', '/')).text).toMatch(/It is at work.*<table>.*created/s)
    } finally {
      await empty.close()
      await database.close()
    }
  })
})
