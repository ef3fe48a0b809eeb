/**
 * Runs pipelines and follows the schedule, beside any number of servers that do the same on this database. It lives on,
 * looks for work and follows the schedule each in a loop of its own: a lock or a source that hangs holds up one of them.
 */
import { join } from 'node:path'
import { newHolder } from '../database/holder.ts'
import { retrying } from '../database/write.ts'
import { messageOf } from '../errors.ts'
import type { ControlPlane } from './control-plane.ts'
import { now } from './fence.ts'
import { createLeases, type Server } from './leases.ts'
import type { PipelineRow, TaskRow } from './pipeline-rows.ts'
import { cancelRequests, recoverLost, release, takeNext } from './queue.ts'
import { repeat } from './repeat.ts'
import { CANCELLED, runPipeline } from './run-pipeline.ts'
import { followSchedule } from './schedule.ts'
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

interface Run {
  readonly abort: AbortController
  readonly ended: Promise<void>
}

/** Also the longest that a request of another server to cancel stays unseen. */
const LOOK_MS = 500
/** Servers that died are forgotten this often. */
const FORGET_MS = 10_000
const STOPPED = 'this server stops'

export async function startRunner(control: ControlPlane, options: RunnerOptions): Promise<Runner> {
  const { database, log } = control.context
  const { dispatch, consume, maxParallel, resume, leaseMs = LEASE_MS } = options
  const running = new Map<number, Run>()
  const joinOthers = async (): Promise<Server> => {
    const holder = newHolder()
    return { holder, membership: await joinServers(database, holder, leaseMs) }
  }
  dispatch.fence.open(now(), leaseMs)
  let server = await joinOthers()
  /** False: others took this server for dead, and it has not joined again. */
  let isMember = true
  let isStopped = false
  let forgetAt = 0
  const leases = createLeases(database, () => server)
  const begin = beginner(control, dispatch, leases)

  async function live(): Promise<void> {
    let asked = now()
    if (isMember && !(await server.membership.beat())) {
      log.error('this server was silent for so long that others took over its pipelines')
      isMember = false
    }
    if (!isMember) {
      for (const { abort } of running.values()) abort.abort(STOPPED)
      await Promise.all([...running.values()].map(({ ended }) => ended))
      asked = now()
      server = await joinOthers()
      isMember = true
    }
    dispatch.fence.open(asked, leaseMs)
    for (const id of await cancelRequests(database.kysely, server.holder)) running.get(id)?.abort.abort(CANCELLED)
    await leases.endLeft()
    if (performance.now() < forgetAt) return
    forgetAt = performance.now() + FORGET_MS
    await server.membership.forgetDead()
  }

  async function consumeQueue(): Promise<void> {
    const { holder, membership } = server
    // A run of our own that broke off, say because the database was away, is lost as well.
    const isLost = (other: string, id: number) =>
      other === holder ? Promise.resolve(!running.has(id)) : membership.isDead(other)
    const recovered = await recoverLost(database, isLost, resume)
    if (recovered > 0) log.warn(`${recovered} pipelines that nobody ran any more were taken over`)
    const isOurs = () => isMember && server.holder === holder
    while (!isStopped && isOurs()) {
      const pipeline = await takeNext(database, holder, maxParallel)
      // Taken under a name that is dead since: whoever looks next finds that nobody runs it.
      if (!pipeline || !isOurs()) return
      const { abort, ended } = begin(pipeline, holder)
      running.set(pipeline.id, {
        abort,
        ended: ended.finally(() => {
          running.delete(pipeline.id)
          if (!isStopped) void control.context.notify?.(pipeline.id)
          queue.wake()
        }),
      })
    }
  }

  const goOn = (error: unknown) => log.error(`the runner goes on after: ${messageOf(database.explain(error) ?? error)}`)
  const life = repeat(LOOK_MS, live, goOn)
  const queue = repeat(LOOK_MS, async () => (consume && isMember ? consumeQueue() : undefined), goOn)
  const schedule = followSchedule(control, LOOK_MS)
  const forget = control.onChange((what) => {
    if (what === 'schedule') schedule.wake()
    life.wake()
    queue.wake()
  })

  return {
    async stop() {
      isStopped = true
      forget()
      await Promise.all([schedule.stop(), queue.stop()])
      const interrupted = [...running]
      for (const [, { abort }] of interrupted) abort.abort(STOPPED)
      await Promise.all(interrupted.map(([, { ended }]) => ended))
      // To the last: nobody takes for dead what is only ending.
      await life.stop()
      try {
        for (const [id] of interrupted) {
          await retrying(database, () =>
            database.kysely.transaction().execute((transaction) => release(transaction, id, resume, server.holder)),
          )
        }
        await server.membership.leave()
      } catch (error) {
        // Whoever starts next finds out by itself, a little later.
        log.warn(`what was interrupted could not be handed over: ${messageOf(error)}`)
      } finally {
        await dispatch.close()
      }
    },
  }
}

/** How this server begins a pipeline that it has taken. */
function beginner(control: ControlPlane, dispatch: TaskDispatch, leases: ReturnType<typeof createLeases>) {
  const { database, plugins, secrets, log, dataFolder, notify } = control.context
  /** Of a task whose options cannot be read nothing is known; it fails by itself, and says why. */
  const optionsOf = ({ options }: TaskRow) => createReader().read('options', () => openOptions(options, secrets), {})
  function connectionOf(task: TaskRow): string | null {
    const source = plugins.find(({ name }) => name === task.plugin)?.source
    const { connectionId } = optionsOf(task)
    return source && connectionId ? `${(source.settingsOf ?? source).name}:${connectionId}` : null
  }
  const leasesOf = (task: TaskRow) => leasesOfTask(database, plugins, { plugin: task.plugin, options: optionsOf(task) })

  return (pipeline: PipelineRow, holder: string): Run => {
    const abort = new AbortController()
    const write = createTaskLog(join(logFolder(dataFolder, pipeline.id), PIPELINE_LOG))
    write(`pipeline ${pipeline.id} begins`)
    const { signal } = abort
    void notify?.(pipeline.id, 'TASK_RUNNING')
    const run = { pipeline, database, dispatch, holder, signal, log: write, connectionOf, leases, leasesOf }
    const ended = runPipeline(run)
      .catch((error) => log.error({ pipeline: pipeline.id }, `the run broke off: ${messageOf(error)}`))
      .finally(() => write.close())
    return { abort, ended }
  }
}
