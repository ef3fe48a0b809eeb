/** Answers that help people who write schedules and plans by hand. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { plugins } from '../../src/plugins/index.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { FAILED } from './support/contract.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const WORDS: readonly (readonly [cron: string, sentence: string])[] = [
  ['0 0 * * *', 'Every day at 00:00 UTC.'],
  ['30 2 * * *', 'Every day at 02:30 UTC.'],
  ['@daily', 'Every day at 00:00 UTC.'],
  ['0 6,18 * * *', 'Every day at 06:00 and 18:00 UTC.'],
  ['0 0 * * 1', 'Every Monday at 00:00 UTC.'],
  ['15 9 * * MON,THU', 'Every Monday and Thursday at 09:15 UTC.'],
  ['0 7 * * 1-5', 'From Monday to Friday at 07:00 UTC.'],
  ['0 0 1 * *', 'On the 1st of every month at 00:00 UTC.'],
  ['0 0 2,22 3 *', 'On the 2nd and 22nd of March at 00:00 UTC.'],
  ['*/15 * * * *', 'Every 15 minutes.'],
  ['0 * * * *', 'Every hour.'],
  ['20 * * * *', 'Every hour at minute 20.'],
  ['0 */6 * * *', 'Every 6 hours.'],
  ['@every 1h30m', 'Every 1h30m, counted from the last run.'],
  ['1-9/3 0 13 * 5', 'At the moments below, by its own rule.'],
]

