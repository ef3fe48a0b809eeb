/** A project is collected by worker threads from a CircleCI on this machine. */
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ControlPlane } from '../../src/control-plane/control-plane.ts'
import { type Runner, startRunner } from '../../src/runner/runner.ts'
import { createTaskThreads } from '../../src/runner/task-threads.ts'
import { prepareDatabase } from '../../src/start/prepare-database.ts'
import { allTables } from '../../src/tables.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { realControl } from './support/real-control.ts'
import { SECRET_KEY, statesOf, until, untilFinished } from './support/test-control.ts'

const TOKEN = 'planted-circle-token'
const PROJECT = 'gh/acme/web'
const RUNS = 25

interface FakeCircleci {
  readonly server: Server
  readonly url: string
  requests: number
  isLimited: boolean
}

async function startFakeCircleci(): Promise<FakeCircleci> {
  const moment = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString()
  const numbers = Array.from({ length: RUNS }, (_, index) => RUNS - index)
  const answers: [RegExp, (id: string) => unknown][] = [
    [/^\/v2\/me\/collaborations$/, () => []],
    [
      /^\/v2\/project\/.+\/pipeline$/,
      () => ({
        items: numbers.map((number) => ({
          id: `p${number}`,
          project_slug: PROJECT,
          number,
          state: 'created',
          created_at: moment(number),
          updated_at: moment(number),
          vcs: { revision: `sha${number}`, branch: 'main', origin_repository_url: 'https://example.com/acme/web' },
        })),
        next_page_token: null,
      }),
    ],
    [
      /^\/v2\/pipeline\/p(\d+)\/workflow$/,
      (id) => ({
        items: [
          {
            id: `w${id}`,
            pipeline_id: `p${id}`,
            pipeline_number: Number(id),
            name: 'deploy',
            status: 'success',
            created_at: moment(Number(id)),
            stopped_at: moment(Number(id) + 1),
          },
        ],
        next_page_token: null,
      }),
    ],
    [
      /^\/v2\/workflow\/w(\d+)\/job$/,
      (id) => ({
        items: [
          {
            id: `j${id}`,
            name: 'deploy-production',
            status: 'success',
            type: 'build',
            started_at: moment(Number(id)),
            stopped_at: moment(Number(id) + 1),
          },
        ],
        next_page_token: null,
      }),
    ],
  ]
  const fake = { requests: 0, isLimited: false } as FakeCircleci & { server: Server; url: string }
  fake.server = createServer((request, response) => {
    fake.requests++
    const path = new URL(request.url ?? '/', 'http://localhost').pathname
    const [match, answer] = answers.find(([form]) => form.test(path)) ?? []
    const send = (status: number, body: unknown, headers = {}) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
    if (request.headers['circle-token'] !== TOKEN) return send(401, { message: 'who are you' })
    if (fake.isLimited) return send(429, { message: 'slow down' }, { 'retry-after': '3600' })
    if (!match || !answer) return send(404, { message: `no ${path}` })
    return send(200, answer(match.exec(path)?.[1] ?? ''))
  })
  await new Promise<void>((done) => fake.server.listen(0, '127.0.0.1', done))
  fake.url = `http://127.0.0.1:${(fake.server.address() as AddressInfo).port}/`
  return fake
}

