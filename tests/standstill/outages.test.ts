/** One outage after the other, with real servers, workers, databases and a full disk: each is reported in all places. */
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import type { ControlPlane } from '../../src/control-plane/control-plane.ts'
import { THRESHOLDS } from '../../src/runner/standstill/thresholds.ts'
import { type FakeFleet, startFakeFleet } from '../fake-fleet/fake-fleet.ts'
import { SECRET_KEY as KEY, until, untilFinished } from '../pipelines/support/test-control.ts'
import { runCli } from '../support/cli.ts'
import { describeEachWithTables, describeOneWithTables, type TestDatabase } from '../support/databases.ts'
import { type Gateway, openGateway } from '../support/gateway.ts'
import { runStatement } from '../support/servers.ts'
import { fillDisk, mayMount, mountSmallDisk, type SmallDisk } from '../support/small-disk.ts'
import { sharedBrowser } from '../web/support/browser.ts'
import { addBoards, type Fleet, openFleet } from '../workers/support/fleet.ts'
import {
  expectOver,
  expectTold,
  findings,
  newFolder,
  type StandingServer,
  startServer,
} from './support/standing-servers.ts'

const HELD_UP_MS = 600_000
let first = 1

/** Starts a run of one board whose vendor is slow or refuses. Returns its id as soon as it is stored. */
async function startRun(control: ControlPlane, vendor: FakeFleet): Promise<number> {
  const [task] = await addBoards(control, { name: `board ${first}`, endpoint: vendor.url, count: 1, first })
  first++
  return (await control.services.pipelines.create({ name: 'run', plan: [[task!]] })).id
}
const untilAsked = (vendor: FakeFleet, before: number) => until(async () => vendor.asked > before)

describeEachWithTables('the collection stands still because of the database', (test) => {
  let gateway: Gateway
  let vendor: FakeFleet
  let fleet: Fleet
  let server: StandingServer
  let run: number
  const dataFolder = newFolder()
  const place = () => ({ server, run, machine: { url: gateway.url, dataFolder } })

  beforeAll(async () => {
    vendor = await startFakeFleet()
    vendor.latencyMs = HELD_UP_MS
    fleet = await openFleet({ url: test.url, database: test.database })
    gateway = await openGateway(await loginOf(test))
    server = await startServer({ url: gateway.url, dataFolder })
    run = await startRun(fleet.control, vendor)
    await untilAsked(vendor, 0)
  })
  afterAll(async () => {
    await server?.kill('SIGKILL')
    await fleet?.close()
    await gateway?.close()
    vendor?.close()
  })

  it('when it is slow', async () => {
    gateway.delay(80)
    const sentence = /The database is slow: .* took [0-9.]+ seconds/
    await expectTold(place(), { cause: 'database_slow', severity: 'warning', sentence })
    gateway.delay(0)
    await expectOver(place(), 'database_slow')
  })

  it('when it accepts no changes', async () => {
    const accept = await refuseChanges(test)
    const sentence = /does not accept changes/
    await expectTold(place(), { cause: 'database_read_only', severity: 'critical', sentence })
    expect(await server.ask('/metrics')).toContain('weir_database_writable 0')
    await accept()
    await expectOver(place(), 'database_read_only')
    expect(await server.ask('/metrics')).toContain('weir_database_writable 1')
  })

  it('when it is away, which the memory of the server knows', async () => {
    await gateway.stop()
    // The last known state of the queue stays visible.
    const { isWhole } = await until(async () => {
      const answer = await server.ask('/v1/attention')
      return answer.standing.some((each: any) => each.cause === 'database_slow') && answer
    })
    expect(isWhole).toBe(false)
    await expectTold(place(), {
      cause: 'database_slow',
      severity: 'critical',
      sentence: /database.* (answer|No)|No database/,
    })
    await gateway.start()
    await expectOver(place(), 'database_slow')
    expect(await server.ask('/v1/attention')).toMatchObject({ isWhole: true })
  })

  it('when the server of a run is gone, and the one that is left takes no runs', async () => {
    const other = await startServer({ url: gateway.url, consume: false })
    await server.kill('SIGKILL')
    const left = { ...place(), server: other }
    await expectTold(left, {
      cause: 'queue_not_moving',
      severity: 'critical',
      sentence: /Run \d+ stands still: the server that ran/,
    })
    server = await startServer({ url: gateway.url, dataFolder })
    await expectOver(left, 'queue_not_moving')
    await other.kill('SIGKILL')
  })
})

/** On MySQL an administrator may still change data in a read-only server, so the server signs in as another user. */
async function loginOf({ engine, url }: TestDatabase): Promise<string> {
  if (engine === 'postgres') return url
  const own = new URL(url)
  const name = own.pathname.slice(1)
  await runStatement.mysql(url, `create user ${name} identified by 'for-tests'`)
  await runStatement.mysql(url, `grant all on ${name}.* to ${name}`)
  own.username = name
  own.password = 'for-tests'
  return own.href
}

