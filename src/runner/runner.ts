/**
 * Runs pipelines and follows the schedule. Any number of servers may do the same on this database. Heartbeats, the search for
 * work and the schedule run in separate loops, so that a lock or a source that hangs delays only one of them.
 */
import { hostname } from 'node:os'
import { join } from 'node:path'
import { counted } from '../basics/counted.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import { namedFailure } from '../control-plane/plan/task-title.ts'
import type { PipelineRow, TaskRow } from '../control-plane/runs/pipeline-rows.ts'
import { blueprintOfRun } from '../control-plane/runs/wanted-calculations.ts'
import { findRow } from '../control-plane/store.ts'
import { retrying } from '../database/write.ts'
import { messageOf } from '../errors.ts'
import { blueprints } from '../system/projects.ts'
import { belong } from './belong.ts'
import { startCalculations } from './calculations.ts'
import { applyDeliveries } from './deliveries.ts'
import { createDeliveryThread } from './delivery-thread.ts'
import { createLeases } from './leases.ts'
import { cancelRequests, recoverLost, release, takeNext } from './queue.ts'
import { repeat } from './repeat.ts'
import { CANCELLED, runPipeline } from './run-pipeline.ts'
import { followSchedule } from './schedule.ts'
import { LEASE_MS, type TellStandstill } from './servers.ts'
import { type LogSharing, shareLogs } from './share-logs.ts'
import type { TaskDispatch } from './task-dispatch.ts'
import { connectionOfTask, leasesOfTask, optionsOfTask } from './task-leases.ts'
import { logFolder, PIPELINE_LOG } from './task-log.ts'
import { MOST_THREADS } from './task-threads.ts'
import { forgetRuns } from './workers/task-runs.ts'
import { createTaskLog } from './write-log.ts'

export interface RunnerOptions {
  readonly dispatch: TaskDispatch
  /** When false, this server only follows the schedule, and other servers run the pipelines that it starts. */
  readonly consume: boolean
  /** The number of pipelines that run at the same time on all servers of the database; 0 means no limit. */
  readonly maxParallel: number
  /** When true, the runs of a dead server are continued; otherwise they count as failed. */
  readonly resume: boolean
  /** How long a server may be silent before its pipelines are taken over. */
  readonly leaseMs?: number
  /** How long messages are gathered before the projects that they belong to are calculated. */
  readonly calculationDelayMs?: number
  /** The version of the code, shown with the queue. */
  readonly version?: string
  readonly tellStandstill?: TellStandstill
}
export interface Runner {
  /** Stops taking work. Running pipelines are interrupted, and continue at the next start. */
  stop(): Promise<void>
}

interface Run {
  readonly abort: AbortController
  readonly ended: Promise<void>
}

/** Also the longest time until a cancellation that another server requested is noticed. */
const LOOK_MS = 500
/** Leaves half a minute for the calculation itself, so that sent data counts within a minute. */
const CALCULATION_DELAY_MS = 20_000
/** How often dead servers, and task attempts that nobody waits for, are deleted. */
const FORGET_MS = 10_000
const STOPPED = 'this server stops'

