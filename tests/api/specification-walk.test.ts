/**
 * The specification, line by line, over HTTP alone: from a connection to Jira to the service report, which equals plain SQL
 * in the words of the specification. The dates are in recent months, because a new project collects six months.
 */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Runner } from '../../src/runner/runner.ts'
import { asGrafana } from '../dashboards/as-grafana.ts'
import { type FakeJira, issue, startFakeJira, USER } from '../fake-jira/fake-jira.ts'
import { inProcess, testRunner, untilFinished } from '../pipelines/support/test-control.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const now = new Date()
const monthStart = (back: number) => Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back, 1)
/** Two months that have ended. */
const [EARLIER, LATER] = [monthStart(2), monthStart(1)]
const label = (moment: number) => new Date(moment).toISOString().slice(2, 7).replace('-', '/')
const RANGE = { from: new Date(EARLIER).toISOString(), to: new Date(monthStart(0) - 1).toISOString() }

const HOTFIX = { id: '7', name: 'Hotfix', subtask: false }
const BUG = { id: '2', name: 'Bug', subtask: false }
const PATH = 'fields.customfield_10063.value'
const timeText = (moment: number) => new Date(moment).toISOString().replace('Z', '+0000')

interface Story {
  readonly created: number
  /** The issue is resolved after this many milliseconds, or, if it is open, last updated. */
  readonly took: number
  readonly isOpen?: boolean
  readonly category?: string
  readonly component: string
  readonly type?: object
}
const STORIES: readonly Story[] = [
  { created: EARLIER + 5 * DAY, took: 150 * MINUTE, category: 'Defect', component: 'database' },
  // Not resolved, so it has no lead time: the minutes until its last update count, without the 59 seconds.
  { created: EARLIER + 9 * DAY, took: 409 * MINUTE + 59_000, isOpen: true, category: 'Feature', component: 'database' },
  { created: LATER + 3 * DAY, took: 30 * MINUTE, category: 'Defect', component: 'database' },
  { created: LATER + 4 * DAY, took: 60 * MINUTE, category: 'Outage', component: 'database' },
  { created: LATER + 5 * DAY, took: 60 * MINUTE, category: 'Defect', component: 'frontend' },
  { created: LATER + 6 * DAY, took: 60 * MINUTE, component: 'database' },
  { created: LATER + 7 * DAY, took: 60 * MINUTE, category: 'Defect', component: 'database', type: BUG },
]
const issues = STORIES.map(({ created, took, isOpen, category, component, type = HOTFIX }, index) =>
  issue(11 + index, {
    issuetype: type,
    components: [{ id: '1', name: component }],
    created: timeText(created),
    updated: timeText(created + took),
    resolutiondate: isOpen ? null : timeText(created + took),
    customfield_10063: category ? { self: 'https://jira.example/option/1', value: category, id: '1' } : null,
  }),
)
const DEPLOYMENTS: readonly (readonly [id: string, finished: number, more?: object])[] = [
  ['d1', EARLIER + 2 * DAY],
  ['d2', EARLIER + 20 * DAY],
  ['d3', LATER + 2 * DAY],
  ['staging', LATER + 3 * DAY, { environment: 'STAGING' }],
  ['failed', LATER + 4 * DAY, { result: 'FAILURE' }],
]
const CHOSEN = { issueCategory: ['Defect', 'Feature'], component: 'database' }
const FIELD = {
  columnName: 'x_issue_category',
  displayName: 'Issue category',
  dataType: 'varchar(255)',
  description: 'What kind of incident it is.',
}

