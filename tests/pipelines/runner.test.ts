import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import type { ControlPlane } from '../../src/control-plane/control-plane.ts'
import type { NewPipeline } from '../../src/control-plane/records.ts'
import type { Database } from '../../src/database/database.ts'
import { takeNext } from '../../src/runner/queue.ts'
import type { Runner, RunnerOptions } from '../../src/runner/runner.ts'
import type { TaskDispatch } from '../../src/runner/task-dispatch.ts'
import { logFolder } from '../../src/runner/task-log.ts'
import { describeEachDatabase } from '../support/databases.ts'
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

describeEachDatabase('runner', (test) => {
  let control: ControlPlane
  let runners: Runner[] = []
  let threads: TaskDispatch
  const start = async (options: Partial<RunnerOptions> = {}) => {
    const runner = await testRunner(control, threads, options)
    runners.push(runner)
    return runner
  }
  const create = (pipeline: NewPipeline) => control.services.pipelines.create(pipeline)
  const marksOf = async (place: string) => {
    const { rows } = await sql<{ subtask: string; number: number }>`select subtask, number from test_marks
      where place = ${place} order by subtask, number`.execute(test.database.kysely)
    return rows.map(({ subtask, number }) => `${subtask} ${number}`)
  }

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

  it('finds nothing to take when the last that waited was cancelled meanwhile', async () => {
    const { id } = await create({ name: 'cancelled', plan: [[paint({ place: 'never' })]] })
    const taking = await test.database.locked('pipelines', async () => {
      const asking = Promise.withResolvers<void>()
      // By now the runner has seen that a pipeline is waiting.
      const lockedBriefly: Database['lockedBriefly'] = (...parameters) => {
        asking.resolve()
        return test.database.lockedBriefly(...parameters)
      }
      const next = takeNext({ ...test.database, lockedBriefly }, 'nobody', 0)
      await asking.promise
      await sql`update _devlake_pipelines set status = 'TASK_CANCELLED' where id = ${id}`.execute(test.database.kysely)
      return { next }
    })
    expect(await taking.next).toBeUndefined()
  })

  it('runs stages in order and the tasks of a stage side by side', async () => {
    const { id } = await create({
      name: 'order',
      plan: [[paint({ place: 'a', pauseMs: 100 }), paint({ place: 'b', pauseMs: 100 })], [paint({ place: 'c' })]],
    })
    await start()
    const pipeline = await untilFinished(control, id)
    expect(pipeline).toMatchObject({ status: 'TASK_COMPLETED', totalTasks: 3, finishedTasks: 3, stage: 2, message: '' })
    const tasks = await control.services.pipelines.tasks(id)
    expect(statesOf(tasks)).toEqual(['1.1 TASK_COMPLETED', '1.2 TASK_COMPLETED', '2.1 TASK_COMPLETED'])
    const [third, second, first] = tasks
    expect(third?.beganAt?.getTime()).toBeGreaterThanOrEqual(
      Math.max(first?.finishedAt?.getTime() ?? 0, second?.finishedAt?.getTime() ?? 0),
    )
    expect(second?.beganAt?.getTime()).toBeLessThan(first?.finishedAt?.getTime() ?? 0)
    expect(await marksOf('c')).toEqual(
      ['collectPaint', 'convertPaint', 'extractPaint'].flatMap((name) =>
        [1, 2, 3].map((number) => `${name} ${number}`),
      ),
    )
    const { subtasks, completionRate, status } = await control.services.pipelines.subtasks(id)
    expect({ completionRate, status }).toEqual({ completionRate: 1, status: 'TASK_COMPLETED' })
    expect(subtasks[2]?.subtaskDetails).toMatchObject([
      { name: 'collectPaint', number: 1, sequence: 1, isCollector: true, finishedRecords: 3, isFailed: false },
      { name: 'extractPaint', number: 2, sequence: 1, isCollector: false, finishedRecords: 3 },
      { name: 'convertPaint', number: 3, sequence: 2, isCollector: false, finishedRecords: 3 },
    ])
  })

  it('lets a failing stage finish and starts no later one', async () => {
    const plan = [
      [paint({ place: 'd', failIn: 'extractPaint' }), paint({ place: 'e', pauseMs: 50 })],
      [paint({ place: 'f' })],
    ]
    const { id } = await create({ plan })
    await start()
    const pipeline = await untilFinished(control, id)
    expect(pipeline).toMatchObject({ status: 'TASK_FAILED', errorName: 'UserError', finishedTasks: 2 })
    expect(pipeline.message).toContain('d failed in extractPaint')
    const tasks = await control.services.pipelines.tasks(id)
    expect(statesOf(tasks)).toEqual(['1.1 TASK_FAILED', '1.2 TASK_COMPLETED', '2.1 TASK_CREATED'])
    expect(tasks.find(({ pipelineCol, pipelineRow }) => pipelineRow === 1 && pipelineCol === 1)).toMatchObject({
      failedSubTask: 'extractPaint',
      message: 'd failed in extractPaint',
    })
    expect(await marksOf('f')).toEqual([])
  })

  it('continues past failures when asked to, and calls the end PARTIAL', async () => {
    const plan = [[paint({ place: 'g', failIn: 'collectPaint', fullName: 'acme/web' })], [paint({ place: 'h' })]]
    const { id } = await create({ plan, skipOnFail: true })
    await start()
    const { message, ...ended } = await untilFinished(control, id)
    expect(ended).toMatchObject({ status: 'TASK_PARTIAL', finishedTasks: 2 })
    expect(message).toContain('acme/web: g failed in collectPaint')
    const none = await create({ plan: [[paint({ place: 'g', failIn: 'collectPaint' })]], skipOnFail: true })
    expect(await untilFinished(control, none.id)).toMatchObject({ status: 'TASK_FAILED' })
  })

  it('runs again only what did not complete', async () => {
    const plan = [[paint({ place: 'i' }), paint({ place: 'j', failIn: 'convertPaint' })], [paint({ place: 'k' })]]
    const { id } = await create({ plan })
    await start()
    await untilFinished(control, id)
    const again = await control.services.pipelines.rerun(id)
    expect(again.map(({ status, pipelineRow, pipelineCol }) => [status, pipelineRow, pipelineCol])).toEqual([
      ['TASK_RERUN', 1, 2],
      ['TASK_RERUN', 2, 1],
    ])
    expect(await untilFinished(control, id)).toMatchObject({ status: 'TASK_FAILED', totalTasks: 3, finishedTasks: 2 })
    const { rows } = await sql<{ subtask: string; times: number }>`select subtask, times from test_runs
      where place in ('i', 'j') order by place, subtask`.execute(test.database.kysely)
    expect(rows.map(({ subtask, times }) => `${subtask} ${times}`)).toEqual([
      'collectPaint 1',
      'convertPaint 1',
      'extractPaint 1',
      'collectPaint 2',
      'extractPaint 2',
    ])
    const { id: done } = await create({ plan: [[paint({ place: 'l' })]] })
    await untilFinished(control, done)
    await expect(control.services.pipelines.rerun(done)).rejects.toThrow('nothing to run again')
    const [task] = await control.services.pipelines.tasks(done)
    expect(await control.services.pipelines.rerunTask(task?.id ?? 0)).toMatchObject({ status: 'TASK_RERUN' })
    expect(await untilFinished(control, done)).toMatchObject({ status: 'TASK_COMPLETED' })
  })

  it('cancels what waits at once, and what runs within a second, even when it listens to nothing', async () => {
    const waiting = await create({ plan: [[paint({ place: 'm' })]] })
    await control.services.pipelines.cancel(waiting.id)
    expect(await control.services.pipelines.get(waiting.id)).toMatchObject({ status: 'TASK_CANCELLED' })
    await start()
    for (const options of [{ pauseMs: 60_000 }, { isDeaf: true }]) {
      const plan = [[paint({ place: 'n', ...options })], [paint({ place: 'o' })]]
      const { id } = await create({ plan })
      const begun = await until(async () =>
        (await control.services.pipelines.subtasks(id)).subtasks[0]?.subtaskDetails.some(({ beganAt }) => beganAt),
      )
      expect(begun).toBe(true)
      const asked = Date.now()
      await control.services.pipelines.cancel(id)
      expect(await untilFinished(control, id)).toMatchObject({ status: 'TASK_CANCELLED' })
      expect(Date.now() - asked).toBeLessThan(5000)
      expect(statesOf(await control.services.pipelines.tasks(id))).toEqual(['1.1 TASK_CANCELLED', '2.1 TASK_CANCELLED'])
      await control.services.pipelines.cancel(id)
      await expect(control.services.pipelines.get(id)).resolves.toMatchObject({ status: 'TASK_CANCELLED' })
    }
    expect(await marksOf('o')).toEqual([])
  })

  it('continues after a clean stop where it was interrupted', async () => {
    const { id } = await create({ plan: [[paint({ place: 'p' })], [paint({ place: 'q', count: 4, pauseMs: 300 })]] })
    const first = await start()
    await until(async () => (await marksOf('q')).length > 0)
    await first.stop()
    expect(await control.services.pipelines.get(id)).toMatchObject({ status: 'TASK_RESUME' })
    await start()
    expect(await untilFinished(control, id)).toMatchObject({ status: 'TASK_COMPLETED', finishedTasks: 2 })
    expect((await marksOf('q')).length).toBe(12)
    expect((await marksOf('p')).length).toBe(9)
  })

  it('takes highest priority first, keeps to the limit and never runs one label twice at a time', async () => {
    const plan = (place: string) => [[paint({ place, count: 1, pauseMs: 50 }, ['collectPaint'])]]
    const low = await create({ plan: plan('r1'), priority: 0 })
    const high = await create({ plan: plan('r2'), priority: 5 })
    const higher = await create({ plan: plan('r3'), priority: 5 })
    await start({ maxParallel: 1 }) // one run after another, so that the times show the order
    const [one, two, three] = await Promise.all([high, higher, low].map(({ id }) => untilFinished(control, id)))
    expect(one?.finishedAt?.getTime()).toBeLessThanOrEqual(two?.beganAt?.getTime() ?? 0)
    expect(two?.finishedAt?.getTime()).toBeLessThanOrEqual(three?.beganAt?.getTime() ?? 0)
    await runners.pop()?.stop()

    const labelled = await Promise.all(
      ['s1', 's2'].map((place) => create({ plan: plan(place), labels: ['parallel/deploy', 'colour'] })),
    )
    const free = await create({ plan: plan('s3'), labels: ['colour'] })
    await start()
    await start()
    const [first, second] = (await Promise.all([...labelled, free].map(({ id }) => untilFinished(control, id)))).sort(
      (left, right) => left.id - right.id,
    )
    expect(first?.finishedAt?.getTime()).toBeLessThanOrEqual(second?.beganAt?.getTime() ?? 0)
  })

  it('lets no lower priority pass a higher one that is blocked, or it would never get its turn', async () => {
    const plan = [[paint({ place: 'passed', count: 1 }, ['collectPaint'])]]
    const running = await create({ plan, labels: ['parallel/passed'] })
    await sql`insert into _weir_servers (holder, beats) values ('the-only-one', 1)`.execute(test.database.kysely)
    expect(await takeNext(test.database, 'the-only-one', 0)).toMatchObject({ id: running.id })
    const blocked = await create({ plan, priority: 5, labels: ['parallel/passed', 'parallel/free'] })
    const lower = await create({ plan, priority: 4 })
    expect(await takeNext(test.database, 'the-only-one', 0)).toBeUndefined()
    const free = await create({ plan, priority: 5 })
    expect(await takeNext(test.database, 'the-only-one', 0)).toMatchObject({ id: free.id })
    expect(await takeNext(test.database, 'the-only-one', 0)).toBeUndefined()
    for (const { id } of [running, blocked, lower, free]) await control.services.pipelines.cancel(id)
    await sql`delete from _weir_servers where holder = 'the-only-one'`.execute(test.database.kysely)
    await start()
    for (const { id } of [running, blocked, lower, free]) {
      expect(await untilFinished(control, id)).toMatchObject({ status: 'TASK_CANCELLED' })
    }
  })

  it('never runs a pipeline on two servers, and takes over from one that fell silent', async () => {
    const created = await Promise.all(
      Array.from({ length: 6 }, (_, index) => create({ plan: [[paint({ place: `t${index}`, count: 1 })]] })),
    )
    await Promise.all([start(), start(), start()])
    await Promise.all(created.map(({ id }) => untilFinished(control, id)))
    const { rows } = await sql<{ times: number }>`select times from test_runs where place like 't%'`.execute(
      test.database.kysely,
    )
    expect(rows.map(({ times }) => times)).toEqual(Array.from({ length: 18 }, () => 1))

    await Promise.all(runners.splice(0).map((runner) => runner.stop()))
    const { id } = await create({ plan: [[paint({ place: 'u' })]] })
    await sql`update _devlake_pipelines set status = 'TASK_RUNNING' where id = ${id}`.execute(test.database.kysely)
    await sql`update _devlake_tasks set status = 'TASK_RUNNING' where pipeline_id = ${id}`.execute(test.database.kysely)
    const silent = 'another-machine#1#silent'
    await sql`insert into _weir_servers (holder, beats) values (${silent}, 7)`.execute(test.database.kysely)
    await sql`insert into _weir_pipeline_leases (pipeline_id, holder, cancel_requested)
      values (${id}, ${silent}, false)`.execute(test.database.kysely)
    await start({ leaseMs: 700 })
    expect(await untilFinished(control, id)).toMatchObject({ status: 'TASK_COMPLETED' })
  })

  it('leaves its work to others when they took it for dead, and continues as a new server', async () => {
    const { id } = await create({ plan: [[paint({ place: 'z', count: 5, pauseMs: 200 })]] })
    await start()
    await until(async () => (await marksOf('z')).length > 0)
    await sql`delete from _weir_servers`.execute(test.database.kysely)
    expect(await untilFinished(control, id)).toMatchObject({ status: 'TASK_COMPLETED' })
    expect((await marksOf('z')).length).toBe(15)
    const { rows } = await sql`select * from _weir_pipeline_leases`.execute(test.database.kysely)
    expect(rows).toEqual([])
  })

  it('counts what a dead server ran as failed when told not to resume', async () => {
    const { id } = await create({ plan: [[paint({ place: 'v' })]] })
    await sql`update _devlake_pipelines set status = 'TASK_RUNNING' where id = ${id}`.execute(test.database.kysely)
    await start({ resume: false })
    expect(await untilFinished(control, id)).toMatchObject({ status: 'TASK_FAILED' })
  })

  it('shows progress while it runs, streams it, and remembers what a scope costs', async () => {
    const { services } = control
    const plan = [[paint({ place: 'w', count: 6, pauseMs: 300, requests: 30 }, ['collectPaint'])]]
    const { id } = await create({ plan })
    await start()
    const details: number[] = []
    let last: unknown
    for await (const { pipeline, tasks } of services.pipelines.watch(id, AbortSignal.timeout(60_000))) {
      const detail = tasks[0]?.progressDetail
      if (detail) {
        details.push(detail.finishedRecords)
        if (detail.finishedRecords > 0) {
          expect(detail).toMatchObject({ subTaskName: 'collectPaint', totalRecords: 6, totalSubTasks: 1 })
          expect(detail.requests).toBe(detail.finishedRecords * 5)
          expect(detail.estimatedEnd).toBeInstanceOf(Date)
        }
      }
      last = pipeline.status
    }
    expect(last).toBe('TASK_COMPLETED')
    expect(details.some((records) => records > 0)).toBe(true)
    expect(details).toEqual(details.toSorted((one, other) => one - other))
    const blueprint = { name: 'preview', mode: 'ADVANCED', isManual: true, plan } as const
    const preview = await services.blueprints.previewOf(blueprint)
    expect(preview.tasks).toMatchObject([{ requests: 30, basis: 'last run', title: 'w' }])
    expect(preview.seconds).toBeGreaterThanOrEqual(1)
    const other = await services.blueprints.previewOf({ ...blueprint, plan: [[paint({ place: 'unseen' })]] })
    expect(other.tasks[0]?.basis).toBe('similar scopes')
    const unknown = { plugin: 'brush', subtasks: [], options: {} }
    expect(await services.blueprints.previewOf({ ...blueprint, plan: [[unknown]] })).toMatchObject({ requests: null })
  })

  it('keeps a log for each task, without secrets, as it happens and as an archive', async () => {
    const { services, context } = control
    const secret = context.secrets.encrypt('hush-hush-token')
    const { id } = await create({ plan: [[paint({ place: 'x', count: 2, pauseMs: 200, secret })]] })
    await start()
    const [task] = await services.pipelines.tasks(id)
    let followed = ''
    for await (const text of await services.pipelines.followLog(task?.id ?? 0, AbortSignal.timeout(60_000)))
      followed += text
    const stored = readFileSync(join(logFolder(context.dataFolder, id), `task-${task?.id}-1-1-paint.log`), 'utf8')
    expect(followed).toBe(stored)
    expect(stored).toContain('collectPaint ends: 2 records read, 2 rows written, 0 put aside')
    expect(stored).toContain('the secret is [redacted]')
    expect(stored).not.toContain('hush')
    const chunks: Uint8Array[] = []
    for await (const chunk of await services.pipelines.logArchive(id)) chunks.push(chunk)
    const listed = execFileSync('tar', ['-tzf', '-'], { input: Buffer.concat(chunks), encoding: 'utf8' })
    expect(listed.trim().split('\n').sort()).toEqual(['pipeline.log', `task-${task?.id}-1-1-paint.log`])
    await expect(services.pipelines.logArchive(999_999)).rejects.toMatchObject({ status: 404 })
  })

  it('answers while a thread computes', async () => {
    await start()
    const { id } = await create({ plan: [[paint({ place: 'y', isDeaf: true })]] })
    await until(async () => (await control.services.pipelines.get(id)).status === 'TASK_RUNNING')
    const before = performance.now()
    for (let turn = 0; turn < 20; turn++) await sleep(1)
    expect(performance.now() - before).toBeLessThan(5000)
    await control.services.pipelines.cancel(id)
    await untilFinished(control, id)
  })
})
