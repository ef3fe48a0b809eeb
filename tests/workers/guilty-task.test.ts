import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Task } from '../../src/control-plane/records.ts'
import { isFinished } from '../../src/control-plane/runs/states.ts'
import { selectRows } from '../../src/control-plane/store.ts'
import { interruptions, taskRuns } from '../../src/system/workers.ts'
import { type FakeFleet, startFakeFleet } from '../fake-fleet/fake-fleet.ts'
import { until } from '../pipelines/support/test-control.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { addBoards, type Fleet, type Member, openFleet } from './support/fleet.ts'
import { DEADLY } from './support/fleet-plugin.ts'

const LIMIT_MS = 240_000
const BOARDS = 4

describeOneWithTables('a task that breaks down whatever runs it fails alone', (test) => {
  let vendor: FakeFleet
  let fleet: Fleet
  const workers = new Set<Member>()
  let isOver = false

  beforeAll(async () => {
    vendor = await startFakeFleet()
    fleet = await openFleet({ url: test.url, database: test.database })
  })
  afterAll(async () => {
    isOver = true
    await fleet?.close()
    vendor?.close()
  })

  /** Restarts the worker whenever it ends, as a supervisor does. */
  async function keepWorker(): Promise<void> {
    const worker = await fleet.worker({ concurrency: BOARDS })
    workers.add(worker)
    void worker.ended.then(() => {
      workers.delete(worker)
      if (!isOver) void keepWorker()
    })
  }

  /** Runs the boards. One of them is deadly, and starts before the others have their first page. */
  async function run(first: number, deadly: string) {
    vendor.latencyMs = 2500
    vendor.quick = new Set([first])
    const names = { [first]: deadly }
    const tasks = await addBoards(fleet.control, {
      name: `from board ${first}`,
      endpoint: vendor.url,
      count: BOARDS,
      first,
      names,
    })
    const { id } = await fleet.control.services.pipelines.create({ name: deadly, plan: [tasks], skipOnFail: true })
    const begun = await until(async () => {
      const { beganAt } = await fleet.control.services.pipelines.get(id)
      const all = await fleet.control.services.pipelines.tasks(id)
      return beganAt && all.every((task) => task.beganAt) ? { beganAt, tasks: all } : undefined
    })
    const lossesOfFirst = async () => {
      const { id: taskId = 0 } = begun.tasks.find(({ options }) => options.boardId === first) ?? {}
      return selectRows(test.database.kysely, interruptions, (query) => query.where('task_id', '=', taskId))
    }
    // From now on the deadly task runs alone, and the other boards are no longer slow.
    await until(async () => (await lossesOfFirst()).length >= 3)
    vendor.latencyMs = 50
    const pipeline = await until(async () => {
      const found = await fleet.control.services.pipelines.get(id)
      return isFinished(found.status) && found
    })
    const ended = await fleet.control.services.pipelines.tasks(id)
    const guilty = ended.find(({ options }) => options.boardId === first) as Task
    return { begun, pipeline, guilty, others: ended.filter((task) => task !== guilty), ended }
  }

  async function expectJustice(
    { begun, pipeline, guilty, others, ended }: Awaited<ReturnType<typeof run>>,
    first: number,
  ) {
    expect(guilty).toMatchObject({ status: 'TASK_FAILED', interruptions: 4, errorName: 'FatalError' })
    expect(guilty.message).toContain(
      `board ${first}: What ran this task broke down 4 times, the last time with no other`,
    )
    expect(others.map(({ status, message }) => [status, message])).toEqual(others.map(() => ['TASK_COMPLETED', '']))
    // The other tasks were running when it happened, at least once.
    expect(others.every((task) => task.interruptions > 0)).toBe(true)
    expect(pipeline).toMatchObject({ status: 'TASK_PARTIAL', finishedTasks: BOARDS, beganAt: begun.beganAt })
    for (const { id, beganAt } of begun.tasks) expect(ended.find((task) => task.id === id)?.beganAt).toEqual(beganAt)
    const rows = await selectRows(test.database.kysely, interruptions, (query) =>
      query.where('pipeline_id', '=', pipeline.id).orderBy('created_at'),
    )
    expect(pipeline.interruptions).toBe(new Set(rows.map(({ incident }) => incident)).size)
    const own = rows.filter(({ task_id }) => task_id === guilty.id)
    expect(own.every(({ is_loss }) => is_loss)).toBe(true)
    // No other task was running the last time.
    expect(rows.filter(({ incident }) => incident === own.at(-1)?.incident)).toEqual([own.at(-1)])
    return own.map(({ cause }) => cause)
  }

  it('when it ends the processes of workers', { timeout: LIMIT_MS }, async () => {
    const server = await fleet.server()
    await keepWorker()
    const causes = await expectJustice(await run(1, DEADLY.process), 1)
    for (const cause of causes) expect(cause).toMatch(/^its process crashed or was killed|^out of memory/)
    expect(await until(async () => (await selectRows(test.database.kysely, taskRuns)).length === 0)).toBe(true)
    await server.kill('SIGTERM')
  })

  it('when it fills the memory of threads of a worker', { timeout: LIMIT_MS }, async () => {
    const server = await fleet.server()
    const causes = await expectJustice(await run(101, DEADLY.thread), 101)
    for (const cause of causes) expect(cause).toBe('out of memory (a thread may have 1024 MB)')
    // The worker itself survived.
    expect(workers.size).toBe(1)
    await server.kill('SIGTERM')
  })

  it('when it fills the memory of threads of a server', { timeout: LIMIT_MS }, async () => {
    const server = await fleet.server({ runTasksOn: 'server' })
    const causes = await expectJustice(await run(201, DEADLY.thread), 201)
    for (const cause of causes) expect(cause).toBe('out of memory (a thread may have 1024 MB)')
    expect(server.child.exitCode).toBe(null)
    await server.kill('SIGTERM')
  })
})
