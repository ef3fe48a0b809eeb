/** From a select field in Jira to the service report, over HTTP alone, checked against figures calculated by hand. */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Runner } from '../../src/runner/runner.ts'
import { type FakeJira, issue, startFakeJira, USER } from '../fake-jira/fake-jira.ts'
import { inProcess, testRunner, untilFinished } from '../pipelines/support/test-control.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const OUTAGE = { id: '4', name: 'Outage', subtask: false }
const BUG = { id: '2', name: 'Bug', subtask: false }
const ODD = `It's "100%" down`
const RANGE = { from: '2024-01-01T00:00:00Z', to: '2024-03-31T23:59:59Z' }
const category = (value: string) => ({ customfield_10050: { self: 'https://jira.example/option/1', value, id: '1' } })
const of = (name: string) => ({ components: [{ id: '1', name }] })
const took = (created: string, resolved: string) => ({ created, updated: resolved, resolutiondate: resolved })

/** Incidents of the component checkout in the range: 11 and 12 in January, 13 in February. */
const INCIDENTS = [
  issue(11, {
    issuetype: OUTAGE,
    ...category('Outage'),
    ...of('checkout'),
    ...took('2024-01-12T10:00:00.000+0000', '2024-01-12T12:30:00.000+0000'),
  }),
  issue(12, {
    issuetype: OUTAGE,
    ...category('Outage'),
    ...of('checkout'),
    ...took('2024-01-25T08:00:00.000+0000', '2024-01-25T08:30:00.000+0000'),
  }),
  // Not resolved, so it has no lead time: five hours and 59 seconds until its last update.
  issue(13, {
    issuetype: OUTAGE,
    ...category(ODD),
    ...of('checkout'),
    created: '2024-02-10T00:00:00.000+0000',
    updated: '2024-02-10T05:00:59.000+0000',
  }),
  issue(14, { issuetype: OUTAGE, ...category('Outage'), ...of('billing'), created: '2024-02-11T00:00:00.000+0000' }),
  issue(15, { issuetype: OUTAGE, ...category('Drill'), ...of('checkout'), created: '2024-02-12T00:00:00.000+0000' }),
  issue(16, { issuetype: OUTAGE, ...of('checkout'), created: '2024-02-13T00:00:00.000+0000' }),
  issue(17, {
    issuetype: OUTAGE,
    ...category('Outage'),
    ...of('checkout'),
    ...took('2023-12-31T23:59:59.000+0000', '2024-01-01T09:00:00.000+0000'),
  }),
  issue(18, { issuetype: BUG, ...category('Outage'), ...of('checkout'), created: '2024-01-20T00:00:00.000+0000' }),
]
/** Five of these deployments count. */
const DEPLOYMENTS = [
  ['d1', '2024-01-10T00:00:00Z'],
  ['d2', '2024-01-20T00:00:00Z'],
  ['d3', '2024-02-05T00:00:00Z'],
  ['d4', '2024-02-25T00:00:00Z'],
  ['d5', '2024-03-03T00:00:00Z'],
  ['staging', '2024-01-11T00:00:00Z', { environment: 'STAGING' }],
  ['failed', '2024-01-11T00:00:00Z', { result: 'FAILURE' }],
  ['earlier', '2023-12-01T00:00:00Z'],
] as const