describeOneWithTables('help with plans and schedules', (test) => {
  let api: TestApi
  beforeAll(async () => {
    api = await startTestApi(test.database)
  })
  afterAll(() => api.close())
  const schedule = (cron: string, more = '') =>
    api.ask('GET', `/v1/schedules/next?cron=${encodeURIComponent(cron)}${more}`)

  it.for(WORDS)('says what %s means', async ([cron, sentence]) => {
    const { status, body } = await schedule(cron)
    expect(status).toBe(200)
    expect(body.sentence).toBe(sentence)
    const moments = body.runs.map((run: string) => Date.parse(run))
    expect(moments).toHaveLength(5)
    expect(moments).toEqual([...moments].sort((one, other) => one - other))
    expect(moments[0]).toBeGreaterThan(Date.now())
  })

  it('refuses what is no schedule, and says what would be', async () => {
    for (const cron of ['', 'never', '99 * * * *', '0 0 31 2 *', '* * * *', 'x'.repeat(256)]) {
      expect(await schedule(cron), cron).toMatchObject({ status: 400, body: FAILED })
    }
    expect((await schedule('every day')).body.message).toContain('Write five fields such as 0 0 * * *')
    expect((await schedule('0 0 * * *', '&count=1')).body.runs).toHaveLength(1)
    expect((await schedule('0 0 * * *', '&count=21')).status).toBe(400)
  })

  it('names what may stand in a plan, with tasks to start from that are right', async () => {
    const { body } = await api.ask('GET', '/v1/plans/plugins')
    expect(body.map(({ plugin }: any) => plugin)).toEqual(plugins.map(({ name }) => name))
    const github = body.find(({ plugin }: any) => plugin === 'github')
    expect(github.subtasks).toContainEqual({ name: 'Collect Pull Requests', isDefault: true })
    expect(github.options).toContainEqual(expect.objectContaining({ name: 'connectionId', isRequired: true }))
    const plan = [body.map(({ template }: any) => template)]
    const problems = (await api.ask('POST', '/v1/plans/check', { plan })).body
    expect(problems.filter(({ severity }: any) => severity === 'error')).toEqual([])
  })

  it('finds what is wrong, each with its place', async () => {
    const task = { plugin: 'dora', options: { projectName: 'shop' } }
    const plan = [
      [task, { plugin: 'dorra' }],
      'no stage',
      [{ ...task, subtasks: ['calculate'] }, { plugin: 'dora', options: { projektName: 'shop', projectName: 3 } }, {}],
    ]
    const { status, body } = await api.ask('POST', '/v1/plans/check', { plan })
    expect(status).toBe(200)
    expect(body.map(({ path, severity }: any) => [path, severity])).toEqual([
      [[0, 1, 'plugin'], 'error'],
      [[1], 'error'],
      [[2, 0, 'subtasks'], 'error'],
      [[2, 1, 'options', 'projektName'], 'odd'],
      [[2, 1, 'options', 'projectName'], 'odd'],
      [[2, 2], 'error'],
    ])
    expect(body[0].message).toContain('did you mean dora?')
    expect(body[3].message).toContain('did you mean projectName?')
    expect((await api.ask('POST', '/v1/plans/check', { plan: [[task]] })).body).toEqual([])
    for (const odd of [null, 7, {}, [], [[{ plugin: 'dora', options: [] }]]]) {
      const found = (await api.ask('POST', '/v1/plans/check', { plan: odd })).body
      expect(found).toMatchObject([{ severity: 'error' }])
    }
    const alone = [task, { plugin: 'dora', options: { projektName: 'shop' } }, 'no task']
    const found = (await api.ask('POST', '/v1/plans/check', { plan: alone })).body
    expect(found.map(({ path, severity }: any) => [path, severity])).toEqual([
      [[1, 'options'], 'odd'],
      [[1, 'options', 'projektName'], 'odd'],
      [[2], 'error'],
    ])
    expect((await api.ask('POST', '/v1/plans/check', { plan: [task, task] })).body).toEqual([])
    expect((await api.ask('POST', '/v1/plans/check', { plan: [[task], task] })).body).toMatchObject([
      { path: [1], message: expect.stringContaining('mixes tasks and lists'), severity: 'error' },
    ])
    const many = Array.from({ length: 1000 }, () => ['nothing'])
    expect((await api.ask('POST', '/v1/plans/check', { plan: many })).body).toHaveLength(100)
  })

  it('takes tasks alone for one stage, wherever a plan is sent', async () => {
    const task = { plugin: 'org', subtasks: null, options: {} }
    const stage = [{ plugin: 'org', subtasks: [], options: {} }]
    const own = { mode: 'ADVANCED', isManual: true }
    const written = await api.ask('POST', '/blueprints', { name: 'flat', ...own, plan: [task, task] })
    expect(written).toMatchObject({ status: 201, body: { plan: [[...stage, ...stage]] } })
    const at = `/blueprints/${written.body.id}`
    const changed = await api.ask('PATCH', at, { plan: [task], beforePlan: [task], afterPlan: [[task], [task]] })
    expect(changed).toMatchObject({
      status: 200,
      body: { plan: [stage], beforePlan: [stage], afterPlan: [stage, stage] },
    })
    const made = { name: 'around', isManual: true, connections: [], beforePlan: [task], afterPlan: [task] }
    expect(await api.ask('POST', '/blueprints', made)).toMatchObject({
      status: 201,
      body: { plan: [stage, stage], beforePlan: [stage], afterPlan: [stage] },
    })
    expect(await api.ask('POST', '/pipelines', { plan: [task, task] })).toMatchObject({
      status: 201,
      body: { plan: [[...stage, ...stage]], totalTasks: 2 },
    })
    const preview = await api.ask('POST', '/v1/plans/preview', { name: 'seen', ...own, plan: [task] })
    expect(preview).toMatchObject({ status: 200, body: { plan: [stage] } })

    const mixed = [task, [task]]
    for (const [method, path, body, field] of [
      ['POST', '/blueprints', { name: 'mixed', ...own, plan: mixed }, 'plan'],
      ['POST', '/blueprints', { name: 'mixed', isManual: true, plan: mixed }, 'plan'],
      ['POST', '/blueprints', { name: 'mixed', isManual: true, beforePlan: mixed }, 'beforePlan'],
      ['PATCH', at, { afterPlan: mixed }, 'afterPlan'],
      ['POST', '/pipelines', { plan: mixed }, 'plan'],
    ] as const) {
      const { status, body: answer } = await api.ask(method, path, body)
      expect([status, answer.message]).toEqual([
        400,
        `${field} mixes tasks and lists of tasks: write either tasks alone, which are one stage, or every stage as a list of tasks.`,
      ])
    }
    expect((await api.ask('GET', at)).body).toEqual(changed.body)
    for (const [plan, message] of [
      [[7], 'plan.0 must be an object or a list.'],
      [[[7]], 'plan.0.0 must be an object.'],
    ] as const) {
      expect(await api.ask('POST', '/pipelines', { plan })).toMatchObject({ status: 400, body: { message } })
    }
  })
})
