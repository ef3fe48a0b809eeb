import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ControlPlane } from '../../src/control-plane/control-plane.ts'
import type { Plan } from '../../src/plugin-kit/spec/plan.ts'
import { createFence } from '../../src/runner/fence.ts'
import type { TaskDispatch } from '../../src/runner/task-dispatch.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { paint, prepareTestDatabase, testControl, testRunner, until, untilFinished } from './support/test-control.ts'

const TASKS = process.env.FULL_SIZE ? 10_000 : 1000

describeEachDatabase('a cancelled run', (test) => {
  let control: ControlPlane
  /** Tasks that do nothing until they are stopped, and end only when the test lets them. */
  let begun = 0
  let mayEnd = Promise.withResolvers<void>()
  const dispatch: TaskDispatch = {
    fence: createFence(),
    async run(_task, signal, begin) {
      if (!(await begin())) return undefined
      begun++
      await new Promise<void>((stopped) => {
        signal.addEventListener('abort', () => stopped(), { once: true })
        if (signal.aborted) stopped()
      })
      await mayEnd.promise
      return { status: 'TASK_CANCELLED' }
    },
    close: async () => {},
  }
  const start = () => testRunner(control, dispatch)
  const running = async (plan: Plan, count = 1) => {
    begun = 0
    mayEnd = Promise.withResolvers()
    const { id } = await control.services.pipelines.create({ plan })
    const runner = await start()
    await until(async () => begun >= count)
    return { id, runner }
  }
  beforeAll(async () => {
    await prepareTestDatabase(test.database)
    control = testControl(test.database)
  })
  afterAll(() => mayEnd.resolve())

  it('stays cancelled when its server stops at that moment, and counts what ran', async () => {
    const { pipelines } = control.services
    const plan = [[paint({ place: 'one' })], [paint({ place: 'two' }), paint({ place: 'three' })]]
    for (const order of ['cancel first', 'stop first'] as const) {
      const { id, runner } = await running(plan)
      const stopping = order === 'stop first' && runner.stop()
      await pipelines.cancel(id)
      const stopped = stopping || runner.stop()
      mayEnd.resolve()
      await stopped
      const ended = { status: 'TASK_CANCELLED', finishedTasks: 1, totalTasks: 3 }
      expect(await pipelines.get(id), order).toMatchObject(ended)
      const next = await start()
      const other = await pipelines.create({ plan: [[paint({ place: 'later' })]] })
      await until(async () => (await pipelines.get(other.id)).status === 'TASK_RUNNING')
      expect(await pipelines.get(id), `${order}, and another server later`).toMatchObject(ended)
      await pipelines.cancel(other.id)
      await next.stop()
    }
  })

  it(`of ${TASKS} tasks ends with as few statements as one of some`, async () => {
    const plan = [Array.from({ length: TASKS }, (_, index) => paint({ place: String(index) }))]
    const { id, runner } = await running(plan, 100)
    expect(begun).toBe(100)
    const executor = test.database.kysely.getExecutor()
    const { provideConnection } = executor
    let statements = 0
    executor.provideConnection = (consumer) => {
      statements++
      return provideConnection(consumer)
    }
    mayEnd.resolve()
    await control.services.pipelines.cancel(id)
    const { status, finishedTasks } = await untilFinished(control, id)
    executor.provideConnection = provideConnection
    expect({ status, finishedTasks }).toEqual({ status: 'TASK_CANCELLED', finishedTasks: 100 })
    // A few statements for each task that ran, and none for the others.
    expect(statements).toBeLessThan(1000)
    await runner.stop()
    const states = new Set((await control.services.pipelines.tasks(id)).map((task) => task.status))
    expect([...states]).toEqual(['TASK_CANCELLED'])
    const again = await control.services.pipelines.rerun(id)
    expect(again).toHaveLength(TASKS)
    await control.services.pipelines.cancel(id)
  })
})