describeEachWithTables('the service report', (test) => {
  let api: TestApi
  let jira: FakeJira
  let runner: Runner
  let blueprintId: number
  let place: { plugin: string; connectionId: number; scopeId: string }

  beforeAll(async () => {
    jira = await startFakeJira()
    jira.issues.splice(0, Infinity, ...structuredClone(INCIDENTS))
    jira.types.push(OUTAGE)
    jira.fields.push({ id: 'customfield_10050', name: 'Issue category', custom: true })
    api = await startTestApi(test.database)
    runner = await testRunner(api.control, inProcess(api.control))
  })
  afterAll(async () => {
    await runner?.stop()
    await api?.close()
    await jira?.stop()
  })

  const send = async (method: string, path: string, body?: unknown) => {
    const answer = await api.ask(method, path, body)
    expect(answer.status, `${method} ${path} ${answer.text}`).toBeLessThan(300)
    return answer.body
  }
  const run = async (id = blueprintId) => {
    const pipeline = await send('POST', `/blueprints/${id}/trigger`)
    expect(await untilFinished(api.control, pipeline.id)).toMatchObject({ status: 'TASK_COMPLETED', message: '' })
  }
  const query = (choice: Record<string, string | string[]> = {}) => {
    const pairs = Object.entries({ project: 'shop', ...RANGE, ...choice }).flatMap(([name, value]) =>
      [value].flat().map((each) => [name, each]),
    )
    return new URLSearchParams(pairs as [string, string][])
  }
  const CHECKOUT = { issueCategory: ['Outage', ODD], component: 'checkout' }
  const report = (choice: Record<string, string | string[]> = CHECKOUT) =>
    send('GET', `/v1/service-report?${query(choice)}`)
  const values = ({ metrics }: any) => metrics.map(({ value }: any) => value)

  it('has deployments and incidents once a run is over, and says that no field tells the category', async () => {
    const settings = { name: 'tickets', endpoint: jira.url, authMethod: 'BasicAuth', ...USER }
    const { id: connectionId } = await send('POST', '/plugins/jira/connections', settings)
    const at = `/plugins/jira/connections/${connectionId}`
    const typeMappings = { Outage: { standardType: 'INCIDENT', statusMappings: {} } }
    const rules = await send('POST', `${at}/scope-configs`, { name: 'rules', entities: ['TICKET'], typeMappings })
    const board = { boardId: 78, name: 'Checkout board', connectionId, scopeConfigId: rules.id }
    await send('PUT', `${at}/scopes`, { data: [board] })
    const { id: webhookId } = await send('POST', '/plugins/webhook/connections', { name: 'ci' })
    for (const [id, finished, more] of DEPLOYMENTS) {
      const dates = { startedDate: finished, finishedDate: finished }
      const commit = {
        repoUrl: 'https://code.example/shop',
        commitSha: 'a'.repeat(40),
        refName: 'main',
        ...more,
        ...dates,
      }
      await send('POST', `/plugins/webhook/connections/${webhookId}/deployments`, {
        id,
        ...dates,
        deploymentCommits: [commit],
        ...more,
      })
    }
    const connections = [
      { pluginName: 'jira', connectionId, scopes: [{ scopeId: '78' }] },
      { pluginName: 'webhook', connectionId: webhookId },
    ]
    const metrics = [{ pluginName: 'dora', pluginOption: {}, enable: true }]
    const blueprint = { isManual: true, connections, timeAfter: '2020-01-01T00:00:00Z' }
    const project = await send('POST', '/projects', { name: 'shop', metrics, blueprint })
    blueprintId = project.blueprint.id
    place = { plugin: 'jira', connectionId, scopeId: '78' }
    await run()

    const missing = await report()
    expect(values(missing)).toEqual([null, null, null])
    for (const { noData } of missing.metrics) {
      expect(noData.because).toContain('incidents have no field for their category')
      expect(noData.remedy).toContain('/plugins/customize/incidents/fields')
    }
    expect(await send('GET', `/v1/metrics/service-incidents/items?${query(CHECKOUT)}`)).toMatchObject({ items: [] })
    const { missingField } = await send('GET', '/v1/dashboards/service-report')
    expect(missingField).toEqual({ name: 'x_issue_category', title: 'Issue category', table: 'incidents' })
    // Without a choice of categories the field is not needed.
    expect(values(await report({ component: 'checkout' }))).toEqual([5, 1, expect.any(Number)])
    const { notes } = await report({ component: 'checkout' })
    expect(notes).toEqual([expect.stringMatching(/^Incidents have no field for their category\. Add it by POST /)])
    expect(values(await report({ component: 'billing' }))).toEqual([1, 1 / 5, (20 * 24 + 9) * 60])
  })

  it('equals what was worked out by hand, once the runs of the blueprint fill the field', async () => {
    const field = { columnName: 'x_issue_category', displayName: 'Issue category', dataType: 'varchar(255)' }
    await send('POST', '/plugins/customize/issues/fields', field)
    const mapping = {
      table: 'issues',
      field: field.columnName,
      rawTable: '_raw_jira_api_issues',
      ...place,
      reach: 'scope',
      path: 'fields.customfield_10050.value',
    }
    await send('POST', `/v1/blueprints/${blueprintId}/mappings`, mapping)
    await run()
    const first = await report()
    expect(first).toMatchObject({
      project: 'shop',
      environment: 'PRODUCTION',
      issueCategories: ['Outage', ODD],
      component: 'checkout',
      pairing: 'default',
      // Only the issues have the field so far.
      categoryTable: 'issues',
      division: {
        incidents: 3,
        deployments: 5,
        how: '3 incidents created in the range, divided by 5 successful deployments of shop to PRODUCTION that finished in the range, counted as for the deployment frequency.',
      },
      // The unresolved incident counts too, and the answer says so.
      unresolved: {
        count: 1,
        how: '1 of 3 incidents is not resolved: it counts with the time until its last update.',
      },
      notes: [],
      metrics: [
        { metric: 'service-incidents', unit: 'count', value: 3 },
        { metric: 'service-change-failure-rate', unit: 'share', value: 3 / 5 },
        // 150 and 30 by their lead time, 300 by their dates.
        { metric: 'service-recovery-time', unit: 'minutes', value: 160 },
      ],
    })
    expect(first.months).toEqual([
      { month: '24/01', incidents: 2, deployments: 2, changeFailureRate: 1, recoveryMinutes: 90, unresolved: 0 },
      { month: '24/02', incidents: 1, deployments: 2, changeFailureRate: 0.5, recoveryMinutes: 300, unresolved: 1 },
      { month: '24/03', incidents: 0, deployments: 1, changeFailureRate: 0, recoveryMinutes: null, unresolved: 0 },
    ])
    expect(values(await report({ issueCategory: ODD }))).toEqual([1, 1 / 5, 300])
    // Without deployments there is nothing to divide by.
    const without = { ...CHECKOUT, environment: 'TESTING' }
    expect((await report(without)).metrics[1]).toMatchObject({
      value: null,
      noData: { because: expect.stringContaining('no successful deployment') },
    })
    const { text } = await api.ask('GET', `/v1/service-report?${query({ ...CHECKOUT, format: 'csv' })}`)
    expect(text.split('\r\n').slice(0, 3)).toEqual([
      'month,incidents,deployments,changeFailureRate,recoveryMinutes,unresolved',
      '24/01,2,2,1,90,0',
      '24/02,1,2,0.5,300,1',
    ])
  })

  it('continues in an ADVANCED blueprint, where new incidents get their category by themselves', async () => {
    const { plan } = await send('GET', `/v1/blueprints/${blueprintId}/plan`)
    const collecting = plan.filter((stage: any[]) => stage.every(({ plugin }) => plugin !== 'customize'))
    expect(collecting.length).toBe(plan.length - 1)
    const written = { name: 'own plan', mode: 'ADVANCED', plan: collecting, isManual: true }
    const { id } = await send('POST', '/blueprints', written)
    const mapping = {
      table: 'issues',
      field: 'x_issue_category',
      rawTable: '_raw_jira_api_issues',
      ...place,
      reach: 'connection',
      path: 'fields.customfield_10050.value',
    }
    await send('POST', `/v1/blueprints/${id}/mappings`, mapping)
    const advanced = await send('GET', `/blueprints/${id}`)
    expect(advanced).toMatchObject({ mode: 'ADVANCED' })
    expect(advanced.plan.at(-1)).toMatchObject([{ plugin: 'customize' }])
    jira.issues.push(
      issue(19, {
        issuetype: OUTAGE,
        ...category('Outage'),
        ...of('checkout'),
        ...took('2024-03-10T00:00:00.000+0000', '2024-03-10T01:20:00.000+0000'),
      }),
    )
    await run(id)
    const { months, ...after } = await report()
    expect(values(after)).toEqual([4, 4 / 5, 140])
    expect(months[2]).toEqual({
      month: '24/03',
      incidents: 1,
      deployments: 1,
      changeFailureRate: 1,
      recoveryMinutes: 80,
      unresolved: 0,
    })
  })

  it('has its series, items and explanation as every metric', async () => {
    const get = (path: string) => send('GET', `/v1/metrics/${path}${path.includes('?') ? '&' : '?'}${query(CHECKOUT)}`)
    const { points } = await get('service-recovery-time/series?bucket=month')
    expect(points.map(({ value }: any) => value)).toEqual([90, 300, 80])
    const { items } = await get('service-recovery-time/items?reason=counted')
    expect(items.map(({ kind, value, isResolved }: any) => [kind, value, isResolved])).toEqual([
      ['incident', 150, true],
      ['incident', 30, true],
      ['incident', 300, false],
      ['incident', 80, true],
    ])
    const explained = await get('service-incidents/explanation')
    expect(Object.fromEntries(explained.leftOut.map(({ reason, count }: any) => [reason, count]))).toEqual({
      other_category: 2,
      other_component: 1,
      outside_time_range: 1,
    })
    const { leftOut } = await get('service-change-failure-rate/explanation')
    expect(leftOut.map(({ reason }: any) => reason)).toEqual(
      expect.arrayContaining(['other_category', 'not_successful', 'other_environment', 'outside_time_range']),
    )
  })

  it('is what the keys of a project follow that chooses this pairing', async () => {
    const key = async (metric: string, more = '') =>
      (await send('GET', `/v1/metrics/${metric}/explanation?${query()}${more}`)) as any
    const paired = await key('change-failure-rate')
    // Four of the five are before an incident of any category: d1 (11), d2 (12), d3 (13 to 16), d5 (19).
    expect(paired.value).toBe(4 / 5)
    expect(paired.definition).toMatch(/attributed to/)
    const policy = { pairing: 'service-report', issueCategories: ['Outage'], component: 'checkout' }
    const metrics = [{ pluginName: 'dora', pluginOption: { policy }, enable: true }]
    await send('PATCH', '/projects/shop', { description: '', metrics })
    const rate = await key('change-failure-rate')
    expect(rate).toMatchObject({ value: 3 / 5, summary: 'ratio', metric: 'change-failure-rate' })
    expect(rate.definition).toMatch(/divided by all successful deployments/)
    expect(rate.noGrade.because).toMatch(/^5 deployments in \d+ weeks? are too few/)
    expect(rate.leftOut.map(({ reason }: any) => reason)).toContain('other_category')
    const recovery = await key('failed-deployment-recovery-time')
    expect(recovery).toMatchObject({ value: (150 + 30 + 80) / 3, metric: 'failed-deployment-recovery-time' })
    expect(recovery.definition).toMatch(/lead_time_minutes/)
    expect((await key('change-failure-rate', '&policy=reference')).value).toBe(4 / 5)
    // Without a choice in the request, the report uses the choice of the project.
    expect(await report({})).toMatchObject({
      pairing: 'service-report',
      component: 'checkout',
      issueCategories: ['Outage'],
    })
    const four = await send('GET', `/v1/four-keys?${query()}`)
    expect(four.projects[0].keys.slice(2).map(({ value }: any) => value)).toEqual([3 / 5, 260 / 3])
    const { policies, chosen } = await send('GET', `/v1/metrics/change-failure-rate/policies?${query()}`)
    expect(chosen).toMatchObject({ value: 3 / 5, settings: policy })
    const under = Object.fromEntries(policies.map(({ policy: name, value }: any) => [name, value]))
    expect(under).toMatchObject({ reference: 4 / 5, 'service-report': 3 / 5 })
  })

  it('says which categories and components there are, where it is asked for others', async () => {
    const CATEGORIES = `There are: Drill, ${ODD}, Outage.`
    const misspelt = await report({ issueCategory: 'Outge' })
    expect(misspelt.notes).toEqual([`No incident of shop has the category Outge; did you mean Outage? ${CATEGORIES}`])
    expect(values(misspelt)).toEqual([null, null, null])
    for (const { noData, grades } of misspelt.metrics) {
      expect(noData).toEqual({
        because: `no incident of shop has the category Outge; did you mean Outage? ${CATEGORIES.slice(0, -1)}`,
        remedy: 'Choose a category that is there, or leave it out.',
      })
      expect(grades).toEqual([])
    }
    expect(misspelt.months[0]).toEqual({
      month: '24/01',
      incidents: null,
      deployments: 2,
      changeFailureRate: null,
      recoveryMinutes: null,
      unresolved: 0,
    })
    const elsewhere = await report({ ...CHECKOUT, component: 'Checkout' })
    expect(elsewhere.notes).toEqual([
      'No incident of shop has the component Checkout; did you mean checkout? There are: billing, checkout.',
    ])
    expect(values(elsewhere)).toEqual([null, null, null])
    // Known categories still count.
    const partly = await report({ ...CHECKOUT, issueCategory: ['Outage', 'Feature'] })
    expect(partly.notes).toEqual([`No incident of shop has the category Feature. ${CATEGORIES}`])
    expect(values(partly)[0]).toBe(3)
    // The category exists, but has no incident in this range.
    const quiet = await report({ ...CHECKOUT, issueCategory: 'Drill', from: '2024-03-01T00:00:00Z' })
    expect([values(quiet), quiet.notes]).toEqual([[0, 0, null], []])
    const asked = await send('GET', `/v1/metrics/service-incidents?${query({ issueCategory: 'Outge' })}`)
    expect(asked.values).toMatchObject([{ value: null, noData: { because: expect.stringContaining('Outage?') } }])
  })

  it('counts an incident of two components for each of them, and for the whole text', async () => {
    jira.issues.push(
      issue(20, {
        issuetype: OUTAGE,
        ...category('Outage'),
        components: [
          { id: '2', name: 'network' },
          { id: '3', name: 'database' },
        ],
        ...took('2024-03-20T00:00:00.000+0000', '2024-03-20T01:00:00.000+0000'),
      }),
    )
    await run()
    for (const component of ['network', 'database', 'network,database']) {
      expect(values(await report({ issueCategory: 'Outage', component })), component).toEqual([1, 1 / 5, 60])
    }
    // A part of a component's name does not match.
    const part = await report({ issueCategory: 'Outage', component: 'net' })
    expect([values(part), part.notes]).toEqual([
      [null, null, null],
      [expect.stringMatching(/^No incident of shop has the component net; did you mean network or network,database\?/)],
    ])
    const at = '/v1/dashboards/service-report'
    const chosen = (component: string[]) =>
      new URLSearchParams({ ...RANGE, values: JSON.stringify({ project: 'shop', component }) })
    const { options } = await send('GET', `${at}/variables/component?${chosen(['network'])}`)
    expect(options.map(({ value }: any) => value)).toEqual(
      expect.arrayContaining(['billing', 'checkout', 'database', 'network', 'network,database']),
    )
    for (const [component, amount] of [
      [['database'], 1],
      [['network,database'], 1],
      [['database', 'billing'], 2],
      [['data'], 0],
    ] as const) {
      const { rows } = await send('GET', `${at}/panels/service-incidents?${chosen([...component])}`)
      expect(rows[0][0], component.join()).toBe(amount)
    }
    // The page also shows the unresolved incidents next to the number.
    const { rows } = await send('GET', `${at}/panels/service-recovery-time?${chosen(['checkout'])}`)
    const open = await test.database.kysely
      .selectFrom('incidents')
      .select(({ fn }) => fn.countAll().as('amount'))
      .where('component', '=', 'checkout')
      .where('resolution_date', 'is', null)
      .where('created_date', '>=', new Date(RANGE.from))
      .executeTakeFirst()
    expect(Number(open?.amount)).toBeGreaterThan(0)
    expect(rows[0][2]).toBe(Number(open?.amount))
    const { missingField } = await send('GET', at)
    expect(missingField).toBeNull()
  })

  it('reads the field of incidents, where they have it as well', async () => {
    const field = { columnName: 'x_issue_category', displayName: 'Issue category', dataType: 'varchar(255)' }
    await send('POST', '/plugins/customize/incidents/fields', field)
    const empty = await report()
    expect(empty).toMatchObject({ categoryTable: 'incidents', component: 'checkout' })
    expect(values(empty)).toEqual([null, null, null])
    const mapping = {
      table: 'incidents',
      field: field.columnName,
      rawTable: '_raw_jira_api_issues',
      ...place,
      reach: 'scope',
      path: 'fields.customfield_10050.value',
    }
    await send('POST', `/v1/blueprints/${blueprintId}/mappings`, mapping)
    await run()
    expect(values(await report())).toEqual([4, 4 / 5, 140])
    await sql`update incidents set x_issue_category = 'Drill' where incident_key = 'SHOP-11'`.execute(
      test.database.kysely,
    )
    const { rows } = await sql<{ amount: number }>`select count(*) as amount from incidents
      where x_issue_category = 'Outage' and component = 'checkout'`.execute(test.database.kysely)
    expect(values(await report({ ...CHECKOUT, issueCategory: 'Outage', from: '2023-01-01T00:00:00Z' }))[0]).toBe(
      Number(rows[0]?.amount),
    )
    expect(values(await report())[0]).toBe(3)
  })

  it('refuses a pairing that it does not know, and changes nothing', async () => {
    const before = await send('GET', '/projects/shop')
    for (const [policy, message] of [
      [{ pairing: 'mine' }, /pairing must be default or service-report/],
      [{ issueCategories: [] }, /issueCategories must be null, or a list/],
      [{ issueCategories: ['x'.repeat(256)] }, /issueCategories/],
      [{ component: '' }, /component must be/],
    ] as const) {
      const metrics = [{ pluginName: 'dora', pluginOption: { policy }, enable: true }]
      expect(await api.ask('PATCH', '/projects/shop', { description: '', metrics })).toMatchObject({
        status: 400,
        body: { message: expect.stringMatching(message) },
      })
    }
    expect((await send('GET', '/projects/shop')).metrics).toEqual(before.metrics)
    expect((await api.ask('GET', `/v1/service-report?${query({ project: 'sho' })}`)).status).toBe(404)
    const many = query({ issueCategory: Array.from({ length: 101 }, (_, index) => `c${index}`) })
    expect((await api.ask('GET', `/v1/service-report?${many}`)).status).toBe(400)
  })
})