/** Makes the database refuse changes, for the server under test only. Returns a function that undoes it. */
async function refuseChanges({ engine, url }: TestDatabase): Promise<() => Promise<void>> {
  const administrator = inject('databaseServers')[engine] ?? ''
  const run = (statement: string) => runStatement[engine](administrator, statement)
  if (engine === 'mysql') {
    await run('set global read_only = 1')
    return async () => void (await run('set global read_only = 0'))
  }
  const name = new URL(url).pathname.slice(1)
  const reconnect = () => run(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`)
  await run(`alter database ${name} set default_transaction_read_only = on`)
  await reconnect()
  return async () => {
    await run(`alter database ${name} reset default_transaction_read_only`)
    await reconnect()
  }
}

describeOneWithTables('the collection stands still', (test) => {
  let vendor: FakeFleet
  let fleet: Fleet
  let small: SmallDisk | undefined
  const servers: StandingServer[] = []
  const start = async (...parameters: Parameters<typeof startServer>) => {
    const server = await startServer(...parameters)
    servers.push(server)
    return server
  }

  beforeAll(async () => {
    vendor = await startFakeFleet()
    fleet = await openFleet({ url: test.url, database: test.database })
    await fleet.control.services.projects.create({ name: 'shop' })
  })
  afterAll(async () => {
    for (const server of servers) await server.kill('SIGKILL')
    await fleet?.close()
    vendor?.close()
    small?.release()
  })

  it.skipIf(!mayMount())('not for its log when the disk is full, and two pages say so', async () => {
    small = mountSmallDisk() as SmallDisk
    const disk = small.folder
    const dataFolder = join(disk, 'data')
    const server = await start({ url: test.url, dataFolder })
    vendor.latencyMs = HELD_UP_MS
    const held = await startRun(fleet.control, vendor)
    await untilAsked(vendor, 0)
    const free = fillDisk(disk)
    const place = { server, run: held, machine: { url: test.url, dataFolder } }
    const sentence = /The disk of the data folder is full: 0 MB free of 20 MB/
    await expectTold(place, { cause: 'disk_full', severity: 'critical', sentence })
    const doctor = await runCli(['doctor'], { DB_URL: test.url, DATA_FOLDER: dataFolder, ENCRYPTION_SECRET: KEY })
    expect(doctor.output).toMatch(/^bad +disk: The disk of the data folder is full/m)
    expect(doctor.code).toBe(1)

    const page = await (await sharedBrowser()).newPage()
    await page.goto(server.url)
    await page.getByText(sentence).waitFor()
    await page.goto(`${server.url}/runs/${held}`)
    await page.getByText(sentence).waitFor()
    await page.close()

    await fleet.control.services.pipelines.cancel(held)
    await untilFinished(fleet.control, held)
    vendor.latencyMs = 0
    const run = await startRun(fleet.control, vendor)
    expect((await untilFinished(fleet.control, run)).status).toBe('TASK_COMPLETED')
    free()
    await expectOver(place, 'disk_full')
    await server.kill('SIGTERM')
  })

  it('when a source refuses', async () => {
    const dataFolder = newFolder()
    const server = await start({ url: test.url, dataFolder })
    vendor.status = 429
    const run = await startRun(fleet.control, vendor)
    const place = { server, run, machine: { url: test.url, dataFolder } }
    const sentence = /The source of connection board \d+ refuses the last .*: the answer was 429/
    await expectTold(place, { cause: 'source_refuses', severity: 'warning', sentence })
    vendor.status = 0
    await expectOver(place, 'source_refuses')
    expect((await untilFinished(fleet.control, run)).status).toBe('TASK_COMPLETED')
    await server.kill('SIGTERM')
  })

  it('in a sense when a clock is off', async () => {
    const dataFolder = newFolder()
    const clock = join(import.meta.dirname, '../workers/support/clock-ahead.mjs')
    const server = await start({ url: test.url, dataFolder }, ['--import', clock])
    vendor.latencyMs = HELD_UP_MS
    const run = await startRun(fleet.control, vendor)
    const place = { server, run, machine: { url: test.url, dataFolder } }
    await expectTold(place, {
      cause: 'clock_off',
      severity: 'warning',
      sentence: /(299|300|301) seconds ahead of that of the database/,
    })
    expect(await server.ask('/metrics')).toMatch(/^weir_clock_offset_seconds (299|300)/m)
    await fleet.control.services.pipelines.cancel(run)
    await untilFinished(fleet.control, run)
    await server.kill('SIGTERM')
  })

  it('when no worker is there, or none that lives', async () => {
    const machine = { url: test.url, dataFolder: newFolder(), runTasksOn: 'workers' } as const
    const server = await start(machine)
    // Nothing is waiting, and this doctor does not have the settings of the server.
    const toldElsewhere = async () => {
      const found = await findings({ url: test.url, dataFolder: newFolder() })
      return found.filter(({ check }) => check === 'runner').map(({ state, message }) => `${state}: ${message}`)
    }
    await until(async () => (await toldElsewhere()).some((line) => line.startsWith('bad: No worker takes tasks: none')))
    vendor.latencyMs = HELD_UP_MS
    const before = vendor.asked
    const run = await startRun(fleet.control, vendor)
    const place = { server, run, machine }
    const sentence = /No worker takes tasks: 1 task waits, and none is running/
    await expectTold(place, { cause: 'no_worker', severity: 'critical', sentence })
    const worker = await fleet.worker()
    await expectOver(place, 'no_worker')
    await untilAsked(vendor, before)
    expect(await server.ask('/metrics')).toMatch(/weir_servers\{kind="worker",state="alive"\} 1/)
    expect(await toldElsewhere()).toEqual(['good: 1 server at work with 1 worker; 1 run under way, 0 waiting'])
    await worker.kill('SIGKILL')
    await expectTold(place, { cause: 'no_worker', severity: 'critical', sentence })
    vendor.latencyMs = 0
    await fleet.worker()
    await expectOver(place, 'no_worker')
    expect((await untilFinished(fleet.control, run)).status).toBe('TASK_COMPLETED')
  })
})

describe('what stands still', () => {
  it('is told within two minutes', () => {
    const { lookMs, afterMs, silentMs, noAnswerMs } = THRESHOLDS
    expect(afterMs).toBe(60_000)
    // The worst case: a server dies, the check that sees it begins as late as possible and takes as long as possible.
    expect(silentMs + afterMs + 2 * (lookMs + 2 * noAnswerMs)).toBeLessThan(120_000)
  })
})
