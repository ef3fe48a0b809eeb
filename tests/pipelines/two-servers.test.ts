import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, it } from 'vitest'
import type { ControlPlane } from '../../src/control-plane/control-plane.ts'
import type { Pipeline } from '../../src/control-plane/records.ts'
import { isFinished } from '../../src/control-plane/runs/states.ts'
import { migrate } from '../../src/database/migrate.ts'
import { systemTables } from '../../src/system/index.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { startProgram } from '../support/programs.ts'
import { testControl, until } from './support/test-control.ts'
import { STEPS, steps, tracing } from './support/trace-plugins.ts'

const ROUNDS = process.env.FULL_SIZE ? 200 : 4
const LEASE_MS = 1500
const ACTIONS = ['cancel and stop', 'hang', 'kill', 'cancel and hang', 'cancel and kill', 'stop', 'cancel'] as const

describeEachDatabase('two servers over one database', (test) => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-two-servers-'))
  let control: ControlPlane

  async function serve() {
    const target = join(import.meta.dirname, 'support/server-target.ts')
    const child = startProgram(target, [test.url, folder, String(LEASE_MS)])
    const ended = once(child, 'exit')
    await Promise.race([once(child.stdout, 'data'), ended.then(() => Promise.reject(new Error('a server ended')))])
    return { child, ended }
  }
  type Served = Awaited<ReturnType<typeof serve>>
  /** Ends the server and returns a new one that replaces it. */
  async function end({ child, ended }: Served, signal: 'SIGTERM' | 'SIGKILL'): Promise<Served> {
    child.kill(signal)
    await ended
    return serve()
  }
  async function hang(served: Served): Promise<Served> {
    served.child.kill('SIGSTOP')
    // Some of the frozen servers are considered dead, and some are not.
    await sleep(Math.random() * 2 * LEASE_MS)
    served.child.kill('SIGCONT')
    return served
  }

  beforeAll(async () => {
    await migrate(test.database, [...systemTables, steps])
    control = testControl(test.database, { dataFolder: folder, plugins: [tracing] })
  })

  it('lose, double and revive no run, whatever happens to either', { timeout: ROUNDS * 60_000 }, async () => {
    const { pipelines } = control.services
    const servers = [await serve(), await serve()]
    const ended = new Map<number, { round: string; pipeline: Pipeline; steps: number }>()
    const stepsOf = async (place: string) =>
      test.database.kysely
        .selectFrom(steps.name)
        .selectAll()
        .where('place', 'like', `${place}.%`)
        .orderBy('id')
        .execute()
    try {
      for (let number = 0; number < ROUNDS; number++) {
        const action = ACTIONS[number % ACTIONS.length] as (typeof ACTIONS)[number]
        const round = `round ${number}: ${action}`
        const task = (column: number) => ({
          plugin: 'tracing',
          subtasks: [],
          options: { place: `r${number}.${column}`, pauseMs: 20 },
        })
        const { id } = await pipelines.create({ name: round, plan: [[task(1), task(2)], [task(3)]] })
        await sleep(Math.random() * 700)
        const isCancelled = action.startsWith('cancel')
        const which = Math.random() < 0.5 ? 0 : 1
        const server = servers[which] as Served
        const disturbed = action.endsWith('stop')
          ? end(server, 'SIGTERM')
          : action.endsWith('kill')
            ? end(server, 'SIGKILL')
            : action.endsWith('hang')
              ? hang(server)
              : Promise.resolve(server)
        if (isCancelled) await pipelines.cancel(id)
        servers[which] = await disturbed
        const pipeline = await until(async () => {
          const found = await pipelines.get(id)
          return isFinished(found.status) && found
        })
        const tasks = await pipelines.tasks(id)
        const wasDone = tasks.every(({ status }) => status === 'TASK_COMPLETED')
        // A cancellation that arrives when all tasks are done but the run is not may win.
        const allowed = [
          ...(isCancelled ? ['TASK_CANCELLED'] : []),
          ...(!isCancelled || wasDone ? ['TASK_COMPLETED'] : []),
        ]
        expect(allowed, round).toContain(pipeline.status)
        expect(pipeline.finishedTasks, round).toBe(tasks.filter(({ beganAt }) => beganAt !== null).length)
        ended.set(number, { round, pipeline, steps: (await stepsOf(`r${number}`)).length })
      }
      await sleep(2 * LEASE_MS)
      for (const [number, { round, pipeline, steps: before }] of ended) {
        const after = await stepsOf(`r${number}`)
        expect((await pipelines.get(pipeline.id)).status, `${round}, later`).toBe(pipeline.status)
        expect(after.length, `${round}: steps after its end`).toBe(before)
        for (const [place, own] of Map.groupBy(after, ({ place: where, subtask }) => `${where} ${subtask}`)) {
          // After a task was taken over, no further steps of the earlier attempt may follow.
          const attempts = own.map((step) => step.attempt).filter((attempt, index, all) => attempt !== all[index - 1])
          expect(new Set(attempts).size, `${round}: ${place} by ${attempts}`).toBe(attempts.length)
        }
        if (pipeline.status === 'TASK_COMPLETED') {
          const done = new Set(after.map(({ place, subtask, number: step }) => `${place} ${subtask} ${step}`))
          expect(done.size, round).toBe(3 * 2 * STEPS)
        }
      }
    } finally {
      for (const { child, ended: gone } of servers) {
        child.kill('SIGCONT')
        child.kill('SIGKILL')
        await gone
      }
    }
  })
})
