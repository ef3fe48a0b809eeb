import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { schemaVersions } from '../../src/database/migrate.ts'
import type { RawRecord } from '../../src/database/table.ts'
import { until } from '../pipelines/support/test-control.ts'
import { type Cli, runCli, startCli } from '../support/cli.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { freePort } from '../support/servers.ts'

describeOneWithTables('weir worker beside weir up', (test) => {
  const folder = () => mkdtempSync(join(tmpdir(), 'weir-worker-'))
  const ENCRYPTION_SECRET = 'the same key for all of them'
  let server: Cli
  let worker: Cli
  let address: string
  let metricsPort: number
  const environment = () => ({
    DB_URL: test.url,
    RUN_TASKS_ON: 'workers',
    ENCRYPTION_SECRET,
    PORT: '0',
    LOGGING_LEVEL: 'info',
    DATA_FOLDER: folder(),
  })
  const ask = async (path: string, body?: object): Promise<RawRecord> => {
    const answer = await fetch(`${address}${path}`, {
      ...(body && { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    return answer.headers.get('content-type')?.includes('json') ? answer.json() : answer.text()
  }

  beforeAll(async () => {
    server = startCli(['up'], environment())
    address = (await server.saw(/ready at (\S+)/))[1] as string
    metricsPort = await freePort()
    const clock = { NODE_OPTIONS: `--import=${new URL('./support/clock-ahead.mjs', import.meta.url)}` }
    worker = startCli(['worker', '--concurrency', '3'], {
      ...environment(),
      ...clock,
      METRICS_PORT: String(metricsPort),
    })
    await worker.saw(/worker ready/)
  })
  afterAll(async () => {
    server?.kill('SIGTERM')
    worker?.kill('SIGTERM')
    await Promise.all([server?.ended, worker?.ended])
  })

  it('tells that its clock is five minutes ahead', async () => {
    await worker.saw(/The clock of this machine is (299|300) seconds ahead of that of the database/)
  })

  it('runs its tasks, whatever its clock says, and stores their logs', async () => {
    const task = { plugin: 'dora', subtasks: [], options: { projectName: 'shop' } }
    const { id } = await ask('/pipelines', { name: 'dora', plan: [[task]] })
    const { status } = await until(async () => {
      const pipeline = await ask(`/pipelines/${id}`)
      return /COMPLETED|FAILED|CANCELLED/.test(pipeline.status) && pipeline
    })
    expect(status).toBe('TASK_COMPLETED')
    expect(worker.errors()).toContain('ends: TASK_COMPLETED')
    const { tasks } = await ask(`/pipelines/${id}/tasks`)
    const log = await ask(`/v1/tasks/${tasks[0].id}/log`)
    expect(log).toContain(`task ${tasks[0].id} begins: dora`)
    expect(log).toContain('completed')
    expect((await fetch(`http://127.0.0.1:${metricsPort}/ping`)).status).toBe(200)
    const measures = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
    expect(measures).toMatch(/weir_task_duration_seconds_count\{.*plugin="dora".*\} 1/)
  })

  it('is shown with what waits', async () => {
    expect(await ask('/v1/queue')).toMatchObject({
      runTasksOn: 'workers',
      redis: 'reachable',
      workers: [{ concurrency: 3, isDraining: false, tasks: [] }],
      waiting: [],
    })
    await until(async () => {
      const { findings } = await ask('/v1/health')
      const { message } = findings.find(({ check }: { check: string }) => check === 'runner')
      return message.startsWith('1 server at work with 1 worker;')
    })
  })

  it('refuses what cannot work, with a sentence', async () => {
    const fails = async (changes: Record<string, string>, parameters: readonly string[] = [], command = 'worker') => {
      const { code, errors } = await runCli([command, ...parameters], { ...environment(), ...changes })
      expect(code).toBe(1)
      return errors
    }
    const empty = await test.createDatabase()
    const refusals = await Promise.all([
      fails({ ENCRYPTION_SECRET: 'a key of somebody else' }),
      fails({ RUN_TASKS_ON: 'cluster' }),
      fails({ DB_URL: '' }),
      fails({}, ['--concurrency', 'many']),
      fails({ DB_URL: empty }),
      fails({ DB_URL: '' }, [], 'up'),
      fails({ DB_URL: '', RUN_TASKS_ON: '', QUEUE_URL: 'any://host' }, [], 'up'),
    ])
    const alone = 'RUN_TASKS_ON=workers needs a database that workers reach'
    expect(refusals).toEqual([
      expect.stringContaining('is not the one that this database was set up with'),
      expect.stringContaining('RUN_TASKS_ON is wrong: must be server or workers'),
      expect.stringContaining('DB_URL is not set'),
      expect.stringContaining('--concurrency must be a number from 1 to 100'),
      expect.stringContaining('start a server on it first'),
      expect.stringContaining(alone),
      expect.stringContaining(alone),
    ])
  })

  it('stops when it is asked to, and does not start with code that is older than the database', {
    timeout: 240_000,
  }, async () => {
    worker.kill('SIGTERM')
    expect(await worker.ended).toBe(0)
    expect(await until(async () => (await ask('/v1/queue')).workers.length === 0)).toBe(true)
    const newer = { version: 999, created_at: new Date() }
    await test.database.kysely.insertInto(schemaVersions.name).values(newer).execute()
    const { code, errors } = await runCli(['worker'], environment())
    expect(code).toBe(1)
    expect(errors).toContain('made by a newer Weir')
  })
})