describeOneWithTables('collecting a project', (test) => {
  let circleci: FakeCircleci
  let control: ControlPlane
  let runner: Runner
  let blueprintId: number

  beforeAll(async () => {
    await prepareDatabase(test.database)
    circleci = await startFakeCircleci()
    control = realControl(test.database)
    runner = await startRunner(control, {
      dispatch: createTaskThreads({
        databaseUrl: test.url,
        secretKey: SECRET_KEY,
        dataFolder: control.context.dataFolder,
        pluginModule: new URL('../../src/plugins/index.ts', import.meta.url).href,
      }),
      consume: true,
      maxParallel: 1,
      resume: true,
    })
    const { services } = control
    const { id } = await services.connections.create('circleci', { name: 'ci', endpoint: circleci.url, token: TOKEN })
    const rules = { name: 'rules', deploymentPattern: 'deploy', productionPattern: 'production' }
    const { id: scopeConfigId } = await services.scopeConfigs.create('circleci', id, rules)
    await services.scopes.put('circleci', id, [{ id: 'u1', slug: PROJECT, name: 'web', scopeConfigId }])
    const project = await services.projects.create({
      name: 'web',
      metrics: [{ pluginName: 'dora', pluginOption: {}, enable: true }],
      blueprint: {
        timeAfter: new Date('2025-12-01'),
        connections: [{ pluginName: 'circleci', connectionId: id, scopes: [{ scopeId: 'u1' }] }],
      },
    })
    blueprintId = project.blueprint?.id ?? 0
  })
  afterAll(async () => {
    await runner?.stop()
    circleci?.server.close()
    circleci?.server.closeAllConnections()
  })

  const count = async (table: string) => {
    const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(
      test.database.kysely,
    )
    return Number(rows[0]?.count)
  }

  it('goes from the source to the project’s metrics, and knows afterwards what it costs', async () => {
    const { services } = control
    const before = await services.blueprints.preview(blueprintId)
    expect(before.tasks.map(({ plugin, basis }) => `${plugin} ${basis}`)).toEqual([
      'org unknown',
      'circleci unknown',
      'dora unknown',
      'refdiff unknown',
      'dora unknown',
    ])
    const { id } = await services.blueprints.trigger(blueprintId)
    const pipeline = await untilFinished(control, id)
    expect(pipeline).toMatchObject({ status: 'TASK_COMPLETED', message: '', finishedTasks: 5 })
    expect(await count('cicd_pipelines')).toBe(RUNS)
    expect(await count('cicd_deployments')).toBe(RUNS)
    const { rows } = await sql<{ row_id: string }>`select row_id from project_mapping
      where project_name = 'web'`.execute(test.database.kysely)
    expect(rows.map(({ row_id }) => row_id)).toEqual([`circleci:CircleciProject:1:${PROJECT}`])
    const after = await services.blueprints.preview(blueprintId)
    expect(after.tasks.every(({ basis }) => basis === 'last run')).toBe(true)
    expect(after.requests).toBe(circleci.requests)
    const [state] = await services.scopes.latestSyncState('circleci', 1, 'u1')
    expect(state?.latest_success_start).toBeInstanceOf(Date)
  })

  it('ends at once when cancelled while it waits for the source’s limit', async () => {
    circleci.isLimited = true
    const { services } = control
    const { id } = await services.blueprints.trigger(blueprintId, { fullSync: true })
    const waiting = await until(async () =>
      (await services.pipelines.tasks(id)).find(({ progressDetail }) => progressDetail?.waitingUntil),
    )
    expect(waiting.plugin).toBe('circleci')
    expect((waiting.progressDetail?.waitingUntil?.getTime() ?? 0) - Date.now()).toBeGreaterThan(3_000_000)
    await services.pipelines.cancel(id)
    const asked = Date.now()
    const pipeline = await untilFinished(control, id)
    expect(pipeline.status).toBe('TASK_CANCELLED')
    // The source asked to wait for an hour. Whether this takes less than a second on a quiet machine is left to a benchmark.
    expect(Date.now() - asked).toBeLessThan(30_000)
    expect(statesOf(await services.pipelines.tasks(id))).toEqual([
      '1.1 TASK_COMPLETED',
      '2.1 TASK_CANCELLED',
      '3.1 TASK_CANCELLED',
      '4.1 TASK_CANCELLED',
      '5.1 TASK_CANCELLED',
    ])
    circleci.isLimited = false
    // The source told these settings to wait for an hour. With other settings the connection starts again.
    await services.connections.update('circleci', 1, { rateLimitPerHour: 100_000 })
    await services.pipelines.rerun(id)
    expect(await untilFinished(control, id)).toMatchObject({ status: 'TASK_COMPLETED' })
    expect(await count('cicd_deployments')).toBe(RUNS)
  })

  it('tells which connection is refused, and keeps its token out of everything', async () => {
    const { services } = control
    await services.connections.update('circleci', 1, { token: 'planted-wrong-token' })
    const { id } = await services.blueprints.trigger(blueprintId)
    const pipeline = await untilFinished(control, id)
    expect(pipeline.status).toBe('TASK_PARTIAL')
    expect(pipeline.message).toContain('"ci"')
    const { subtasks } = await services.pipelines.subtasks(id)
    expect(subtasks[0]?.subtaskDetails.some(({ isFailed, message }) => isFailed && message.includes('"ci"'))).toBe(true)
    const folder = join(control.context.dataFolder, 'logs')
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) expect(readFileSync(join(entry.parentPath, entry.name), 'utf8')).not.toContain('planted')
    }
    for (const { name } of allTables) {
      const { rows } = await sql`select * from ${sql.table(name)} limit 1000`.execute(test.database.kysely)
      const text = JSON.stringify(rows, (_key, value) =>
        value?.type === 'Buffer'
          ? Buffer.from(value.data).toString('latin1')
          : typeof value === 'bigint'
            ? `${value}`
            : value,
      )
      expect(text, name).not.toContain('planted')
    }
  })
})
