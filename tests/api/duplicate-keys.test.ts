/** A name that is taken is an error of the user. Any other duplicate key is an error in Weir, and is logged. */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { insertRow, insertRows, updateRows } from '../../src/control-plane/store.ts'
import { isDuplicate } from '../../src/database/explain.ts'
import type { AnyTable } from '../../src/database/table.ts'
import { UserError } from '../../src/errors.ts'
import { plugins } from '../../src/plugins/index.ts'
import { sharedDashboards } from '../../src/system/dashboards.ts'
import { pipelineLabels } from '../../src/system/pipelines.ts'
import { projectMetricSettings, projects } from '../../src/system/projects.ts'
import { allTables } from '../../src/tables.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const TAKEN = /^Something with this name already exists: choose another name\.$/

describeEachWithTables('a key that exists already', (test) => {
  let api: TestApi
  beforeAll(async () => {
    api = await startTestApi(test.database)
  })
  afterAll(() => api.close())
  const table = (end: string) => allTables.filter(({ name }) => name.endsWith(end))
  const failure = (work: Promise<unknown>) =>
    work.then(
      () => undefined,
      (error: unknown) => error,
    )

  it('is a taken name in every table of connections, scope configs and projects', async () => {
    const { kysely } = test.database
    const named = [projects, ...table('_connections'), ...table('_scope_configs')].filter(
      ({ name }) => name === 'projects' || name.startsWith('_tool_'),
    )
    expect(named.length).toBeGreaterThan(plugins.filter(({ source }) => source).length)
    for (const each of named) {
      const row = { name: 'taken', connection_id: 1 }
      await insertRow(kysely, each, row)
      const error = await failure(insertRow(kysely, each, row))
      expect([each.name, error]).toEqual([each.name, expect.any(UserError)])
      expect((error as Error).message).toMatch(TAKEN)
      await insertRow(kysely, each, { ...row, name: 'free' })
      const changed = await failure(updateRows(kysely, each, { name: 'free' }, { name: 'taken' }))
      expect((changed as Error).message, each.name).toMatch(TAKEN)
      await sql`delete from ${sql.table(each.name)}`.execute(kysely)
    }
  })

  it('is a taken name under an index that DevLake has named, too', async () => {
    const { kysely, dialect } = test.database
    const [connections] = table('_tool_github_connections') as [(typeof allTables)[number]]
    await sql.raw(dialect.dropIndex(connections.name, `idx_${connections.name}_name`)).execute(kysely)
    await sql.raw(`create unique index uni_other on ${dialect.quote(connections.name)} (name)`).execute(kysely)
    await insertRow(kysely, connections, { name: 'taken' })
    expect(await failure(insertRow(kysely, connections, { name: 'taken' }))).toBeInstanceOf(UserError)
    await sql`delete from ${sql.table(connections.name)}`.execute(kysely)
  })

  it('is no name in a table of our own: the error of the database stays what it is', async () => {
    const { kysely } = test.database
    const cases: [AnyTable, Record<string, unknown>][] = [
      [pipelineLabels, { pipeline_id: 7, name: 'x' }],
      [projectMetricSettings, { project_name: 'shop', plugin_name: 'dora' }],
      [sharedDashboards, { token_digest: 'd'.repeat(64) }],
    ]
    for (const [each, row] of cases) {
      await insertRows(kysely, each, [row])
      const error = await failure(insertRows(kysely, each, [row]))
      expect([each.name, isDuplicate(error), error instanceof UserError]).toEqual([each.name, true, false])
      await sql`delete from ${sql.table(each.name)}`.execute(kysely)
    }
  })

  it('of our own is a 500 with a line in the log, and nothing is changed', async () => {
    const { kysely } = test.database
    const pipeline = { name: 'by hand', plan: [[{ plugin: 'dora', options: { projectName: 'shop' } }]] }
    const first = await api.ask('POST', '/pipelines', { ...pipeline, labels: ['one', 'one '] })
    expect([first.status, first.body.labels]).toEqual([201, ['one']])
    await insertRow(kysely, pipelineLabels, { pipeline_id: first.body.id + 1, name: 'two' })
    const before = api.log().length
    const sent = { method: 'POST', url: '/pipelines', payload: { ...pipeline, labels: ['two'] } } as const
    const { statusCode, payload } = await api.server.inject(sent)
    expect(statusCode).toBe(500)
    expect(payload).not.toMatch(/already exists|duplicate/i)
    expect(api.log().slice(before)).toMatch(/"level":50.*duplicate|duplicate.*"level":50/i)
    expect((await api.ask('GET', '/pipelines')).body.count).toBe(1)
  })

  it('a stored value that many write at once is written each time', async () => {
    const values = Array.from({ length: 8 }, (_, index) => index)
    const answers = await Promise.all(values.map((value) => api.ask('PUT', '/store/at-once', { value })))
    expect(answers.map(({ status }) => status)).toEqual(values.map(() => 201))
  })
})
