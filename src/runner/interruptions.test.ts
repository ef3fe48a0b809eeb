import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, expect, it } from 'vitest'
import { describeEachDatabase } from '../../tests/support/databases.ts'
import { findRow, insertRow, selectRows, updateRows } from '../control-plane/store.ts'
import { newLeaseHolder } from '../database/lease-holder.ts'
import { migrate } from '../database/migrate.ts'
import { systemTables } from '../system/index.ts'
import { pipelines, tasks } from '../system/pipelines.ts'
import { pipelineLeases, servers } from '../system/runs.ts'
import { interruptions } from '../system/workers.ts'
import {
  countLosses,
  endByLosses,
  hasLostTooOften,
  memoryKills,
  recordInterruption,
  runsAlone,
} from './interruptions.ts'
import { recoverLost, release, takeNext } from './queue.ts'

const BEGAN = new Date('2026-01-31T00:00:00Z')
const OWN = 'the server that takes over'

describeEachDatabase('interruptions', (test) => {
  beforeAll(async () => {
    await migrate(test.database, systemTables)
    await insertRow(test.database.kysely, servers, { holder: OWN })
  })

  const kysely = () => test.database.kysely
  /** A run with one task, held by a server. */
  async function addRun(holder: string, memoryPercent?: number, memory_kills: number | null = null) {
    const begun = { status: 'TASK_RUNNING', began_at: BEGAN }
    const pipelineId = await insertRow(kysely(), pipelines, { name: 'a run', ...begun })
    const taskId = await insertRow(kysely(), tasks, { plugin: 'any', pipeline_id: pipelineId, ...begun })
    await insertRow(kysely(), pipelineLeases, { pipeline_id: pipelineId, holder, cancel_requested: false })
    if (memoryPercent !== undefined)
      await insertRow(kysely(), servers, { holder, memory_percent: memoryPercent, memory_kills })
    return { pipelineId, taskId }
  }
  const recover = (runsTasks: boolean) =>
    recoverLost(test.database, async (holder) => holder !== 'alive', { resume: true, runsTasks, leaseHolder: OWN })
  const of = (taskId: number) => selectRows(kysely(), interruptions, (query) => query.where('task_id', '=', taskId))

  it('by a server that died count against its tasks only if its memory was full', async () => {
    const full = await addRun('a server without memory', 97)
    const killed = await addRun('a server that was killed', 40)
    const unknown = await addRun('a server that nobody knows')
    const other = await addRun('alive', 97)
    expect(await recover(true)).toBe(3)
    expect(await of(full.taskId)).toMatchObject([
      { pipeline_id: full.pipelineId, is_loss: true, cause: expect.stringMatching(/^out of memory \(it used 97 %/) },
    ])
    expect(await of(killed.taskId)).toMatchObject([{ is_loss: false, cause: expect.stringMatching(/^its machine/) }])
    expect(await of(unknown.taskId)).toMatchObject([{ is_loss: false }])
    expect(await of(other.taskId)).toEqual([])
    expect(await findRow(kysely(), tasks, { id: full.taskId })).toMatchObject({
      status: 'TASK_RESUME',
      began_at: BEGAN,
    })
  })

  it.skipIf(memoryKills() === null)('by a server count as well if its machine ended processes for memory', async () => {
    const kills = memoryKills() as number
    const here = newLeaseHolder()
    const elsewhere = here.replace(/^[^#/]+/, 'another machine')
    const ended = await addRun(`${here} that was ended`, 40, kills - 1)
    const killed = await addRun(`${here} that was killed`, 40, kills)
    const silent = await addRun(`${here} that does not tell`, 40)
    const other = await addRun(elsewhere, 40, kills - 1)
    expect(await recover(true)).toBe(4)
    expect(await of(ended.taskId)).toMatchObject([
      { is_loss: true, cause: 'out of memory (its machine ended a process for that reason)' },
    ])
    for (const { taskId } of [killed, silent, other]) expect(await of(taskId)).toMatchObject([{ is_loss: false }])
  })

  it('are none of tasks that workers run, when a server dies', async () => {
    const { taskId } = await addRun('a server with workers', 97)
    expect(await recover(false)).toBe(1)
    expect(await of(taskId)).toEqual([])
  })

  it('by a server that stops are no losses, and the run continues as the one that began', async () => {
    await updateRows(kysely(), pipelines, { status: 'TASK_RESUME' }, { status: 'TASK_CANCELLED' })
    const { pipelineId, taskId } = await addRun('a server that stops')
    const stopped = { incident: 'a server that stops', isLoss: false, cause: 'its server was stopped' }
    await kysely()
      .transaction()
      .execute((transaction) => release(transaction, pipelineId, { resume: true, stopped }))
    expect(await of(taskId)).toMatchObject([{ is_loss: false }])
    expect(await takeNext(test.database, OWN, 0)).toMatchObject({ id: pipelineId, began_at: BEGAN })
  })

  it('set a task apart after three losses, and end it after the fourth', async () => {
    const task = { task_id: 1_000_001, pipeline_id: 1_000_001 }
    const states: string[] = []
    for (const incident of ['one', 'two', 'two', 'three', 'four']) {
      await recordInterruption(kysely(), task, { incident, isLoss: true, cause: `cause ${incident}` })
      // In reality no process is lost twice within a millisecond, so the next loss is later.
      await sleep(5)
      const losses = await countLosses(kysely(), task.task_id)
      states.push(hasLostTooOften(losses) ? 'ended' : runsAlone(losses) ? 'alone' : 'beside others')
    }
    // An interruption that is reported twice counts once.
    expect(states).toEqual(['beside others', 'beside others', 'beside others', 'alone', 'ended'])
    const end = await endByLosses(kysely(), task.task_id, (message) => `shop: ${message}`)
    expect(end).toMatchObject({
      status: 'TASK_FAILED',
      message: expect.stringMatching(/^shop: What ran this task broke down 4 times.* The likely cause: cause four\./),
    })
  })
})
