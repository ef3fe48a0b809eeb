/** Data that tools push is rebuilt from raw records, counted in projects, and named in configuration files. */
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseConfig } from '../../src/config-as-code/document.ts'
import { exportConfig } from '../../src/config-as-code/export.ts'
import { applyConfig, planConfig } from '../../src/config-as-code/reconcile.ts'
import { webhook } from '../../src/plugins/webhook/plugin.ts'
import { startCalculations } from '../../src/runner/calculations.ts'
import { inProcess, testRunner, until, untilFinished } from '../pipelines/support/test-control.ts'
import { runCli } from '../support/cli.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { runSubtask } from '../support/run-subtask.ts'
import { configContext } from './support/config-context.ts'
import { SECRET_KEY, startTestApi, type TestApi } from './support/test-api.ts'
import { BASE, DONE, deployment, FAILED, issue, pullRequest, webhookClient } from './support/webhook-client.ts'

/** The domain tables that a push fills. */
const TOLD = [
  'cicd_deployments',
  'cicd_deployment_commits',
  'pull_requests',
  'issues',
  'board_issues',
  'incidents',
  'incident_assignees',
]

describeEachWithTables('what is pushed', (test) => {
  let api: TestApi
  beforeAll(async () => {
    api = await startTestApi(test.database)
  })
  afterAll(() => api.close())
  const { connect, rowsOf, expectDone } = webhookClient(
    () => api,
    () => test.database,
  )

  async function runToEnd(pipelineId: number) {
    const runner = await testRunner(api.control, inProcess(api.control))
    const { status, message } = await untilFinished(api.control, pipelineId)
    await runner.stop()
    expect([status, message]).toEqual(['TASK_COMPLETED', ''])
  }

  it('makes everything again from what was sent', async () => {
    const { id } = await connect('rebuilt')
    const place = `${BASE}/connections/${id}`
    await expectDone(`${place}/deployments`, deployment('r-1'))
    await expectDone(`${place}/deployments`, deployment('r-1', { environment: 'STAGING' }))
    await expectDone(`${place}/pull_requests`, pullRequest(1))
    await expectDone(`${place}/issues`, issue('R-1', { type: 'INCIDENT', assigneeId: 'ada' }))
    await expectDone(`${place}/issue/R-1/close`)
    await expectDone(`${place}/issues`, issue('R-2', { type: 'INCIDENT' }))
    await expectDone(`${place}/issues`, issue('R-2', { type: 'BUG' }))
    const written = async () => {
      const rows: any[] = []
      for (const table of TOLD) {
        for (const row of await rowsOf(table, { _raw_data_params: JSON.stringify({ ConnectionId: id }) })) {
          rows.push({ ...row, from: table, created_at: null, updated_at: null })
        }
      }
      return rows
    }
    const before = await written()
    expect(before.map(({ from }) => from)).toEqual([...TOLD.slice(0, 4), ...TOLD.slice(3, 5), ...TOLD.slice(4)])
    for (const table of TOLD) await test.database.kysely.deleteFrom(table).execute()
    await test.database.kysely.deleteFrom('_tool_webhook_issues').execute()
    const plan = [[{ plugin: 'webhook', options: { connectionId: id } }]]
    await runToEnd((await api.ask('POST', '/pipelines', { name: 'rebuild', plan })).body.id)
    expect(await written()).toEqual(before)
    await runToEnd((await api.ask('POST', '/pipelines', { name: 'rebuild again', plan })).body.id)
    expect(await written()).toEqual(before)
    // Messages that arrive during the run are neither overwritten by older ones nor deleted.
    const keys = Array.from({ length: 10 }, (_, index) => `R-${index}`)
    const { body: third } = await api.ask('POST', '/pipelines', { name: 'while messages come', plan })
    await Promise.all([
      runToEnd(third.id),
      ...keys.map((key) => expectDone(`${place}/issues`, issue(key, { title: 'while it works' }))),
    ])
    const issues = await rowsOf('issues', { _raw_data_params: JSON.stringify({ ConnectionId: id }) })
    expect(issues.map(({ issue_key }) => issue_key).sort()).toEqual([...keys].sort())
    expect(new Set(issues.map(({ title }) => title))).toEqual(new Set(['while it works']))
  })

  it('ends as the newest messages say, whether they are taken as they come or all made again', async () => {
    const key = fc.constantFrom('G-1', 'G-2')
    const commit = (sha: string) => ({ ...deployment('').deploymentCommits[0], commitSha: sha.repeat(40) })
    const message = fc.oneof(
      fc.tuple(fc.constant('issues'), key, fc.constantFrom('INCIDENT', 'BUG'), fc.constantFrom('', 'ada', 'bob')),
      fc.tuple(fc.constant('close'), key, fc.constant(''), fc.constant('')),
      fc.tuple(fc.constant('deployments'), key, fc.constantFrom('STAGING', 'PRODUCTION'), fc.constantFrom('a', 'b')),
      fc.tuple(fc.constant('pull_requests'), key, fc.constantFrom('OPEN', 'MERGED'), fc.constant('')),
    )
    let number = 0
    await fc.assert(
      fc.asyncProperty(fc.array(message, { minLength: 2, maxLength: 8 }), async (messages) => {
        const { id } = await connect(`generated ${number++}`)
        const place = `${BASE}/connections/${id}`
        for (const [kind, name, word, other] of messages) {
          if (kind === 'issues') await expectDone(`${place}/issues`, issue(name, { type: word, assigneeId: other }))
          else if (kind === 'close') await api.ask('POST', `${place}/issue/${name}/close`)
          else if (kind === 'pull_requests')
            await expectDone(`${place}/pull_requests`, pullRequest(Number(name.slice(2)), { status: word }))
          else
            await expectDone(
              `${place}/deployments`,
              deployment(`${id} ${name}`, { environment: word, deploymentCommits: [commit(other)] }),
            )
        }
        const made = webhook.tables.filter(({ name }) => /^_tool_webhook_(?!connections)/.test(name))
        const tables = [...made.map(({ name }) => name), ...TOLD]
        const params = JSON.stringify({ ConnectionId: id })
        const written = async () => {
          const rows: string[] = []
          for (const table of tables) {
            for (const { created_at: _created, updated_at: _updated, ...row } of await rowsOf(table, {
              _raw_data_params: params,
            })) {
              rows.push(`${table} ${JSON.stringify(row)}`)
            }
          }
          return rows.sort()
        }
        const rebuild = async () => {
          for (const { name } of webhook.subtasks) {
            await runSubtask(test.database, webhook, name, { connectionId: id }, { fullSync: true })
          }
        }
        const live = await written()
        await rebuild()
        expect(await written()).toEqual(live)
        for (const table of tables) {
          await test.database.kysely.deleteFrom(table).where('_raw_data_params', '=', params).execute()
        }
        await rebuild()
        expect(await written()).toEqual(live)
      }),
      { numRuns: 8 },
    )
  })

  it('counts in the project whose blueprint names it', async () => {
    const { id } = await connect('shop')
    const metrics = [{ pluginName: 'dora', pluginOption: {}, enable: true }]
    const { body: project } = await api.ask('POST', '/projects', { name: 'shop', metrics })
    const blueprint = `/blueprints/${project.blueprint.id}`
    const connections = [{ pluginName: 'webhook', connectionId: id }]
    const patched = await api.ask('PATCH', blueprint, { connections })
    expect(patched).toMatchObject({ status: 200, body: { connections: [{ ...connections[0], scopes: [] }] } })
    expect(patched.body.plan[0]).toEqual([
      {
        plugin: 'org',
        subtasks: ['setProjectMapping'],
        options: {
          projectMappings: [
            {
              projectName: 'shop',
              scopes: ['cicd_scopes', 'boards', 'repos'].map((table) => ({ table, rowId: `webhook:${id}` })),
            },
          ],
        },
      },
    ])
    expect(patched.body.plan.flat().map(({ plugin }: any) => plugin)).toEqual(['org', 'dora', 'refdiff', 'dora'])
    expect(
      await api.ask('PATCH', blueprint, { connections: [{ pluginName: 'webhook', connectionId: 99 }] }),
    ).toMatchObject({ status: 400, body: FAILED })

    await expectDone(`${BASE}/connections/${id}/deployments`, deployment('shop-1'))
    await expectDone(`${BASE}/connections/${id}/issues`, issue('SHOP-9', { type: 'INCIDENT' }))
    await expectDone(`${BASE}/connections/${id}/issue/SHOP-9/close`)
    const read = async (metric: string) => (await api.ask('GET', `/v1/metrics/${metric}?project=shop`)).body.values[0]
    expect((await read('deployment-frequency')).counted).toBe(0)
    await runToEnd((await api.ask('POST', `${blueprint}/trigger`)).body.id)
    expect((await read('deployment-frequency')).counted).toBe(1)
    expect(await read('change-failure-rate')).toMatchObject({ value: 1, counted: 1 })
    const [incident] = await rowsOf('incidents', { id: `webhook:${id}:SHOP-9` })
    expect(incident.status).toBe('DONE')
    expect((await read('time-to-restore-service')).value).toBe(incident.lead_time_minutes)
    expect((await read('failed-deployment-recovery-time')).counted).toBe(1)

    expect((await api.ask('DELETE', `${BASE}/connections/${id}`)).body).toEqual(DONE)
    expect((await api.ask('GET', blueprint)).body.connections).toEqual([])
    await runToEnd((await api.ask('POST', `${blueprint}/trigger`)).body.id)
  })

  describe('without a run', () => {
    const metrics = [{ pluginName: 'dora', pluginOption: {}, enable: true }]
    const make = async (name: string, ids: readonly number[]) => {
      const connections = ids.map((connectionId) => ({ pluginName: 'webhook', connectionId, scopes: [] }))
      const { body } = await api.ask('POST', '/projects', { name, metrics, blueprint: { connections } })
      return body.blueprint.id as number
    }
    const deployed = async (project: string) =>
      (await api.ask('GET', `/v1/metrics/deployment-frequency?project=${project}`)).body.values[0].counted
    const calculationsOf = async (project: string) => {
      const all = (await api.ask('GET', `/pipelines?pageSize=1000&keyword=${project}: numbers`)).body.pipelines as any[]
      return all.filter(({ name }) => name === `${project}: numbers, after what was sent`)
    }
    const wanted = () => rowsOf('_weir_wanted_calculations', {})
    const isWanted = async (blueprint_id: number) =>
      (await rowsOf('_weir_wanted_calculations', { blueprint_id })).some(({ wanted_at }) => wanted_at)
    const HOUR = 3_600_000
    const later = () => new Date(Date.now() + HOUR)
    /** Runs `body` while a runner works, with all duties of a server. */
    async function serve<Result>(body: () => Promise<Result>, options = {}): Promise<Result> {
      const dispatch = inProcess(api.control)
      const runner = await testRunner(api.control, dispatch, { calculationDelayMs: 0, maxParallel: 1, ...options })
      try {
        return await body()
      } finally {
        await runner.stop()
      }
    }

    it('counts in every project that has the connection, a burst in one calculation that collects nothing', async () => {
      const { id } = await connect('soon')
      const blueprint = await make('soon', [id])
      const second = await make('as-soon', [id])
      const other = await make('elsewhere', [])
      for (const each of [1, 2, 3])
        await expectDone(`${BASE}/connections/${id}/deployments`, deployment(`soon-${each}`))
      // The request for a calculation is stored in the database. Until its time has come, nobody starts it.
      expect(await Promise.all([blueprint, second, other].map(isWanted))).toEqual([true, true, false])
      await startCalculations(api.control.context, HOUR)
      expect([await calculationsOf('soon'), await deployed('soon')]).toEqual([[], 0])
      // The calculation does not wait for a run that takes long.
      const long = [[{ plugin: 'org', subtasks: ['sleep'], options: { sleepSeconds: 600 } }]]
      const { body: busy } = await api.ask('POST', '/pipelines', { name: 'long', plan: long })
      const read = async () => [await deployed('soon'), await deployed('as-soon')]
      await serve(async () => {
        await until(async () => (await read()).join() === '3,3')
        await until(async () => (await calculationsOf('soon')).every(({ status }) => status === 'TASK_COMPLETED'))
        expect((await api.ask('GET', `/pipelines/${busy.id}`)).body.status).not.toBe('TASK_COMPLETED')
        await api.ask('DELETE', `/pipelines/${busy.id}`)
      })
      const [run, ...others] = await calculationsOf('soon')
      expect(others).toEqual([])
      expect(run.plan.flat().map(({ plugin }: any) => plugin)).toEqual(['org', 'dora', 'refdiff', 'dora'])
      expect(await calculationsOf('elsewhere')).toEqual([])
      // The last run of the project is still the last one that collected. There is none so far.
      expect((await api.ask('GET', `/blueprints/${blueprint}/pipelines`)).body.count).toBe(0)
      expect(await Promise.all([blueprint, second].map(isWanted))).toEqual([false, false])
      // The next calculation replaces the last one.
      await expectDone(`${BASE}/connections/${id}/deployments`, deployment('soon-4'))
      await serve(() => until(async () => (await deployed('soon')) === 4))
      expect((await calculationsOf('soon')).map((each) => each.id)).not.toContain(run.id)
      expect(await calculationsOf('soon')).toHaveLength(1)
    })

    it('is started by one of several servers, after a restart, and never while the last is under way', async () => {
      const { id } = await connect('restarted')
      await make('restarted', [id])
      await expectDone(`${BASE}/connections/${id}/deployments`, deployment('restarted-1'))
      const { context } = api.control
      await Promise.all([1, 2, 3].map(() => startCalculations(context, 0, later())))
      expect(await calculationsOf('restarted')).toHaveLength(1)
      await expectDone(`${BASE}/connections/${id}/deployments`, deployment('restarted-2'))
      await startCalculations(context, 0, later())
      expect(await calculationsOf('restarted')).toHaveLength(1)
      await serve(() => until(async () => (await deployed('restarted')) === 2))
    })

    it('counts when a connection that has messages is attached', async () => {
      const { id } = await connect('attached later')
      const blueprint = await make('attaching', [])
      await expectDone(`${BASE}/connections/${id}/deployments`, deployment('attached-1'))
      const connections = [{ pluginName: 'webhook', connectionId: id }]
      await api.ask('PATCH', `/blueprints/${blueprint}`, { connections })
      await serve(() => until(async () => (await deployed('attaching')) === 1))
    })

    it('leaves nothing behind for a project that is gone, and says that it is gone', async () => {
      const { id } = await connect('of a project that goes')
      await make('going', [id])
      await expectDone(`${BASE}/connections/${id}/deployments`, deployment('going-1'))
      await startCalculations(api.control.context, 0, later())
      const [run] = await calculationsOf('going')
      expect(await api.ask('DELETE', '/projects/going')).toMatchObject({
        status: 409,
        body: { message: `Pipeline ${run.id} of project going is not finished: wait for it, or cancel it.` },
      })
      await api.ask('DELETE', `/pipelines/${run.id}`)
      await expectDone(`${BASE}/connections/${id}/deployments`, deployment('going-2'))
      expect((await api.ask('DELETE', '/projects/going')).status).toBe(200)
      const before = await Promise.all([
        wanted(),
        rowsOf('_tool_webhook_connections', {}),
        rowsOf('cicd_deployments', {}),
      ])
      await startCalculations(api.control.context, 0, later())
      const sent = await api.ask('POST', `${BASE}/projects/going/deployments`, deployment('going-3'))
      expect(sent).toMatchObject({ status: 404, body: { message: expect.stringMatching(/There is no project going/) } })
      expect(await calculationsOf('going')).toEqual([expect.objectContaining({ id: run.id })])
      const after = await Promise.all([
        wanted(),
        rowsOf('_tool_webhook_connections', {}),
        rowsOf('cicd_deployments', {}),
      ])
      expect(after).toEqual(before)
    })
  })

  it("takes deployments of a project, and makes the project's connection with the first", async () => {
    await api.ask('POST', '/projects', { name: 'a / b' })
    const place = `${BASE}/projects/a%20%2F%20b/deployments`
    await Promise.all([1, 2, 3].map((each) => expectDone(place, deployment(`project-${each}`))))
    const { body } = await api.ask('GET', `${BASE}/connections/by-name/a%20%2F%20b_deployments`)
    expect(body).not.toHaveProperty('apiKey')
    const { blueprint } = (await api.ask('GET', '/projects/a%20%2F%20b')).body
    expect(blueprint.connections).toEqual([{ pluginName: 'webhook', connectionId: body.id, scopes: [] }])
    expect(await rowsOf('cicd_deployments', { cicd_scope_id: `webhook:${body.id}` })).toHaveLength(3)

    // The connection outlives its project. The next project of this name takes it over, as in DevLake. Pages show this by the dates.
    await api.ask('DELETE', '/projects/a%20%2F%20b')
    await api.ask('POST', '/projects', { name: 'a / b' })
    await expectDone(place, deployment('project-4'))
    const again = (await api.ask('GET', '/projects/a%20%2F%20b')).body
    expect(again.blueprint.connections).toEqual(blueprint.connections)
    expect(body.createdAt < again.createdAt).toBe(true)

    await api.ask('DELETE', `/blueprints/${again.blueprint.id}`)
    expect(await api.ask('POST', place, deployment('x'))).toMatchObject({ status: 400, body: FAILED })
    const unknown = `${BASE}/projects/nobody/deployments`
    expect(await api.ask('POST', unknown, deployment('x'))).toMatchObject({ status: 404, body: FAILED })
    await api.ask('POST', '/projects', { name: 'x'.repeat(100) })
    const long = `${BASE}/projects/${'x'.repeat(100)}/deployments`
    expect(await api.ask('POST', long, deployment('x'))).toMatchObject({ status: 400, body: FAILED })
  })

  it('stands in a configuration file without scopes, and the doctor has nothing to ask it', async () => {
    const context = configContext(api)
    const apply = (text: string, isDryRun = false) =>
      (isDryRun ? planConfig : applyConfig)(parseConfig(text, 'weir.yaml', {}), context)
    const file = (connection: string, collect = '{ connection: webhook/from file }') =>
      `connections: { webhook: { from file: ${connection} } }\nprojects: { filed: { collect: [${collect}] } }`
    const planned = await apply(file('{}'), true)
    expect(planned.map(({ subject }) => subject)).toEqual([
      'webhook connection from file',
      'project filed',
      'schedule of filed',
    ])
    expect(await apply(file('{}'))).toEqual(planned)
    expect(await apply(file('{}'))).toEqual([])
    const { body: connection } = await api.ask('GET', `${BASE}/connections/by-name/from%20file`)
    const { blueprint } = (await api.ask('GET', '/projects/filed')).body
    expect(blueprint.connections).toEqual([{ pluginName: 'webhook', connectionId: connection.id, scopes: [] }])
    const exported = await exportConfig(context)
    expect(exported).toContain('- connection: webhook/from file')
    expect(await apply(exported)).toEqual([])
    await expect(apply(file('{ token: x }'))).rejects.toThrow('token is not known. There are none yet.')
    await expect(apply(file('{ scopeConfigs: { x: {} } }'))).rejects.toThrow('webhook has no scope configs')
    await expect(apply(file('{}', '{ connection: webhook/from file, scopes: [x] }'))).rejects.toThrow('has no scopes')
    const github = 'connections: { github: { main: { endpoint: "https://api.github.com/", token: { env: T } } } }'
    const collect = 'projects: { filed: { collect: [{ connection: github/main }] } }'
    const withToken = parseConfig(`${github}\n${collect}`, 'f', { T: 'x' })
    await expect(planConfig(withToken, context)).rejects.toThrow('needs scopes')

    const environment = { DB_URL: test.url, DATA_FOLDER: api.dataFolder, ENCRYPTION_SECRET: SECRET_KEY }
    const { code, output, errors } = await runCli(['doctor', '--json'], environment)
    expect([code, errors]).toEqual([1, ''])
    const { findings } = JSON.parse(output)
    expect(findings.flatMap(({ check, state }: any) => (state === 'bad' ? check : []))).toEqual(['runner'])
    expect(findings.filter(({ check }: any) => check.includes('connection'))).toEqual([])
    expect(findings.map(({ check }: any) => check)).toContain('schedule of filed-Blueprint')
  })
})
