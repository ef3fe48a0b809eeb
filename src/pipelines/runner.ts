/** Runs pipelines and follows the schedule, beside any number of servers that do the same on this database. */
import { join } from 'node:path'
import { newHolder } from '../database/holder.ts'
import { messageOf } from '../errors.ts'
import type { ControlPlane } from './control-plane.ts'
import { createLeases } from './leases.ts'
import type { PipelineRow, TaskRow } from './pipeline-rows.ts'
import { cancelRequests, recoverLost, release, takeNext } from './queue.ts'
import { CANCELLED, runPipeline } from './run-pipeline.ts'
import { runDueTicks } from './schedule.ts'
import { createReader, openOptions } from './sealed.ts'
import { joinServers, LEASE_MS } from './servers.ts'
import type { TaskDispatch } from './task-dispatch.ts'
import { leasesOfTask } from './task-leases.ts'
import { createTaskLog, logFolder, PIPELINE_LOG } from './task-log.ts'

export interface RunnerOptions {
  readonly dispatch: TaskDispatch
  /** False: only the schedule is followed, and other servers run what it starts. */
  readonly consume: boolean
  /** Pipelines at a time, over all servers of the database; 0: no limit. */
  readonly maxParallel: number
  /** What a dead server ran goes on; else it counts as failed. */
  readonly resume: boolean
  /** How long a server may be silent before its pipelines are taken over. */
  readonly leaseMs?: number
}
export interface Runner {
  /** Stops taking work; what runs is interrupted, and goes on at the next start. */
  stop(): Promise<void>
}

/** Also the longest that a request of another server to cancel stays unseen. */
const LOOK_MS = 500
/** Blueprints saved by other servers are seen this often. */
const SCHEDULE_MS = 10_000
const STOPPED = 'this server stops'

export async function startRunner(control: ControlPlane, options: RunnerOptions): Promise<Runner> {
  const { database, plugins, secrets, log, dataFolder, notify } = control.context
  const { dispatch, consume, maxParallel, resume, leaseMs = LEASE_MS } = options
  let holder = newHolder()
  const running = new Map<number, { abort: AbortController; ended: Promise<void> }>()
  let membership = await joinServers(database, holder, leaseMs)
  const leases = createLeases(database, () => ({ holder, membership }))
  let isStopped = false
  let scheduleAt = 0
  let wake = () => {}
  const forget = control.onChange((what) => {
    if (what === 'schedule') scheduleAt = 0
    wake()
  })

  /** Of a task whose options cannot be read nothing is known; it fails by itself, and says why. */
  const optionsOf = ({ options }: TaskRow) => createReader().read('options', () => openOptions(options, secrets), {})
  function connectionOf(task: TaskRow): string | null {
    const source = plugins.find(({ name }) => name === task.plugin)?.source
    const { connectionId } = optionsOf(task)
    return source && connectionId ? `${(source.settingsOf ?? source).name}:${connectionId}` : null
  }
  const leasesOf = (task: TaskRow) => leasesOfTask(database, plugins, { plugin: task.plugin, options: optionsOf(task) })

  async function lookAround(): Promise<void> {
    if (!(await membership.beat())) {
      log.error('this server was silent for so long that others took over its pipelines')
      for (const { abort } of running.values()) abort.abort(STOPPED)
      await Promise.all([...running.values()].map(({ ended }) => ended))
      holder = newHolder()
      membership = await joinServers(database, holder, leaseMs)
    }
    await leases.endLeft()
    if (consume) await consumeQueue()
    if (Date.now() >= scheduleAt && !isStopped) {
      scheduleAt = Date.now() + SCHEDULE_MS
      await membership.forgetDead()
      const next = await runDueTicks(control.context, control.startPipeline)
      if (next && next.getTime() < scheduleAt) scheduleAt = next.getTime()
    }
  }

  async function consumeQueue(): Promise<void> {
    for (const id of await cancelRequests(database.kysely, holder)) running.get(id)?.abort.abort(CANCELLED)
    // A run of our own that broke off, say because the database was away, is lost as well.
    const isLost = (other: string, id: number) =>
      other === holder ? Promise.resolve(!running.has(id)) : membership.isDead(other)
    const recovered = await recoverLost(database, isLost, resume)
    if (recovered > 0) log.warn(`${recovered} pipelines that nobody ran any more were taken over`)
    while (!isStopped) {
      const pipeline = await takeNext(database, holder, maxParallel)
      if (!pipeline) return
      begin(pipeline)
    }
  }

  function begin(pipeline: PipelineRow): void {
    const abort = new AbortController()
    const write = createTaskLog(join(logFolder(dataFolder, pipeline.id), PIPELINE_LOG))
    write(`pipeline ${pipeline.id} begins`)
    const { signal } = abort
    void notify?.(pipeline.id, 'TASK_RUNNING')
    const run = { pipeline, database, dispatch, holder, signal, log: write, connectionOf, leases, leasesOf }
    const ended = runPipeline(run)
      .catch((error) => log.error({ pipeline: pipeline.id }, `the run broke off: ${messageOf(error)}`))
      .finally(() => {
        write.close()
        running.delete(pipeline.id)
        if (!isStopped) void notify?.(pipeline.id)
        wake()
      })
    running.set(pipeline.id, { abort, ended })
  }

  const loop = (async () => {
    while (!isStopped) {
      await lookAround().catch((error) => log.error(`the runner goes on after: ${messageOf(error)}`))
      await new Promise<void>((done) => {
        const timer = setTimeout(done, LOOK_MS)
        wake = () => {
          clearTimeout(timer)
          done()
        }
        if (isStopped) wake()
      })
    }
  })()

  return {
    async stop() {
      isStopped = true
      wake()
      forget()
      await loop
      const interrupted = [...running]
      for (const [, { abort }] of interrupted) abort.abort(STOPPED)
      await Promise.all(interrupted.map(([, { ended }]) => ended))
      try {
        const status = resume ? 'TASK_RESUME' : 'TASK_FAILED'
        for (const [id] of interrupted) {
          await database.kysely.transaction().execute((transaction) => release(transaction, id, status, holder))
        }
        await membership.leave()
      } catch (error) {
        // Whoever starts next finds out by itself, a little later.
        log.warn(`what was interrupted could not be handed over: ${messageOf(error)}`)
      } finally {
        await dispatch.close()
      }
    },
  }
}
