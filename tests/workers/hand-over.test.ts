import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Pipeline } from '../../src/control-plane/records.ts'
import { isFinished } from '../../src/control-plane/runs/states.ts'
import { selectRows } from '../../src/control-plane/store.ts'
import { servers } from '../../src/system/runs.ts'
import { taskRuns } from '../../src/system/workers.ts'
import { type FakeFleet, startFakeFleet } from '../fake-fleet/fake-fleet.ts'
import { until } from '../pipelines/support/test-control.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { addBoards, type Fleet, LEASE_MS, type Member, openFleet } from './support/fleet.ts'

describeOneWithTables('tasks of workers are handed over', (test) => {
  let vendor: FakeFleet
  let fleet: Fleet
  let server: Member
  let worker: Member

  beforeAll(async () => {
    vendor = await startFakeFleet()
    fleet = await openFleet({ url: test.url, database: test.database })
    ;[server, worker] = await Promise.all([fleet.server(), fleet.worker()])
  })
  afterAll(async () => {
    await fleet?.close()
    vendor?.close()
  })

  const ended = (id: number): Promise<Pipeline> =>
    until(async () => {
      const pipeline = await fleet.control.services.pipelines.get(id)
      return isFinished(pipeline.status) && pipeline
    })
  const runs = () => selectRows(test.database.kysely, taskRuns)
  const running = async () => (await runs()).filter(({ worker: holder, outcome }) => holder && !outcome)
  let first = 1
  /** Starts a run of this many boards. The vendor answers each request after `latencyMs`. */
  async function run(name: string, count: number, latencyMs: number) {
    vendor.latencyMs = latencyMs
    vendor.answered.length = 0
    const tasks = await addBoards(fleet.control, { name, endpoint: vendor.url, count, first })
    first += count
    return fleet.control.services.pipelines.create({ name, plan: [tasks] })
  }
  const repeated = () => vendor.answered.filter((page, index, all) => all.indexOf(page) !== index)

  it('to a server that takes over from one that was killed, without running them again', {
    timeout: 240_000,
  }, async () => {
    const { id } = await run('coordinator', 4, 1500)
    await until(async () => (await running()).length === 4)
    const before = await running()
    await server.kill('SIGKILL')
    server = await fleet.server()
    expect((await ended(id)).status).toBe('TASK_COMPLETED')
    expect(repeated()).toEqual([])
    const { rows } = await sql<{ task_id: number; worker: string }>`select task_id, worker from _weir_task_runs
        where pipeline_id = ${id}`.execute(test.database.kysely)
    for (const row of rows) expect(before.find(({ task_id }) => task_id === row.task_id)?.worker).toBe(row.worker)
  })

  it('to nobody when a user cancels: the worker stops by itself', async () => {
    const { id } = await run('cancelled', 8, 5000)
    await until(async () => (await running()).length === 4)
    await server.kill('SIGKILL')
    // No server is there to pass on the cancellation.
    await fleet.control.services.pipelines.cancel(id)
    await until(async () => (await running()).length === 0)
    server = await fleet.server()
    expect((await ended(id)).status).toBe('TASK_CANCELLED')
    const states = await fleet.control.services.pipelines.tasks(id)
    expect(new Set(states.map(({ status }) => status))).toEqual(new Set(['TASK_CANCELLED']))
  })

  it('to other workers when theirs is stopped, once it has waited for them', async () => {
    const { id } = await run('drained', 6, 800)
    await until(async () => (await running()).length === 4)
    const other = fleet.worker({ drainMs: 0 })
    // The worker has a minute, which is enough for its tasks, and takes no new ones.
    await worker.kill('SIGTERM')
    expect((await ended(id)).status).toBe('TASK_COMPLETED')
    expect(repeated()).toEqual([])
    worker = await other
  })

  it('to other workers when theirs has no time to wait', async () => {
    const { id } = await run('interrupted', 4, 1500)
    await until(async () => (await running()).length === 4)
    const stopped = worker
    await stopped.kill('SIGTERM')
    worker = await fleet.worker()
    expect((await ended(id)).status).toBe('TASK_COMPLETED')
    const { rows } = await sql<{ count: number }>`select count(*) as count from _raw_fleet_items`.execute(
      test.database.kysely,
    )
    expect(Number(rows[0]?.count) % vendor.itemsPerBoard).toBe(0)
  })

  it('to other workers when theirs is frozen, which then writes nothing', async () => {
    const { id } = await run('frozen', 2, 1200)
    await until(async () => (await running()).length === 2)
    const frozen = worker
    frozen.child.kill('SIGSTOP')
    worker = await fleet.worker()
    const pipeline = await ended(id)
    expect(pipeline.status).toBe('TASK_COMPLETED')
    frozen.child.kill('SIGCONT')
    // It joins again as another member, and continues.
    await until(async () => {
      const members = await selectRows(test.database.kysely, servers)
      return members.filter(({ role, holder }) => role === 'worker' && holder.includes(`#${frozen.child.pid}#`)).length
    })
    await sleep(LEASE_MS / 3)
    const count = await sql<{ count: number }>`select count(*) as count from _raw_fleet_items`.execute(
      test.database.kysely,
    )
    expect(Number(count.rows[0]?.count) % vendor.itemsPerBoard).toBe(0)
    expect((await fleet.control.services.pipelines.get(id)).updatedAt).toEqual(pipeline.updatedAt)
    await frozen.kill('SIGKILL')
  })

  it('only to workers that know their plugin', async () => {
    await worker.kill('SIGTERM')
    const { id } = await run('unknown', 2, 10)
    const old = await fleet.worker({ plugins: 'no-plugins.ts' })
    const note = await until(async () => (await runs()).find((row) => row.pipeline_id === id && row.note)?.note)
    expect(note).toMatch(/leaves task \d+ to others: it has no plugin fleet\./)
    expect((await fleet.control.services.pipelines.get(id)).status).toBe('TASK_RUNNING')
    worker = await fleet.worker()
    expect((await ended(id)).status).toBe('TASK_COMPLETED')
    await old.kill('SIGTERM')
  })

  it('by two servers, whose runs share the workers', async () => {
    const second = await fleet.server()
    const ids = await Promise.all(['one', 'two', 'three'].map(async (name) => (await run(name, 3, 50)).id))
    for (const id of ids) expect((await ended(id)).status).toBe('TASK_COMPLETED')
    await second.kill('SIGTERM')
  })

  it('leaves no lease and no run behind', async () => {
    await until(async () => (await runs()).length === 0)
    const { rows } = await sql<{ count: number }>`select count(*) as count from _weir_scope_leases`.execute(
      test.database.kysely,
    )
    expect(Number(rows[0]?.count)).toBe(0)
  })
})
