import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import type { ControlPlane } from '../../src/control-plane/control-plane.ts'
import type { Plan } from '../../src/plugin-kit/spec/plan.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { startProgram } from '../support/programs.ts'
import { paint, prepareTestDatabase, statesOf, testControl, until } from './support/test-control.ts'

/** The number of kills on each engine. At full size both together make fifty. */
const KILLS = process.env.FULL_SIZE === 'true' ? 25 : 8

/** Five tasks, one of which fails and is skipped, so that every kind of state occurs. */
const threeStages = (name: string, pauseMs: number): Plan => {
  const task = (place: string, failIn?: string) =>
    paint({ place: `${name} ${place}`, count: 4, pauseMs, ...(failIn && { failIn }) })
  return [[task('1.1'), task('1.2')], [task('2.1', 'convertPaint'), task('2.2')], [task('3.1')]]
}

describeEachDatabase('kill -9 in the middle of a three-stage pipeline', (test) => {
  const folder = mkdtempSync(join(tmpdir(), 'weir-kill-'))
  let control: ControlPlane

  /** Kills the server after `moment`, which is called when the server begins to work. Returns how long the server worked. */
  async function serve(moment?: (pid: number) => Promise<unknown>): Promise<{ workedMs: number; wasKilled: boolean }> {
    const target = join(import.meta.dirname, 'support/kill-target.ts')
    const child = startProgram(target, [test.url, folder])
    const ended = new Promise<NodeJS.Signals | null>((resolve) =>
      child.once('exit', (_code, signal) => resolve(signal)),
    )
    let begun = 0
    for await (const _line of createInterface(child.stdout)) {
      begun = performance.now()
      if (!moment) continue
      await Promise.race([moment(child.pid ?? 0), ended])
      child.kill('SIGKILL')
    }
    return { wasKilled: (await ended) === 'SIGKILL', workedMs: performance.now() - begun }
  }

  const create = (name: string, pauseMs = 5) =>
    control.services.pipelines.create({ name, plan: threeStages(name, pauseMs), skipOnFail: true })

  /** Returns the parts of the result that must not depend on how often the server died. */
  async function outcome(id: number, name: string) {
    const { pipelines } = control.services
    const { status, totalTasks, finishedTasks, stage, message } = await pipelines.get(id)
    const { subtasks } = await pipelines.subtasks(id)
    const { rows } = await sql<{ place: string; subtask: string; number: number }>`
      select place, subtask, number from test_marks where place like ${`${name} %`}
      order by place, subtask, number`.execute(test.database.kysely)
    return {
      pipeline: {
        status,
        totalTasks,
        finishedTasks,
        stage,
        message: message.replace(/task \d+/, 'task').replace(name, ''),
      },
      tasks: statesOf(await pipelines.tasks(id)),
      failed: (await pipelines.tasks(id)).map(({ failedSubTask }) => failedSubTask).filter(Boolean),
      subtasks: subtasks.map(({ subtaskDetails }) =>
        subtaskDetails.map(
          ({ name: subtask, number, isFailed, finishedRecords, finishedAt }) =>
            `${number} ${subtask} ${isFailed} ${finishedRecords} ${finishedAt !== null}`,
        ),
      ),
      rows: rows.map(({ place, subtask, number }) => `${place.slice(name.length)} ${subtask} ${number}`),
    }
  }

  beforeAll(async () => {
    await prepareTestDatabase(test.database)
    control = testControl(test.database, { dataFolder: folder })
  })

  it('ends as an undisturbed run does', { timeout: 600_000 }, async () => {
    const calm = await create('calm')
    const { workedMs } = await serve()
    const expected = await outcome(calm.id, 'calm')
    expect(expected.pipeline).toMatchObject({ status: 'TASK_PARTIAL', finishedTasks: 5, stage: 3 })
    expect(expected.rows.length).toBe(4 * 3 * 4 + 2 * 4)

    const harried: { id: number; name: string; kills: number }[] = []
    for (let kills = 0; kills < KILLS; ) {
      const { count } = await control.services.pipelines.list({ pending: true })
      if (count === 0) {
        const name = `harried ${harried.length}`
        harried.push({ id: (await create(name)).id, name, kills: 0 })
      }
      const { wasKilled } = await serve(() => sleep(Math.random() * workedMs))
      const current = harried.at(-1)
      if (wasKilled && current) {
        current.kills++
        kills++
      }
    }
    await serve()
    for (const { id, name, kills } of harried) {
      expect(await outcome(id, name), `${name}, killed ${kills} times`).toEqual(expected)
    }
  })

  it('continues at once on another server of the same database', { timeout: 600_000 }, async () => {
    const created = await Promise.all(['one', 'two'].map((name) => create(name, 300)))
    let other: Promise<unknown> | undefined
    const { wasKilled } = await serve(async (pid) => {
      const holders = () =>
        sql<{ holder: string }>`select holder from _weir_pipeline_leases`.execute(test.database.kysely)
      await until(async () => (await holders()).rows.some(({ holder }) => holder.includes(`#${pid}#`)))
      await new Promise<void>((begun) => {
        other = serve(async () => {
          begun()
          await new Promise(() => {})
        })
      })
    })
    expect(wasKilled).toBe(true)
    await other
    const outcomes = await Promise.all(created.map(({ id, name }) => outcome(id, name)))
    for (const each of outcomes) {
      expect(each.pipeline).toMatchObject({ status: 'TASK_PARTIAL', finishedTasks: 5, stage: 3 })
      expect(each).toEqual(outcomes[0])
    }
  })
})
