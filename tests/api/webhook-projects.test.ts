/** What becomes of what tools push: rebuilt from raw, counted in projects, named in configuration files. */
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parseConfig } from '../../src/config-as-code/document.ts'
import { exportConfig } from '../../src/config-as-code/export.ts'
import { applyConfig, planConfig } from '../../src/config-as-code/reconcile.ts'
import { webhook } from '../../src/plugins/webhook/plugin.ts'
import { inProcess, testRunner, untilFinished } from '../pipelines/support/test-control.ts'
import { runCli } from '../support/cli.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { runSubtask } from '../support/run-subtask.ts'
import { configContext } from './support/config-context.ts'
import { SECRET_KEY, startTestApi, type TestApi } from './support/test-api.ts'
import { BASE, DONE, deployment, FAILED, issue, pullRequest, webhookClient } from './support/webhook-client.ts'

describeEachDatabase('what is pushed', (test) => {
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
    const tables = [
      ...['cicd_deployments', 'cicd_deployment_commits', 'pull_requests'],
      ...['issues', 'board_issues', 'incidents', 'incident_assignees'],
    ]
    const written = async () => {
      const rows: any[] = []
      for (const table of tables) {
        for (const row of await rowsOf(table, { _raw_data_params: JSON.stringify({ ConnectionId: id }) })) {
          rows.push({ ...row, from: table, created_at: null, updated_at: null })
        }
      }
      return rows
    }
    const before = await written()
    expect(before.map(({ from }) => from)).toEqual([...tables.slice(0, 4), ...tables.slice(3, 5), ...tables.slice(4)])
    for (const table of tables) await test.database.kysely.deleteFrom(table).execute()
    await test.database.kysely.deleteFrom('_tool_webhook_issues').execute()
    const plan = [[{ plugin: 'webhook', options: { connectionId: id } }]]
    await runToEnd((await api.ask('POST', '/pipelines', { name: 'rebuild', plan })).body.id)
    expect(await written()).toEqual(before)
    await runToEnd((await api.ask('POST', '/pipelines', { name: 'rebuild again', plan })).body.id)
    expect(await written()).toEqual(before)
    // Whatever comes while it works is neither overwritten by older messages nor swept away.
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
        const tables = [
          ...made.map(({ name }) => name),
          ...['cicd_deployments', 'cicd_deployment_commits', 'pull_requests'],
          ...['issues', 'board_issues', 'incidents', 'incident_assignees'],
        ]
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

  it("takes deployments of a project, and makes the project's connection with the first", async () => {
    await api.ask('POST', '/projects', { name: 'a / b' })
    const place = `${BASE}/projects/a%20%2F%20b/deployments`
    await Promise.all([1, 2, 3].map((each) => expectDone(place, deployment(`project-${each}`))))
    const { body } = await api.ask('GET', `${BASE}/connections/by-name/a%20%2F%20b_deployments`)
    expect(body).not.toHaveProperty('apiKey')
    const { blueprint } = (await api.ask('GET', '/projects/a%20%2F%20b')).body
    expect(blueprint.connections).toEqual([{ pluginName: 'webhook', connectionId: body.id, scopes: [] }])
    expect(await rowsOf('cicd_deployments', { cicd_scope_id: `webhook:${body.id}` })).toHaveLength(3)

    await api.ask('DELETE', `/blueprints/${blueprint.id}`)
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
