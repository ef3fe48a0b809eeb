/** DevLake's contract for projects and blueprints, beyond their main uses: fields, defaults, filters, each failure. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeEachWithTables } from '../support/databases.ts'
import { create, keysOf, ORIGIN, POLICY, refused, sorted, WRITTEN } from './support/contract.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const PROJECT = ['name', 'description', ...WRITTEN, ...ORIGIN, 'metrics', 'blueprint']
const BLUEPRINT = [
  'id',
  ...WRITTEN,
  'name',
  'projectName',
  'mode',
  'plan',
  'enable',
  'cronConfig',
  'isManual',
  'beforePlan',
  'afterPlan',
  'labels',
  'connections',
  'priority',
  ...POLICY,
]
const DORA = { plugin: 'dora', subtasks: [], options: { projectName: 'x' } }

describeEachWithTables('contract of projects and blueprints', (test) => {
  let api: TestApi
  beforeAll(async () => {
    api = await startTestApi(test.database)
  })
  afterAll(() => api.close())

  it('pages: 50 at once unless told, below 1 means the default', async () => {
    for (let number = 0; number < 51; number++) await create(api, '/projects', { name: `page ${number}` })
    const names = async (query: string) =>
      (await api.ask('GET', `/projects?keyword=page&${query}`)).body.projects.map(({ name }: any) => name)
    expect(await names('')).toHaveLength(50)
    expect(await names('page=0&pageSize=0')).toEqual(await names(''))
    expect(await names('page=2')).toHaveLength(1)
    expect(await names('pageSize=100000')).toHaveLength(51)
    expect(await names('page=3')).toEqual([])
    expect((await api.ask('GET', '/blueprints')).body).toMatchObject({ count: 51, blueprints: { length: 50 } })
    for (const list of ['/projects', '/blueprints', '/pipelines', '/api-keys']) {
      await refused(api, ['GET', `${list}?page=first`], 400, /page/)
      await refused(api, ['GET', `${list}?pageSize=all`], 400, /pageSize/)
    }
    for (const name of await names('pageSize=100')) await api.ask('DELETE', `/projects/${encodeURIComponent(name)}`)
  })

  it('projects', async () => {
    const plain = await create(api, '/projects', { name: 'plain', description: null, metrics: null, blueprint: null })
    expect(keysOf(plain)).toEqual(sorted(...PROJECT))
    expect(keysOf(plain.blueprint)).toEqual(sorted(...BLUEPRINT))
    expect(plain).toMatchObject({ description: '', metrics: [] })
    const listed = (await api.ask('GET', '/projects')).body.projects[0]
    expect(keysOf(listed)).toEqual(sorted(...PROJECT))
    const { body: run } = await api.ask('POST', `/blueprints/${plain.blueprint.id}/trigger`)
    expect((await api.ask('GET', '/projects')).body.projects[0].lastPipeline.id).toBe(run.id)
    expect((await api.ask('GET', '/projects/plain')).body).not.toHaveProperty('lastPipeline')
    await refused(api, ['DELETE', '/projects/plain'], 409, /not finished/)
    await api.ask('DELETE', `/pipelines/${run.id}`)

    const given = await create(api, '/projects', {
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
    await refused(api, ['PATCH', '/projects/plain', { name: 'a / new name' }], 400, /already/)
    await refused(api, ['PATCH', '/projects/plain', { name: '' }], 400, /name/)
    await refused(
      api,
      ['POST', '/projects', { name: 'x', metrics: [{ pluginName: 'none', enable: true }] }],
      400,
      /no metric none/,
    )
    await refused(api, ['POST', '/projects', { name: 'x', blueprint: { cronConfig: 'never' } }], 400, /schedule/)
    expect((await api.ask('GET', '/projects/x/check')).body).toEqual({ exist: false })
  })

  it('blueprints', async () => {
    const standalone = { name: 'standalone', mode: 'NORMAL', cronConfig: '0 0 * * *' }
    const made = await create(api, '/blueprints', { ...standalone, labels: 'one', connections: null, timeAfter: null })
    expect(keysOf(made)).toEqual(sorted(...BLUEPRINT))
    expect(made).toMatchObject({ projectName: '', labels: ['one'], connections: [], timeAfter: null, plan: [] })
    const at = `/blueprints/${made.id}`
    await refused(api, ['POST', `${at}/trigger`, {}], 400, /no task/)
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
    // Omitted fields keep their values, and null resets a field.
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

    const empty = await create(api, '/blueprints', { name: 'empty', mode: 'ADVANCED', isManual: true, plan: [[]] })
    await refused(api, ['POST', `/blueprints/${empty.id}/trigger`], 400, /no task/)
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
      await refused(api, ['POST', '/blueprints', body], 400, says)
    }
    await refused(api, ['GET', '/blueprints?type=YEARLY'], 400, /type must be/)
    await refused(api, ['PATCH', '/blueprints/x', {}], 400)
    await refused(api, ['DELETE', '/blueprints/x'], 400)
    await refused(api, ['POST', '/blueprints/x/trigger', {}], 400)
    await refused(api, ['GET', '/blueprints/x/pipelines'], 400)
    await refused(api, ['POST', `${at}/trigger`, { fullSync: 'perhaps' }], 400, /fullSync/)
    expect((await api.ask('GET', '/blueprints/999/pipelines')).body).toEqual({ count: 0, pipelines: [] })
  })
})
