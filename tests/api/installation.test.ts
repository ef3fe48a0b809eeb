/** The data about an installation on the first page and in the settings. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { recordUse } from '../../src/control-plane/connections/connection-states.ts'
import { collectedElsewhere } from '../../src/control-plane/projects/collected-elsewhere.ts'
import { write } from '../../src/database/write.ts'
import { projectMapping } from '../../src/domain/crossdomain.ts'
import { cicdDeploymentCommits } from '../../src/domain/devops.ts'
import { gaps } from '../../src/plugin-kit/raw/gaps.ts'
import { rawTable } from '../../src/plugin-kit/raw/raw-table.ts'
import { receipts } from '../../src/plugin-kit/raw/receipts.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

describeEachWithTables('the state of an installation', (test) => {
  let api: TestApi
  const params = (connectionId: number) => JSON.stringify({ ConnectionId: connectionId, Name: 'acme/web' })
  let connectionId: number
  beforeAll(async () => {
    api = await startTestApi(test.database)
    const { body } = await api.ask('POST', '/plugins/github/connections', {
      name: 'main',
      endpoint: 'https://api.github.com/',
      authMethod: 'AccessToken',
      token: 'ghp_secret',
    })
    connectionId = body.id
    const scope = { githubId: 7, name: 'web', fullName: 'acme/web' }
    expect((await api.ask('PUT', `/plugins/github/connections/${connectionId}/scopes`, { data: [scope] })).status).toBe(
      200,
    )
  })
  afterAll(() => api.close())

  it('is in need of nothing at first', async () => {
    expect((await api.ask('GET', '/v1/attention')).body).toEqual({
      standing: [],
      isWhole: true,
      hasRun: false,
      runs: [],
      causes: [],
    })
    expect((await api.ask('GET', '/v1/overview')).body).toEqual({ count: 0, projects: [] })
  })

  it('names failed runs, connections in trouble and gaps', async () => {
    const { body: project } = await api.ask('POST', '/projects', { name: 'shop' })
    const plan = [[{ plugin: 'dora', options: { projectName: 'shop' } }]]
    const { body: run } = await api.ask('POST', '/pipelines', {
      name: 'nightly',
      plan,
      blueprintId: project.blueprint.id,
    })
    const failed = { status: 'TASK_FAILED', message: 'the token is wrong\nsecond line', finished_at: new Date() }
    await test.database.kysely.updateTable('_devlake_pipelines').set(failed).where('id', '=', run.id).execute()
    const of = { plugin: 'github', params: params(connectionId), subtask: 'collectIssues' }
    await recordUse(test.database.kysely, { plugin: 'github', connectionId, failure: '401' })
    const issues = { ...of, raw_table: '_raw_github_api_issues' }
    await write(test.database, [
      // Two parts of one list failed, another list failed as a whole, and one list arrived.
      ...['', 'page 2'].map((list) =>
        gaps.row({ ...issues, list, kind: 'lost', address: '/issues', reason: 'too many requests', attempts: 1 }),
      ),
      receipts.row({ ...issues, status: 'gap' }),
      receipts.row({ ...of, raw_table: '_raw_github_api_runs', status: 'failed' }),
      receipts.row({ ...of, raw_table: '_raw_github_api_jobs', status: 'complete' }),
    ])
    const { body: listed } = await api.ask('GET', '/v1/receipts')
    expect(listed.receipts.filter(({ status }: any) => status !== 'complete')).toHaveLength(2)
    const { body } = await api.ask('GET', '/v1/attention')
    expect(body).toEqual({
      standing: [],
      isWhole: true,
      hasRun: true,
      runs: [{ id: run.id, project: 'shop' }],
      causes: [
        {
          kind: 'list',
          sentence: '2 lists of 1 scope of GitHub did not come whole, so numbers rest on less than there is.',
          remedy: expect.any(String),
          page: '/runs/health',
          cost: 2,
          details: ['too many requests'],
        },
        {
          kind: 'connection',
          sentence: 'GitHub connection main does not work.',
          remedy: expect.stringMatching(/Test the connection/),
          page: `/sources/github/${connectionId}`,
          cost: 1,
          details: ['401'],
        },
        {
          kind: 'run',
          sentence: 'The last run of shop failed.',
          remedy: expect.any(String),
          page: `/runs/${run.id}`,
          cost: 1,
          details: [expect.stringMatching(new RegExp(`In run ${run.id}, .*the token is wrong`)), 'the token is wrong'],
        },
      ],
    })
    // A run can fail for other reasons than the connection, so the answer says only that it failed.
    await recordUse(test.database.kysely, { plugin: 'github', connectionId, failure: '404', pipelineId: run.id })
    const causes = async () => (await api.ask('GET', '/v1/attention')).body.causes
    // Both are one cause, and the message of the run is folded below it.
    expect((await causes()).map(({ kind }: any) => kind)).toEqual(['list', 'connection'])
    expect((await causes())[1]).toMatchObject({
      sentence: 'The last collection through GitHub connection main failed.',
      details: ['404', 'the token is wrong'],
    })
    expect((await api.ask('GET', '/v1/connections')).body).toMatchObject([{ failedRun: run.id, state: 'fails' }])
    await recordUse(test.database.kysely, { plugin: 'github', connectionId, failure: '401' })
    expect((await causes()).map(({ kind }: any) => kind)).toEqual(['list', 'connection', 'run'])
  })

  it('says why a project has no numbers', async () => {
    const { body } = await api.ask('GET', '/v1/overview')
    expect(body).toMatchObject({
      count: 1,
      projects: [{ name: 'shop', lastRun: { status: 'TASK_FAILED' }, why: expect.stringMatching(/Nothing is chosen/) }],
    })
    expect(body.projects[0].keys.map(({ value }: any) => value)).toEqual([null, null, null, null])
  })

  it('says on the first page, too, that numbers rest on part of the data', async () => {
    const finished_date = new Date(Date.now() - 86_400_000)
    await write(test.database, [
      projectMapping.row({ project_name: 'shop', table: 'cicd_scopes', row_id: 'scope' }),
      cicdDeploymentCommits.row({
        id: 'd',
        cicd_deployment_id: 'd',
        cicd_scope_id: 'scope',
        commit_sha: 'd',
        repo_url: 'x',
        result: 'SUCCESS',
        environment: 'PRODUCTION',
        finished_date,
      }),
    ])
    const { body } = await api.ask('GET', '/v1/overview')
    const { partial } = (await api.ask('GET', '/v1/partial-data?project=shop')).body
    expect(partial).toMatchObject([{ kind: 'run' }])
    expect(body.projects[0]).toMatchObject({ why: null, partial: partial.map(({ seen }: any) => seen) })
    for (const table of ['project_mapping', 'cicd_deployment_commits']) {
      await test.database.kysely.deleteFrom(table).execute()
    }
  })

  it('says whose run collected the data of a project that never ran', async () => {
    const connections = [{ pluginName: 'github', connectionId, scopes: [{ scopeId: '7' }] }]
    const make = async (name: string) => (await api.ask('POST', '/projects', { name })).body.blueprint.id
    const [sharing, collecting] = [await make('sharing'), await make('collecting')]
    for (const id of [sharing, collecting]) {
      expect((await api.ask('PATCH', `/blueprints/${id}`, { connections })).status).toBe(200)
    }
    const asked = async () => {
      const { projects } = (await api.ask('GET', '/v1/overview')).body
      const { collectedBy } = (await api.ask('GET', '/v1/partial-data?project=sharing')).body
      const tile = projects.find(({ name }: any) => name === 'sharing')
      expect(tile.collectedBy).toEqual(collectedBy)
      return tile
    }
    expect(await asked()).toMatchObject({
      collectedBy: null,
      lastRun: null,
      why: 'Nothing was collected yet: start a run.',
    })
    const plan = [[{ plugin: 'dora', options: { projectName: 'collecting' } }]]
    const { body: run } = await api.ask('POST', '/pipelines', { name: 'x', plan, blueprintId: collecting })
    const setRun = (values: object) =>
      test.database.kysely.updateTable('_devlake_pipelines').set(values).where('id', '=', run.id).execute()
    await setRun({ status: 'TASK_FAILED', finished_at: new Date() })
    expect(await asked()).toMatchObject({ collectedBy: null })
    await setRun({ status: 'TASK_COMPLETED' })
    expect(await asked()).toMatchObject({
      collectedBy: { project: 'collecting', run: run.id, finishedAt: expect.any(String) },
      why: 'This project has not run yet, so nothing was calculated for it: start a run.',
    })
    expect(await collectedElsewhere({ database: test.database }, 'sharing', ['sharing'])).toMatchObject({
      project: null,
      run: null,
    })
    expect(await collectedElsewhere({ database: test.database }, 'collecting')).toBe(undefined)
    for (const name of ['sharing', 'collecting']) await api.ask('DELETE', `/projects/${name}`)
  })

  it('tells how much is stored, by table and by scope', async () => {
    const raw = rawTable('github_api_issues')
    const rows = [1, 2, 3].map((each) => ({
      params: params(connectionId),
      data: Buffer.from(`{"id":${each}}`),
      url: '',
    }))
    await write(
      test.database,
      rows.map((row) => raw.row(row)),
    )
    const { body } = await api.ask('GET', '/v1/storage')
    expect(body.tables.map(({ name }: any) => name)).toContain('_raw_github_api_issues')
    expect(body.bytes).toBeGreaterThan(0)
    expect(body.uncounted).toEqual([])
    expect(body.scopes).toEqual([
      { plugin: 'github', connectionId, scopeId: '7', scopeName: 'acme/web', records: 3, bytes: expect.any(Number) },
    ])
    expect((await api.ask('GET', '/v1/storage')).body.countedAt).toBe(body.countedAt)
  })

  it('examines itself', async () => {
    const { findings } = (await api.ask('GET', '/v1/health')).body
    expect(findings.map(({ check, state }: any) => [check, state])).toEqual([
      ['encryption key', 'good'],
      ['database', 'good'],
      ['clock', 'good'],
      ['disk', 'good'],
      // A server without a runner does not execute runs.
      ['runner', 'bad'],
    ])
  })
})
