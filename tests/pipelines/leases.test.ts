import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { ControlPlane } from '../../src/control-plane/control-plane.ts'
import type { Task } from '../../src/control-plane/records.ts'
import { insertRow } from '../../src/control-plane/store.ts'
import { newLeaseHolder } from '../../src/database/lease-holder.ts'
import { createLeases, deleteAlone, type Lease } from '../../src/runner/leases.ts'
import type { Runner } from '../../src/runner/runner.ts'
import { joinServers } from '../../src/runner/servers.ts'
import type { TaskDispatch } from '../../src/runner/task-dispatch.ts'
import { scopeLeases } from '../../src/system/runs.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { startProgram } from '../support/programs.ts'
import {
  paint,
  prepareTestDatabase,
  statesOf,
  testControl,
  testRunner,
  testThreads,
  until,
  untilFinished,
} from './support/test-control.ts'

const SLOWLY = { count: 3, pauseMs: 150 }

describeEachDatabase('tasks that work on the same', (test) => {
  let control: ControlPlane
  let threads: TaskDispatch
  let runners: Runner[] = []
  const start = async () => {
    runners.push(await testRunner(control, threads))
  }
  const create = (place: string, lease: string, more = {}) =>
    control.services.pipelines.create({ name: place, plan: [[paint({ place, lease, ...SLOWLY, ...more })]] })
  const taskOf = async (id: number) => (await control.services.pipelines.tasks(id))[0] as Task
  const isRunning = async (id: number) => (await taskOf(id)).status === 'TASK_RUNNING'
  const leases = async () =>
    (await sql<Lease>`select * from _weir_scope_leases order by name`.execute(test.database.kysely)).rows

  beforeAll(async () => {
    await prepareTestDatabase(test.database)
    control = testControl(test.database)
    threads = testThreads(control, test.url)
  })
  afterAll(() => threads?.close())
  afterEach(async () => {
    await Promise.all(runners.map((runner) => runner.stop()))
    runners = []
  })

  it('run one after the other, and the one that waits says for whom', async () => {
    await start()
    await start()
    const first = await create('first', 'one')
    await until(() => isRunning(first.id))
    const second = await create('second', 'one')
    const other = await create('other', 'another')
    const { id: secondTask } = await taskOf(second.id)
    const text = `paint (task ${secondTask}) waits for task ${(await taskOf(first.id)).id} of pipeline ${first.id}, which works on the same data.`
    await until(async () => (await control.services.pipelines.get(second.id)).message === text)
    expect(await taskOf(second.id)).toMatchObject({ status: 'TASK_CREATED', message: text, beganAt: null })
    for (const { id } of [first, second, other]) {
      expect(await untilFinished(control, id)).toMatchObject({ status: 'TASK_COMPLETED', message: '' })
    }
    const [one, two, third] = [await taskOf(first.id), await taskOf(second.id), await taskOf(other.id)]
    expect(two.message).toBe('')
    expect(two.beganAt?.getTime()).toBeGreaterThanOrEqual(one.finishedAt?.getTime() ?? Number.POSITIVE_INFINITY)
    expect(third.beganAt?.getTime()).toBeLessThan(one.finishedAt?.getTime() ?? 0)
    expect(await until(async () => (await leases()).length === 0)).toBe(true)
  })

  it('of one stage do so too, more of them than there are threads', async () => {
    await start()
    const plan = [
      Array.from({ length: 20 }, (_, index) => paint({ place: `crowd ${index}`, lease: 'crowd', count: 1 })),
    ]
    const { id } = await control.services.pipelines.create({ name: 'crowd', plan })
    expect(await untilFinished(control, id)).toMatchObject({ status: 'TASK_COMPLETED', finishedTasks: 20 })
    const tasks = (await control.services.pipelines.tasks(id)).toSorted(
      (one, other) => Number(one.beganAt) - Number(other.beganAt),
    )
    for (const [index, task] of tasks.entries()) {
      const before = tasks[index - 1]?.finishedAt
      if (before) expect(task.beganAt?.getTime()).toBeGreaterThanOrEqual(before.getTime())
    }
  })

  it('can be cancelled while they wait, and the other continues', async () => {
    await start()
    const first = await create('continues', 'kept')
    await until(() => isRunning(first.id))
    const second = await create('cancelled', 'kept')
    await until(async () => (await taskOf(second.id)).message.includes('waits for'))
    await control.services.pipelines.cancel(second.id)
    expect(await untilFinished(control, second.id)).toMatchObject({ status: 'TASK_CANCELLED', message: '' })
    expect(await taskOf(second.id)).toMatchObject({ status: 'TASK_CANCELLED', message: '', beganAt: null })
    expect(await isRunning(first.id)).toBe(true)
    expect(await untilFinished(control, first.id)).toMatchObject({ status: 'TASK_COMPLETED' })
  })

  it('continue when the server of the other is killed', async () => {
    const killed = await create('killed', 'orphaned', { count: 100 })
    const target = join(import.meta.dirname, 'support/kill-target.ts')
    // The child takes one pipeline at a time, so the second is left to this process.
    const child = startProgram(target, [test.url, control.context.dataFolder, '1'], { stdio: 'inherit' })
    const ended = new Promise((resolve) => child.once('exit', resolve))
    await until(async () => (await leases()).some(({ holder }) => holder.includes(`#${child.pid}#`)))
    await start()
    const second = await create('survivor', 'orphaned')
    await until(async () => (await taskOf(second.id)).message.includes(`of pipeline ${killed.id}`))
    child.kill('SIGKILL')
    await ended
    expect(await untilFinished(control, second.id)).toMatchObject({ status: 'TASK_COMPLETED' })
    await control.services.pipelines.cancel(killed.id)
    await untilFinished(control, killed.id)
    expect(statesOf(await control.services.pipelines.tasks(second.id))).toEqual(['1.1 TASK_COMPLETED'])
  })

  it('leave nothing behind of servers that are dead', async () => {
    const ended = spawn(process.execPath, ['-e', ''])
    await once(ended, 'exit')
    const dead = newLeaseHolder().replace(`#${process.pid}#`, `#${ended.pid}#`)
    await joinServers(test.database, dead, 1000)
    await insertRow(test.database.kysely, scopeLeases, { name: 'left', holder: dead, token: 'left' })
    const silent = 'another machine#1#silent'
    const membership = await joinServers(test.database, newLeaseHolder(), 20)
    await joinServers(test.database, silent, 1000)
    const holders = async () =>
      (await sql<{ holder: string }>`select holder from _weir_servers`.execute(test.database.kysely)).rows.map(
        ({ holder }) => holder,
      )
    await membership.forgetDead()
    expect(await holders()).toContain(silent)
    expect(await holders()).not.toContain(dead)
    expect(await leases()).toEqual([])
    await until(async () => {
      await membership.forgetDead()
      return !(await holders()).includes(silent)
    })
    await membership.leave()
  })

  it('are not deleted from meanwhile, and wait for a deletion', async () => {
    await start()
    const running = await create('holds', 'data')
    await until(() => isRunning(running.id))
    const worker = `in use by task ${(await taskOf(running.id)).id} of pipeline ${running.id}`
    await expect(deleteAlone(test.database, ['data'], async () => 'deleted')).rejects.toThrow(worker)
    await untilFinished(control, running.id)
    const waiting = await deleteAlone(test.database, ['data'], async () => {
      const { id } = await create('waits', 'data')
      await until(async () => (await taskOf(id)).message.includes('waits for the deletion of its data'))
      return id
    })
    expect(await untilFinished(control, waiting)).toMatchObject({ status: 'TASK_COMPLETED' })
    expect(await leases()).toEqual([])
  })

  it('never wait for each other, in whatever order they name what they work on', async () => {
    const leaseHolder = newLeaseHolder()
    const membership = await joinServers(test.database, leaseHolder, 1000)
    const own = createLeases(test.database, () => ({ leaseHolder, membership }))
    let inside = 0
    const signal = new AbortController().signal
    const work = async (names: string[], task_id: number) => {
      for (let round = 0; round < 5; round++) {
        const end = await own.take(names, { task_id, pipeline_id: 1 }, signal, async () => {})
        expect(++inside).toBe(1)
        await sql`select 1`.execute(test.database.kysely)
        inside--
        await end?.()
      }
    }
    await Promise.all([work(['a', 'b', 'c'], 1), work(['c', 'a', 'b'], 2), work(['b', 'c', 'a', 'a'], 3)])
    expect(await leases()).toEqual([])
    await membership.leave()
  })
})
