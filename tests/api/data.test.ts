/** The stored data of a scope, one record through all layers, and custom fields filled from paths in raw records. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { settingsTables } from '../../src/plugin-kit/task/settings-tables.ts'
import { jira as jiraPlugin } from '../../src/plugins/jira/plugin.ts'
import { type FakeJira, issue, startFakeJira, USER } from '../fake-jira/fake-jira.ts'
import { inProcess, testRunner, untilFinished } from '../pipelines/support/test-control.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const RAW = '_raw_jira_api_issues'
const ODD_KEY = 'a.b*c'

describeEachWithTables('data', (test) => {
  let api: TestApi
  let jira: FakeJira
  let runner: Awaited<ReturnType<typeof testRunner>>
  let scope = ''
  let place: { plugin: string; connectionId: number; scopeId: string }
  let blueprintId = 0

  const get = async (path: string, query: Record<string, string | number> = {}, status = 200) => {
    const answer = await api.ask('GET', `${path}?${scope}&${new URLSearchParams(query as Record<string, string>)}`)
    expect(answer.status, answer.text).toBe(status)
    return answer.body
  }
  const run = async (path: string, body?: unknown) => {
    const { body: pipeline, text } = await api.ask('POST', path, body)
    expect(pipeline.id, text).toBeGreaterThan(0)
    return untilFinished(api.control, pipeline.id)
  }

  beforeAll(async () => {
    jira = await startFakeJira()
    jira.issues.length = 0
    jira.issues.push(
      issue(1, { customfield_10016: 3, labels: ['a'], customfield_10020: [{ name: 'One' }, { name: 'Two' }] }),
      issue(2, { customfield_10016: 5.5, description: 'long '.repeat(10_000), [ODD_KEY]: 'odd' }),
      issue(3, { summary: 'שלום 🌊 100%_sure' }),
    )
    api = await startTestApi(test.database)
    runner = await testRunner(api.control, inProcess(api.control))
    const settings = { name: 'tickets', endpoint: jira.url, authMethod: 'BasicAuth', ...USER }
    const { body: connection, text } = await api.ask('POST', '/plugins/jira/connections', settings)
    expect(connection.id, text).toBeGreaterThan(0)
    const connectionId: number = connection.id
    const board = { boardId: 5, name: 'Shop', connectionId }
    await api.ask('PUT', `/plugins/jira/connections/${connectionId}/scopes`, { data: [board] })
    place = { plugin: 'jira', connectionId, scopeId: '5' }
    scope = `plugin=jira&connectionId=${connectionId}&scopeId=5`
    const connections = [{ pluginName: 'jira', connectionId, scopes: [{ scopeId: '5' }] }]
    const blueprint = { isManual: true, connections, timeAfter: '2020-01-01T00:00:00Z' }
    const { body: project } = await api.ask('POST', '/projects', { name: 'shop', blueprint })
    blueprintId = project.blueprint.id
    expect(await run(`/blueprints/${blueprintId}/trigger`)).toMatchObject({ status: 'TASK_COMPLETED' })
  })
  afterAll(async () => {
    await runner?.stop()
    await api?.close()
    await jira?.stop()
  })

  it('finds scopes by their names', async () => {
    const found = async (keyword: string) =>
      (await api.ask('GET', `/v1/data/scopes?${new URLSearchParams({ keyword })}`)).body.scopes
    expect(await found('sho')).toEqual([
      { ...place, pluginTitle: 'Jira', connectionName: 'tickets', scopeName: 'Shop' },
    ])
    expect(await found('%')).toEqual([])
    expect(await found('')).toHaveLength(1)
  })

  it('lists the tables of a scope with counts and where their rows come from', async () => {
    const { tables } = await get('/v1/data/tables')
    const found = new Map<string, any>(tables.map((each: any) => [each.name, each]))
    expect(found.get(RAW)).toMatchObject({ layer: 'raw', count: 3, isMore: false, origins: [] })
    expect(found.get('_tool_jira_issues')).toMatchObject({ layer: 'tool', count: 3, origins: [RAW] })
    expect(found.get('issues')).toMatchObject({ layer: 'domain', count: 3, origins: [RAW] })
    // The origin of most rows comes first, whatever its name. Epics are few.
    const { kysely } = test.database
    const made = (from: string) =>
      kysely.updateTable('issues').set({ _raw_data_table: from }).where('issue_key', '=', 'SHOP-3').execute()
    await made('_raw_jira_api_epics')
    const { tables: mixed } = await get('/v1/data/tables')
    expect(mixed.find(({ name }: any) => name === 'issues').origins).toEqual([RAW, '_raw_jira_api_epics'])
    await made(RAW)
    const { connections, scopeConfigs } = settingsTables(jiraPlugin.source!)
    for (const { name } of [connections, scopeConfigs]) expect(found.has(name)).toBe(false)
    expect([...found.keys()].filter((name) => name.startsWith('_devlake') || name.startsWith('_weir'))).toEqual([])
  })

  it('gives rows in pages, cut where they are long, and finds them by words', async () => {
    const first = await get('/v1/data/rows', { table: 'issues', pageSize: 2 })
    expect(first).toMatchObject({ count: 3, isMore: false })
    expect(first.rows).toHaveLength(2)
    const second = await get('/v1/data/rows', { table: 'issues', pageSize: 2, page: 2 })
    const keys = [...first.rows, ...second.rows].map(({ cells }: any) => cells.issue_key)
    expect(keys).toEqual(['SHOP-1', 'SHOP-2', 'SHOP-3'])
    expect(first.rows[1].cells.description).toMatch(/^long .{295}…$/s)
    expect(await get('/v1/data/rows', { table: 'issues', page: 1_000_000 })).toMatchObject({ count: 3, rows: [] })
    const { rows } = await get('/v1/data/rows', { table: 'issues', pageSize: 100_000 })
    expect(rows).toHaveLength(3)
    const found = async (search: string, table = 'issues') =>
      (await get('/v1/data/rows', { table, search })).rows.map(({ cells }: any) => cells.issue_key ?? cells.id)
    expect(await found('shop-2')).toEqual(['SHOP-2'])
    expect(await found('100%_')).toEqual(['SHOP-3'])
    expect(await found('שלום')).toEqual(['SHOP-3'])
    expect(await found("nothing'; drop table issues; --")).toEqual([])
    const raw = await get('/v1/data/rows', { table: RAW })
    expect(raw.rows[0]).toMatchObject({ record: { table: RAW, id: raw.rows[0].cells.id } })
    expect(raw.rows.map(({ cells }: any) => cells.id)).toEqual(
      raw.rows.map(({ cells }: any) => cells.id).sort((one: number, other: number) => other - one),
    )
    expect(raw.rows[0].cells.data).toMatch(/^\{/)
    expect(await found(raw.rows[1].cells.record_key, RAW)).toEqual([raw.rows[1].cells.id])
  })

  it('finds a row by its id, with the scope and the record that it came from', async () => {
    const { rows } = await get('/v1/data/rows', { table: 'issues', search: 'SHOP-1' })
    const { cells, record } = rows[0]
    const ask = (query: Record<string, string>) =>
      api.ask('GET', `/v1/data/domain-row?${new URLSearchParams({ table: 'issues', ...query })}`)
    const { status, body } = await ask({ id: cells.id })
    expect(status).toBe(200)
    expect(body).toMatchObject({ table: 'issues', place, row: { record, cells: { issue_key: 'SHOP-1' } } })
    // If the raw record is missing, the answer says so instead of linking to nothing.
    const { kysely } = test.database
    await kysely.updateTable('issues').set({ _raw_data_id: 99_999 }).where('id', '=', cells.id).execute()
    expect((await ask({ id: cells.id })).body).toMatchObject({ place, row: { record: null } })
    await kysely.updateTable('issues').set({ _raw_data_id: record.id }).where('id', '=', cells.id).execute()
    expect(await ask({ id: 'nothing' })).toMatchObject({
      status: 404,
      body: { message: 'There is no row nothing in issues. A later run may have removed it.' },
    })
    expect((await ask({ table: 'board_issues', id: 'x' })).status).toBe(404)
    expect((await ask({ table: '_tool_jira_connections', id: '1' })).status).toBe(404)
  })

  it('follows a record from the source to the domain', async () => {
    const { rows } = await get('/v1/data/rows', { table: 'issues', search: 'SHOP-1' })
    const { record } = rows[0]
    expect(record.table).toBe(RAW)
    const { raw, made } = await get('/v1/data/record', record)
    expect(raw).toMatchObject({ table: RAW, id: record.id, text: null, data: { key: 'SHOP-1' } })
    const tables = made.map(({ layer, table }: any) => `${layer} ${table}`)
    expect(tables).toEqual(expect.arrayContaining(['tool _tool_jira_issues', 'domain issues', 'domain board_issues']))
    const tool = made.find(({ table }: any) => table === '_tool_jira_issues')
    expect(tool.rows).toHaveLength(1)
    expect(tool.rows[0].cells).toMatchObject({ issue_key: 'SHOP-1', summary: 'Issue 1' })
  })

  it('refuses what is no data of the scope', async () => {
    for (const table of [
      '_tool_jira_connections',
      '_tool_jira_scope_configs',
      '_devlake_api_keys',
      '_weir_plans',
      'nothing',
      '_tool_github_issues',
      '_raw_github_api_issues',
      'issues; drop table issues',
      '_devlake_tasks',
    ]) {
      for (const [route, asked] of [
        ['/v1/data/rows', { table }],
        ['/v1/data/record', { table, id: 1 }],
        ['/v1/data/paths', { rawTable: table }],
      ] as const) {
        const { message } = await get(route, asked, 404)
        expect(message).toContain(table)
      }
    }
    await get('/v1/data/record', { table: RAW, id: 999_999 }, 404)
    await get('/v1/data/record', { table: 'issues', id: 1 }, 400)
    const other = new URLSearchParams({ ...place, scopeId: '77' } as any)
    expect((await api.ask('GET', `/v1/data/tables?${other}`)).status).toBe(404)
    expect((await api.ask('GET', '/v1/data/tables?plugin=jira&connectionId=99&scopeId=5')).status).toBe(404)
    expect((await api.ask('GET', '/v1/data/tables?plugin=nope&connectionId=1&scopeId=5')).status).toBe(404)
    expect((await api.ask('GET', `/v1/data/tables?plugin=jira&connectionId=${place.connectionId}`)).status).toBe(400)
    const words = new URLSearchParams({ ...place, scopeId: "5' or 1=1" } as any)
    expect((await api.ask('GET', `/v1/data/tables?${words}`)).status).toBe(404)
  })

  it('shows no secret', async () => {
    const texts: string[] = []
    const { tables } = await get('/v1/data/tables')
    for (const { name } of tables) texts.push(JSON.stringify(await get('/v1/data/rows', { table: name })))
    expect(texts.join()).not.toContain(USER.password)
  })

  it('finds paths with counts, types, samples and the names that people know', async () => {
    const { records, paths } = await get('/v1/data/paths', { rawTable: RAW })
    expect(records).toBe(3)
    const at = new Map<string, any>(paths.map((each: any) => [each.path, each]))
    expect(at.get('fields.customfield_10016')).toMatchObject({
      title: 'Story Points',
      count: 2,
      types: ['number'],
      suggestion: 'float',
      samples: expect.arrayContaining(['3', '5.5']),
    })
    expect(at.get('fields.customfield_10020.#.name')).toMatchObject({ count: 1, samples: ['One', 'Two'] })
    expect(at.get('fields.labels')).toMatchObject({ types: ['list'], samples: ['["a"]'] })
    expect(at.get('fields.created')).toMatchObject({ suggestion: 'timestamp' })
    expect(at.get('fields.a\\.b\\*c')).toMatchObject({ keys: ['fields', ODD_KEY], samples: ['odd'] })
  })

  it('previews what a path would bring, and fills the field at the end of each run', async () => {
    const asked = { rawTable: RAW, table: 'issues', path: 'fields.customfield_10016' }
    const fitting = await get('/v1/data/values', { ...asked, dataType: 'float' })
    expect(fitting).toMatchObject({ rows: 3, filled: 2, refused: 0 })
    expect(fitting.samples.map(({ value }: any) => value).sort()).toEqual([3, 5.5, null])
    const refused = await get('/v1/data/values', { ...asked, path: 'fields.summary', dataType: 'bigint' })
    expect(refused).toMatchObject({ rows: 3, filled: 0, refused: 3 })
    expect(refused.samples[0].problem).toMatch(/\w/)
    await get('/v1/data/values', { ...asked, path: 'fields.*', dataType: 'text' }, 400)

    const wanted = { table: 'issues', field: 'x_points', rawTable: RAW, path: asked.path, ...place }
    const mappings = `/v1/blueprints/${blueprintId}/mappings`
    expect((await api.ask('POST', mappings, { ...wanted, reach: 'connection' })).status).toBe(400)
    const field = { columnName: 'x_points', displayName: 'Points', dataType: 'float' }
    await api.ask('POST', '/plugins/customize/issues/fields', field)
    const added = await api.ask('POST', mappings, { ...wanted, reach: 'connection' })
    expect(added, added.text).toMatchObject({ status: 200, body: { count: 1 } })
    expect(added.body.mappings[0]).toMatchObject({ field: 'x_points', projectName: 'shop', path: asked.path })
    const again = await api.ask('POST', mappings, { ...wanted, reach: 'connection' })
    expect(again.body.mappings).toEqual(added.body.mappings)
    expect(await run(`/blueprints/${blueprintId}/trigger`)).toMatchObject({ status: 'TASK_COMPLETED' })
    const { columns, rows } = await get('/v1/data/rows', { table: 'issues' })
    expect(columns.at(-1)).toMatchObject({ name: 'x_points' })
    expect(rows.map(({ cells }: any) => cells.x_points)).toEqual([3, 5.5, null])

    const listed = await api.ask('GET', '/v1/fields')
    expect(listed.body).toMatchObject({ count: 1, fields: [{ ...field, filledBy: added.body.mappings }] })
    const [{ table, field: name, rawTable, rawParams }] = added.body.mappings
    const which = new URLSearchParams({ table, field: name, rawTable, rawParams })
    expect((await api.ask('DELETE', `${mappings}?${which}`)).body).toEqual({ count: 0, mappings: [] })
    expect((await api.ask('DELETE', `${mappings}?${which}`)).status).toBe(404)
    expect((await api.ask('POST', '/v1/blueprints/9999/mappings', { ...wanted, reach: 'scope' })).status).toBe(404)
  })

  it('keeps what others put at the end of a run', async () => {
    const afterPlan = [[{ plugin: 'org', subtasks: [], options: {} }]]
    await api.ask('PATCH', `/blueprints/${blueprintId}`, { afterPlan })
    const mappings = `/v1/blueprints/${blueprintId}/mappings`
    const wanted = { table: 'issues', rawTable: RAW, path: 'key', ...place, reach: 'scope' }
    for (const columnName of ['x_one', 'x_two']) {
      await api.ask('POST', '/plugins/customize/issues/fields', { columnName, displayName: 'a', dataType: 'text' })
    }
    const answers = await Promise.all(
      ['x_one', 'x_two'].map((field) => api.ask('POST', mappings, { ...wanted, field })),
    )
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    const { body } = await api.ask('GET', `/blueprints/${blueprintId}`)
    expect(body.afterPlan[0][0]).toMatchObject({ plugin: 'org' })
    expect(body.afterPlan[1][0].options.transformationRules[0].mapping).toEqual({ x_one: 'key', x_two: 'key' })
  })

  it('tells what the tasks of a run are about, and their steps', async () => {
    const { body: runs } = await api.ask('GET', '/pipelines?project=shop&keyword=SHOP')
    expect(runs.count).toBe(2)
    for (const query of ['project=other', 'keyword=nothing', 'keyword=100%25']) {
      expect((await api.ask('GET', `/pipelines?${query}`)).body.count).toBe(0)
    }
    const [{ id }] = runs.pipelines
    expect((await api.ask('GET', `/pipelines?keyword=${id}`)).body.pipelines[0].id).toBe(id)
    const { body: about } = await api.ask('GET', `/v1/pipelines/${id}/subjects`)
    const task = about.subjects.find(({ plugin }: any) => plugin === 'jira')
    expect(task).toMatchObject({ title: 'Shop', pluginTitle: 'Jira', source: place })
    const { body: steps } = await api.ask('GET', `/v1/tasks/${task.taskId}/steps`)
    expect(steps.steps.length).toBeGreaterThan(10)
    expect(steps.steps[0]).toMatchObject({ number: 1, isFailed: false })
    expect((await api.ask('GET', '/v1/pipelines/999/subjects')).status).toBe(404)
    expect((await api.ask('GET', '/v1/tasks/999/steps')).status).toBe(404)
  })
})