export async function startRunner(control: ControlPlane, options: RunnerOptions): Promise<Runner> {
  const { database, log } = control.context
  const logs = shareLogs(control.context, { isAlways: false })
  const dispatch = logs.around(options.dispatch)
  const { consume, maxParallel, resume, leaseMs = LEASE_MS, version = '' } = options
  const { calculationDelayMs = CALCULATION_DELAY_MS } = options
  const running = new Map<number, Run>()
  // Workers and their tasks survive when this server stops.
  const runsTasks = dispatch.follow === undefined
  const about = { role: 'server', host: hostname(), version, concurrency: consume && runsTasks ? MOST_THREADS : 0 }
  const presence = await belong(database, {
    fence: dispatch.fence,
    leaseMs,
    about,
    tellStandstill: options.tellStandstill,
    log,
    lost: 'this server was silent for too long; other servers took over its pipelines',
    endAll() {
      for (const { abort } of running.values()) abort.abort(STOPPED)
      return Promise.all([...running.values()].map(({ ended }) => ended))
    },
  })
  let isStopped = false
  let forgetAt = 0
  const leases = createLeases(database, () => presence.server)
  const begin = beginner(control, dispatch, leases, logs)

  async function live(): Promise<void> {
    await presence.beat()
    const { leaseHolder, membership } = presence.server
    for (const id of await cancelRequests(database.kysely, leaseHolder)) running.get(id)?.abort.abort(CANCELLED)
    await leases.endLeft()
    if (performance.now() < forgetAt) return
    forgetAt = performance.now() + FORGET_MS
    await membership.forgetDead()
    await forgetRuns(database, membership.isDead)
  }

  async function consumeQueue(): Promise<void> {
    const { leaseHolder, membership } = presence.server
    // A run of this server that broke off, for example because the database was unreachable, counts as lost too.
    const isLost = (other: string, id: number) =>
      other === leaseHolder ? Promise.resolve(!running.has(id)) : membership.isDead(other)
    const recovered = await recoverLost(database, isLost, { resume, runsTasks, leaseHolder })
    if (recovered > 0) log.warn(`took over ${counted(recovered, 'pipeline')} of servers that stopped`)
    const isOurs = () => presence.isMember && presence.server.leaseHolder === leaseHolder
    while (!isStopped && isOurs()) {
      const pipeline = await takeNext(database, leaseHolder, maxParallel)
      // The pipeline was taken under a lease holder that others have declared dead since. The next server to look finds it abandoned.
      if (!pipeline || !isOurs()) return
      const { abort, ended } = begin(pipeline, leaseHolder)
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

  const goOn = (error: unknown) =>
    log.error(`the runner continues after an error: ${messageOf(database.explain(error) ?? error)}`)
  const life = repeat(LOOK_MS, live, goOn)
  const queue = repeat(LOOK_MS, async () => (consume && presence.isMember ? consumeQueue() : undefined), goOn)
  const schedule = followSchedule(control, LOOK_MS)
  const stopping = new AbortController()
  const work = createDeliveryThread({ database, fence: dispatch.fence, log }, stopping.signal)
  const applier = { database, leases, work }
  const deliveries = repeat(
    LOOK_MS,
    async () => {
      while (consume && presence.isMember && !stopping.signal.aborted) {
        if ((await applyDeliveries(applier, stopping.signal)) === 0) return
      }
    },
    goOn,
  )
  const calculations = repeat(
    LOOK_MS,
    async () => (presence.isMember ? startCalculations(control.context, calculationDelayMs) : undefined),
    goOn,
  )
  const forget = control.onChange((what) => {
    if (what === 'schedule') schedule.wake()
    life.wake()
    queue.wake()
    deliveries.wake()
  })

  return {
    async stop() {
      isStopped = true
      forget()
      stopping.abort(STOPPED)
      await Promise.all([schedule.stop(), queue.stop(), deliveries.stop(), calculations.stop()])
      await work.close()
      const interrupted = [...running]
      const { leaseHolder, membership } = presence.server
      const stopped = runsTasks ? { incident: leaseHolder, isLoss: false, cause: 'its server was stopped' } : undefined
      for (const [, { abort }] of interrupted) abort.abort(STOPPED)
      await Promise.all(interrupted.map(([, { ended }]) => ended))
      // Sends heartbeats until the end, so that others do not take a server that is stopping for dead.
      await life.stop()
      try {
        for (const [id] of interrupted) {
          await retrying(database, () =>
            database.kysely
              .transaction()
              .execute((transaction) => release(transaction, id, { resume, stopped, leaseHolder })),
          )
        }
        await membership.leave()
      } catch (error) {
        // The next server that starts finds the interrupted runs by itself, a little later.
        log.warn(`what was interrupted could not be handed over: ${messageOf(error)}`)
      } finally {
        await logs.stop()
        await dispatch.close()
      }
    },
  }
}

/** Returns the function that starts a pipeline which this server has taken. */
function beginner(
  control: ControlPlane,
  dispatch: TaskDispatch,
  leases: ReturnType<typeof createLeases>,
  logs: LogSharing,
) {
  const { database, plugins, secrets, log, dataFolder, notify } = control.context
  const optionsOf = (task: TaskRow) => optionsOfTask(task, secrets)
  const connectionOf = (task: TaskRow) => connectionOfTask(plugins, { plugin: task.plugin, options: optionsOf(task) })
  const projectOf = async (pipeline: PipelineRow) => {
    const id = await blueprintOfRun(database.kysely, pipeline)
    return (id > 0 && (await findRow(database.kysely, blueprints, { id }))?.project_name) || ''
  }
  const named = (task: TaskRow, message: string) =>
    namedFailure({ plugin: task.plugin, options: optionsOf(task) }, message)
  const leasesOf = (task: TaskRow) => leasesOfTask(database, plugins, { plugin: task.plugin, options: optionsOf(task) })

  return (pipeline: PipelineRow, leaseHolder: string): Run => {
    const abort = new AbortController()
    const write = createTaskLog(join(logFolder(dataFolder, pipeline.id), PIPELINE_LOG), { pipeline: pipeline.id })
    const endLog = logs.begin({ pipelineId: pipeline.id, taskId: 0 })
    write(`pipeline ${pipeline.id} begins`)
    const { signal } = abort
    void notify?.(pipeline.id, 'TASK_RUNNING')
    const run = { pipeline, database, dispatch, leaseHolder, signal, log: write, connectionOf, leases, leasesOf, named }
    const ended = projectOf(pipeline)
      .then((project) => runPipeline({ ...run, project }))
      .catch((error) => log.error({ pipeline: pipeline.id }, `the run was interrupted: ${messageOf(error)}`))
      .finally(() => {
        write.close()
        // A stopped run is meant to continue elsewhere, so its log is not complete.
        return endLog(!signal.aborted)
      })
    return { abort, ended }
  }
}
