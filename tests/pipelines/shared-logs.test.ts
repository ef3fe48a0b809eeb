/** A run that moved between machines has the same log on each of them: in order, and every line once. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gunzipSync } from 'node:zlib'
import { beforeAll, expect, it } from 'vitest'
import { selectRows } from '../../src/control-plane/store.ts'
import { shareLogs } from '../../src/runner/share-logs.ts'
import { followTaskLog, logArchive, logFolder, logPath } from '../../src/runner/task-log.ts'
import { createTaskLog } from '../../src/runner/write-log.ts'
import { tasks } from '../../src/system/pipelines.ts'
import { taskLogs } from '../../src/system/workers.ts'
import { describeOneDatabase } from '../support/databases.ts'
import { paint, prepareTestDatabase, testControl, until } from './support/test-control.ts'

describeOneDatabase('logs of a run that moved', (test) => {
  const newFolder = () => mkdtempSync(join(tmpdir(), 'weir-logs-'))
  const [a, b, reader] = [newFolder(), newFolder(), newFolder()]
  beforeAll(() => prepareTestDatabase(test.database))

  async function newTask() {
    const { services } = testControl(test.database)
    const { id: pipelineId } = await services.pipelines.create({ name: 'moved', plan: [[paint({ place: 'shelf' })]] })
    const [task] = await selectRows(test.database.kysely, tasks, (query) => query.where('pipeline_id', '=', pipelineId))
    return { pipelineId, task: task! }
  }
  type Moved = Awaited<ReturnType<typeof newTask>>

  /** Makes one attempt on one machine: writes the lines. `isKilled` means that its end is not stored. */
  async function attempt(dataFolder: string, { pipelineId, task }: Moved, lines: readonly string[], isKilled = false) {
    const sharing = shareLogs({ database: test.database, dataFolder }, { isAlways: true })
    const end = sharing.begin({ pipelineId, taskId: task.id })
    const log = createTaskLog(logPath(dataFolder, pipelineId, task), { pipeline: pipelineId, task: task.id })
    for (const line of lines) log(line)
    log.close()
    if (!isKilled) await end(false)
    await sharing.stop()
    // An attempt never begins in the same millisecond in which another ended, because a lease must expire in between.
    await sleep(5)
  }
  async function readOn(dataFolder: string, { task }: Moved): Promise<string[]> {
    const { kysely } = test.database
    await kysely.updateTable(tasks.name).set({ status: 'TASK_COMPLETED' }).where('id', '=', task.id).execute()
    let whole = ''
    const signal = new AbortController().signal
    for await (const part of followTaskLog({ database: test.database, dataFolder }, task.id, signal)) whole += part
    return whole
      .trimEnd()
      .split('\n')
      .map((line) => line.split(' ').slice(1).join(' '))
  }

  it('read alike on every machine', async () => {
    const moved = await newTask()
    await attempt(a, moved, ['one', 'two'])
    await attempt(b, moved, ['three'])
    await attempt(a, moved, ['four', 'five'])
    const whole = ['one', 'two', 'three', 'four', 'five']
    for (const machine of [a, b, reader]) expect(await readOn(machine, moved)).toEqual(whole)
    const archive = gunzipSync(
      Buffer.concat(await Array.fromAsync(await logArchive(place(reader), moved.pipelineId))),
    ).toString()
    expect(archive.match(/ (one|two|three|four|five)$/gm)?.map((line) => line.trim())).toEqual(whole)
    // The stored lines suffice if a machine has lost its files.
    rmSync(logFolder(a, moved.pipelineId), { recursive: true })
    expect(await readOn(a, moved)).toEqual(whole)
  })

  it('have the lines of a server that was killed, where these are, in their place', async () => {
    const moved = await newTask()
    await attempt(a, moved, ['one', 'two'], true)
    await attempt(b, moved, ['three'])
    expect(await readOn(a, moved)).toEqual(['one', 'two', 'three'])
    expect(await readOn(reader, moved)).toEqual(['three'])
  })

  it('are stored while they are written, once', async () => {
    const moved = await newTask()
    const sharing = shareLogs(place(a), { isAlways: true })
    const end = sharing.begin({ pipelineId: moved.pipelineId, taskId: moved.task.id })
    const log = createTaskLog(logPath(a, moved.pipelineId, moved.task), { pipeline: moved.pipelineId })
    log('one')
    await until(async () => (await stored(moved)) === 1)
    log('two')
    log.close()
    await end(true)
    await sharing.stop()
    expect(await stored(moved)).toBe(2)
    expect(await readOn(reader, moved)).toEqual(['one', 'two'])
    expect(await readOn(a, moved)).toEqual(['one', 'two'])
  })

  it('are not stored for a server that is alone, unless somebody is to continue', async () => {
    const moved = await newTask()
    const sharing = shareLogs(place(a), { isAlways: false })
    const name = { pipelineId: moved.pipelineId, taskId: moved.task.id }
    const log = createTaskLog(logPath(a, moved.pipelineId, moved.task), { pipeline: moved.pipelineId })
    log('one')
    await sharing.begin(name)(true)
    expect(await stored(moved)).toBe(0)
    await sharing.begin(name)(false)
    expect(await stored(moved)).toBe(1)
    log.close()
    await sharing.stop()
  })

  const place = (dataFolder: string) => ({ database: test.database, dataFolder })
  const stored = async ({ task }: Moved) =>
    (await selectRows(test.database.kysely, taskLogs, (query) => query.where('task_id', '=', task.id))).length
})