describeEachWithTables('the specification, walked line by line', (test) => {
  let api: TestApi
  let jira: FakeJira
  let runner: Runner
  let connectionId: number
  let blueprintId: number
  let webhookId: number
  let params: string

  beforeAll(async () => {
    jira = await startFakeJira()
    jira.issues.splice(0, Infinity, ...structuredClone(issues))
    jira.types.push(HOTFIX)
    jira.fields.push({ id: 'customfield_10063', name: 'Issue Category', custom: true })
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
  const run = async (id: number, flags: object = {}) => {
    const pipeline = await send('POST', `/blueprints/${id}/trigger`, flags)
    expect(await untilFinished(api.control, pipeline.id)).toMatchObject({ status: 'TASK_COMPLETED', message: '' })
  }
  const rowsOf = async <Row>(statement: string) => (await sql.raw<Row>(statement).execute(test.database.kysely)).rows
  const addressOf = (choice: Record<string, string | readonly string[]>) => {
    const pairs = Object.entries({ project: 'ops', ...RANGE, ...choice })
    const each = pairs.flatMap(([name, value]) => [value].flat().map((word) => [name, word]))
    return `/v1/service-report?${new URLSearchParams(each as [string, string][])}`
  }
  const categories = async () => {
    const rows = await rowsOf<{ incident_key: string; category: string | null }>(
      'select incident_key, x_issue_category as category from incidents order by incident_key',
    )
    return rows.map(({ incident_key, category }) => [incident_key, category])
  }
  const AS_SENT = STORIES.flatMap(({ category = null, type }, index) =>
    type ? [] : [[`SHOP-${11 + index}`, category]],
  )

  it('1: tells right credentials from wrong ones, and never shows a secret', async () => {
    const settings = { endpoint: jira.url, authMethod: 'BasicAuth', ...USER, proxy: '', rateLimitPerHour: 0 }
    expect(await api.ask('POST', '/plugins/jira/test', { ...settings, password: 'wrong' })).toMatchObject({
      status: 400,
    })
    const tested = await api.ask('POST', '/plugins/jira/test', settings)
    expect(tested.status).toBe(200)
    expect(await send('GET', '/plugins/jira/connections')).toEqual([])
    const saved = await api.ask('POST', '/plugins/jira/connections', { name: 'tickets', ...settings })
    connectionId = saved.body.id
    const read = await api.ask('GET', `/plugins/jira/connections/${connectionId}`)
    for (const { text } of [tested, saved, read]) expect(text).not.toContain(USER.password)
  })

  it('2: lists boards, and takes one whose scope config maps Hotfix to INCIDENT', async () => {
    const at = `/plugins/jira/connections/${connectionId}`
    const { children } = await send('GET', `${at}/remote-scopes`)
    expect(children).toContainEqual(expect.objectContaining({ type: 'scope', id: '2', name: 'Board 2' }))
    const typeMappings = { Hotfix: { standardType: 'INCIDENT', statusMappings: {} } }
    const rules = await send('POST', `${at}/scope-configs`, { name: 'rules', entities: ['TICKET'], typeMappings })
    const board = { boardId: 2, name: 'Board 2', connectionId, scopeConfigId: rules.id }
    await send('PUT', `${at}/scopes`, { data: [board] })
    expect(await send('GET', `${at}/scopes`)).toMatchObject({ count: 1 })
  })

  it('3: makes one blueprint per project, six months back, every day; both can be changed', async () => {
    const metrics = [{ pluginName: 'dora', pluginOption: {}, enable: true }]
    const { blueprint } = await send('POST', '/projects', { name: 'ops', metrics })
    blueprintId = blueprint.id
    expect(blueprint).toMatchObject({ projectName: 'ops', mode: 'NORMAL', cronConfig: '0 0 * * *', isManual: false })
    const months = (now.getTime() - Date.parse(blueprint.timeAfter)) / DAY
    expect(months).toBeGreaterThan(180)
    expect(months).toBeLessThan(186)
    const second = await api.ask('POST', '/blueprints', { name: 'second', projectName: 'ops', isManual: true })
    expect(second).toMatchObject({ status: 400, body: { message: expect.stringContaining('already has') } })
    webhookId = (await send('POST', '/plugins/webhook/connections', { name: 'ci' })).id
    const connections = [
      { pluginName: 'jira', connectionId, scopes: [{ scopeId: '2' }] },
      { pluginName: 'webhook', connectionId: webhookId },
    ]
    const changed = await send('PATCH', `/blueprints/${blueprintId}`, {
      connections,
      cronConfig: '0 6 * * *',
      timeAfter: new Date(monthStart(4)).toISOString(),
    })
    expect(changed).toMatchObject({ cronConfig: '0 6 * * *', timeAfter: new Date(monthStart(4)).toISOString() })
    for (const [index, [id, finished, more]] of DEPLOYMENTS.entries()) {
      const moment = new Date(finished).toISOString()
      const dates = { startedDate: moment, finishedDate: moment }
      const commit = { repoUrl: 'https://code.example/ops', commitSha: `${index}`.repeat(40), refName: 'main' }
      await send('POST', `/plugins/webhook/connections/${webhookId}/deployments`, {
        id,
        ...dates,
        deploymentCommits: [{ ...commit, ...dates, ...more }],
        ...more,
      })
    }
    await run(blueprintId)
  })

  it('4: keeps records as sent, and makes rows of them; nobody has added a field', async () => {
    const raw = await rowsOf<{ data: Buffer; params: string }>(
      'select data, params from _raw_jira_api_issues order by id',
    )
    params = `{"ConnectionId":${connectionId},"BoardId":2}`
    expect(new Set(raw.map((row) => row.params))).toEqual(new Set([params]))
    const stored = new Map(raw.map(({ data }) => JSON.parse(String(data))).map((each) => [each.key, each]))
    expect([...stored.keys()].sort()).toEqual(issues.map(({ key }) => key))
    for (const { key, fields } of issues) {
      expect(stored.get(key).fields.customfield_10063).toEqual(fields.customfield_10063)
      expect(stored.get(key).fields.created).toBe(fields.created)
    }
    expect(await rowsOf('select issue_key from _tool_jira_issues')).toHaveLength(issues.length)
    expect(await rowsOf('select id from issues')).toHaveLength(issues.length)
    const incidents = await rowsOf<{ incident_key: string }>('select incident_key from incidents order by incident_key')
    expect(incidents.map((row) => row.incident_key)).toEqual(AS_SENT.map(([key]) => key))
    const columns = (await test.database.describe()).get('incidents')?.columns ?? new Map()
    expect([...columns.keys()].filter((name) => name.startsWith('x_'))).toEqual([])
  })

  it('5: adds a column to incidents, and says what is wrong with another', async () => {
    for (const [table, field, says] of [
      ['incidents', { ...FIELD, columnName: 'issue_category' }, /"issue_category" must be x_ and then/],
      ['incidents', { ...FIELD, columnName: 'x_not-a-name' }, /"x_not-a-name" must be x_ and then/],
      ['incidents', { ...FIELD, dataType: 'varchar' }, /dataType must be varchar\(255\) or text/],
      ['accidents', FIELD, /accidents is not a domain table/],
    ] as const) {
      const { status, body } = await api.ask('POST', `/plugins/customize/${table}/fields`, field)
      expect([status >= 400 && status < 500, body.message]).toEqual([true, expect.stringMatching(says)])
    }
    await send('POST', '/plugins/customize/incidents/fields', FIELD)
    expect((await test.database.describe()).get('incidents')?.columns.has(FIELD.columnName)).toBe(true)
    expect(await send('GET', '/plugins/customize/incidents/fields')).toContainEqual(expect.objectContaining(FIELD))
  })

  const task = () => ({
    plugin: 'customize',
    subtasks: null,
    options: {
      transformationRules: [
        {
          mapping: { [FIELD.columnName]: PATH },
          rawDataParams: params,
          rawDataTable: '_raw_jira_api_issues',
          table: 'incidents',
        },
      ],
    },
  })
  const advanced = { mode: 'ADVANCED', isManual: true }

  it('6: runs a plan that is one level deep, and refuses one that is half so', async () => {
    const written = { name: 'categories', ...advanced, plan: [task()] }
    const blueprint = await send('POST', '/blueprints', written)
    expect(blueprint.plan).toEqual([[{ ...task(), subtasks: [] }]])
    await run(blueprint.id)
    expect(await categories()).toEqual(AS_SENT)
    const mixed = await api.ask('POST', '/blueprints', { ...written, name: 'mixed', plan: [task(), [task()]] })
    expect(mixed).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/^plan mixes tasks and lists/) },
    })
  })

  it('7: runs it nested, too; later collections keep the values', async () => {
    await sql`update incidents set x_issue_category = null`.execute(test.database.kysely)
    const { id } = await send('POST', '/blueprints', { name: 'nested', ...advanced, plan: [[task()]] })
    await run(id)
    expect(await categories()).toEqual(AS_SENT)
    await run(blueprintId, { fullSync: true })
    expect(await categories()).toEqual(AS_SENT)
  })

  it('8: reports what plain SQL says by month, in the API, the dashboard and Grafana', async () => {
    const report = await send('GET', addressOf(CHOSEN))
    expect(report).toMatchObject({ categoryTable: 'incidents', issueCategories: CHOSEN.issueCategory, notes: [] })
    expect(report.months).toEqual([
      {
        month: label(EARLIER),
        incidents: 2,
        deployments: 2,
        changeFailureRate: 1,
        recoveryMinutes: (150 + 409) / 2,
        unresolved: 1,
      },
      { month: label(LATER), incidents: 1, deployments: 1, changeFailureRate: 1, recoveryMinutes: 30, unresolved: 0 },
    ])
    expect(report.metrics.map(({ value }: any) => value)).toEqual([3, 1, expect.closeTo((150 + 409 + 30) / 3, 9)])
    expect(report.division).toMatchObject({ incidents: 3, deployments: 3 })
    expect(report.division.how).toMatch(/^3 incidents .* divided by 3 successful deployments of ops to PRODUCTION/)
    const { months: all } = await send('GET', addressOf({}))
    expect(all.map(({ incidents }: any) => incidents)).toEqual([2, 4])

    const ofEngine = {
      postgres: {
        month: (moment: string) => `to_char(${moment}, 'YY/MM')`,
        minutes: 'trunc(extract(epoch from updated_date - created_date) / 60)',
      },
      mysql: {
        month: (moment: string) => `date_format(${moment}, '%y/%m')`,
        minutes: 'timestampdiff(minute, created_date, updated_date)',
      },
    }[test.engine]
    const [from, to] = [RANGE.from, RANGE.to].map((moment) => `'${moment.replace('T', ' ').replace('Z', '')}'`)
    const plain = await rowsOf<Record<string, unknown>>(`
      select i.month, i.incidents, d.deployments, i.minutes, i.unresolved from (
        select ${ofEngine.month('created_date')} as month, count(*) as incidents,
          avg(coalesce(lead_time_minutes, ${ofEngine.minutes})) as minutes, count(*) - count(resolution_date) as unresolved
        from incidents where x_issue_category in ('Defect', 'Feature') and component = 'database'
          and created_date between ${from} and ${to} group by 1) i
      inner join (select ${ofEngine.month('finished_date')} as month, count(distinct cicd_deployment_id) as deployments
        from cicd_deployment_commits where result = 'SUCCESS' and environment = 'PRODUCTION'
          and finished_date between ${from} and ${to} group by 1) d on d.month = i.month
      order by i.month`)
    const byHand = plain.map(({ month, incidents, deployments, minutes, unresolved }) => ({
      month,
      incidents: Number(incidents),
      deployments: Number(deployments),
      changeFailureRate: Number(incidents) / Number(deployments),
      recoveryMinutes: Number(minutes),
      unresolved: Number(unresolved),
    }))
    expect(byHand).toEqual(report.months)

    const ofMonths = report.months.map((each: any) => [
      each.month,
      each.recoveryMinutes,
      each.incidents,
      each.unresolved,
    ])
    const values = { project: 'ops', issue_category: CHOSEN.issueCategory, component: [CHOSEN.component] }
    const query = new URLSearchParams({ ...RANGE, values: JSON.stringify(values) })
    const panel = await send('GET', `/v1/dashboards/service-report/panels/recovery-by-month?${query}`)
    expect(panel.rows).toEqual(ofMonths)
    const { options } = await send('GET', `/v1/dashboards/service-report/variables/issue_category?${query}`)
    expect(options.map(({ value }: any) => value).filter((each: string) => !/All/.test(each))).toEqual([
      'Defect',
      'Feature',
      'Outage',
    ])
    const { panels } = await send('GET', '/v1/dashboards/service-report/template')
    const template = panels.find(({ title }: any) => title === 'Recovery by month').targets[0].rawSql as string
    for (const name of ['issue_category', 'component']) expect(template).toContain(`\${${name}:sqlstring}`)
    const range = { from: new Date(RANGE.from), to: new Date(RANGE.to) }
    const rows = await rowsOf<any>(asGrafana(test.engine, template, { ...range, values }))
    expect(
      rows.map(({ month, value, incidents, unresolved }) => [month, ...[value, incidents, unresolved].map(Number)]),
    ).toEqual(ofMonths)
  })

  it('9: refuses a parameter that it does not know', async () => {
    const { status, body } = await api.ask('GET', addressOf({ categry: 'Outage' }))
    expect([status, body.message]).toEqual([
      400,
      expect.stringMatching(/no parameter categry; did you mean issueCategory/),
    ])
  })
})
