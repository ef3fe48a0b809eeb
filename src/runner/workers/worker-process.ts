/** A process without an API that runs tasks for servers. There may be any number of such processes. */
import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { counted } from '../../basics/counted.ts'
import { selectSubtasks } from '../../control-plane/plan/select-subtasks.ts'
import type { TaskRow } from '../../control-plane/runs/pipeline-rows.ts'
import { findRow, updateRows } from '../../control-plane/store.ts'
import type { Database } from '../../database/database.ts'
import { messageOf, UserError } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import type { Plugin } from '../../plugin-kit/spec/plugin.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import { tasks } from '../../system/pipelines.ts'
import { servers } from '../../system/runs.ts'
import { taskRuns } from '../../system/workers.ts'
import { belong } from '../belong.ts'
import { repeat } from '../repeat.ts'
import { CANCELLED } from '../run-pipeline.ts'
import { LEASE_MS, type TellStandstill } from '../servers.ts'
import { shareLogs } from '../share-logs.ts'
import type { TaskDispatch, TaskOutcome } from '../task-dispatch.ts'
import { connectionOfTask, optionsOfTask } from '../task-leases.ts'
import { claimRun, endRun, reserveRun, stillWaiting, type TaskRun, waitingRuns, wantedTokens } from './task-runs.ts'

interface WorkerContext {
  readonly database: Database
  readonly plugins: readonly Plugin[]
  readonly secrets: Secrets
  readonly dataFolder: string
  readonly log: Logger
}
interface WorkerOptions {
  /** The threads that run the tasks. */
  readonly threads: TaskDispatch
  /** The number of tasks at a time. */
  readonly concurrency: number
  /** The version of this code. */
  readonly version: string
  readonly leaseMs?: number
  readonly tellStandstill?: TellStandstill
}
interface WorkerProcess {
  /** Takes no new tasks, waits up to `drainMs` for running ones, and hands the rest back. */
  stop(drainMs: number): Promise<void>
}

/** A task that this worker has taken, or is about to take. */
interface Claim {
  readonly abort: AbortController
  readonly ended: Promise<void>
  readonly isAlone: boolean
  /** The lease holder that took it; empty before that. */
  holder: string
}

const BEAT_MS = 500
/** The shortest and longest pause of a worker with a free place before it looks for a task again. The pause grows while it finds none. */
const SHORTEST_LOOK_MS = 250
const LONGEST_LOOK_MS = 1000
const PAUSE_MS = 1000
const STOPPED = 'this worker stops'
const LOST = 'others took this worker for dead'

export async function startWorkerProcess(context: WorkerContext, options: WorkerOptions): Promise<WorkerProcess> {
  const { database, log } = context
  const { concurrency, version, leaseMs = LEASE_MS } = options
  const claims = new Map<string, Claim>()
  /** Tokens of attempts that this version of the code cannot run. */
  let puzzles: readonly string[] = []
  let lookMs = SHORTEST_LOOK_MS
  const logs = shareLogs(context, { isAlways: true })
  const threads = logs.around(options.threads)
  const presence = await belong(database, {
    fence: threads.fence,
    leaseMs,
    about: { role: 'worker', host: hostname(), version, concurrency },
    tellStandstill: options.tellStandstill,
    log,
    lost: 'this worker was silent for too long; its tasks continue elsewhere',
    endAll() {
      const own = [...claims.values()]
      for (const { abort } of own) abort.abort(LOST)
      return Promise.all(own.map(({ ended }) => ended))
    },
  })
  let isDraining = false

  async function live(): Promise<void> {
    await presence.beat()
    const { leaseHolder } = presence.server
    const own = [...claims].filter(([, { holder }]) => holder === leaseHolder)
    if (own.length === 0) return
    const wanted = await wantedTokens(database.kysely, leaseHolder)
    for (const [token, { abort }] of own) if (!wanted.has(token)) abort.abort(CANCELLED)
  }

  /** Takes as many tasks as there are places for. */
  async function look(): Promise<void> {
    const { kysely } = database
    const isAlone = () => [...claims.values()].some((claim) => claim.isAlone)
    const isFree = () => !isDraining && presence.isMember && claims.size < concurrency && !isAlone()
    if (!isFree()) return
    puzzles = await stillWaiting(kysely, puzzles)
    let isTaking = false
    for (const run of await waitingRuns(kysely, [...puzzles, ...claims.keys()])) {
      if (!isFree()) break
      const task = await findRow(kysely, tasks, { id: run.task_id })
      if (!task) continue
      const puzzle = unknownOf(context.plugins, task)
      if (puzzle) await leave(run, puzzle)
      else if (!run.is_alone || claims.size === 0) {
        void take(run, task).catch(goOn)
        isTaking = true
        // Takes nothing else, so that it can take this task when its running ones have ended.
      } else if (await reserveRun(kysely, run, presence.server.leaseHolder)) break
    }
    lookMs = isTaking ? SHORTEST_LOOK_MS : Math.min(2 * lookMs, LONGEST_LOOK_MS)
  }

  /** Looks soon, because a place is free again, and often others waited for the task that ended. */
  function lookSoon(): void {
    lookMs = SHORTEST_LOOK_MS
    places.wake()
  }

  async function take(run: TaskRun, task: TaskRow): Promise<void> {
    const { token } = run
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    const claim: Claim = { abort: new AbortController(), ended, isAlone: run.is_alone, holder: '' }
    claims.set(token, claim)
    try {
      await runClaimed(run, task, claim)
    } finally {
      claims.delete(token)
      end()
      if (claim.holder !== '') lookSoon()
    }
  }

  /** Leaves a task to a worker of another version that can run it. The server finds such a worker. */
  async function leave({ task_id, token }: TaskRun, puzzle: string): Promise<void> {
    const note = `The worker on ${hostname()} (version ${version}) leaves task ${task_id} to others: ${puzzle}`
    log.warn({ task: task_id }, note)
    puzzles = [...puzzles, token]
    await updateRows(database.kysely, taskRuns, { task_id, token, worker: '' }, { note })
  }

  async function runClaimed(run: TaskRun, task: TaskRow, claim: Claim): Promise<void> {
    const { plugins, secrets } = context
    const { signal } = claim.abort
    const begin = async () => {
      const { leaseHolder } = presence.server
      if (isDraining || !presence.isMember || !(await claimRun(database, run, leaseHolder))) return false
      claim.holder = leaseHolder
      log.info({ task: task.id }, `task ${task.id} (${task.plugin}) begins`)
      return true
    }
    const connection = connectionOfTask(plugins, { plugin: task.plugin, options: optionsOfTask(task, secrets) })
    const { coordinator: leaseHolder, pipeline_id: pipelineId, project } = run
    const handed = {
      id: task.id,
      plugin: task.plugin,
      connection,
      pipelineId,
      project,
      leaseHolder,
      leases: [],
      isAlone: run.is_alone,
    }
    const outcome = await threads.run(handed, signal, begin)
    if (!outcome) return
    const ended = handBack(outcome, signal, claim.holder)
    await persist(signal, async () => {
      const isOurs = await endRun(database, run, claim.holder, ended)
      const end = isOurs ? `ends: ${ended.status}` : 'was taken over by others'
      log.info({ task: task.id }, `task ${task.id} (${task.plugin}) ${end}`)
    })
  }

  /** Retries until the database is back, unless others have taken over by then. */
  async function persist(signal: AbortSignal, write: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        return await write()
      } catch (error) {
        if (signal.reason === LOST) return
        log.warn(
          `the end of a task is stored when the database is back: ${messageOf(database.explain(error) ?? error)}`,
        )
        await sleep(PAUSE_MS)
      }
    }
  }

  const goOn = (error: unknown) =>
    log.error(`this worker continues after an error: ${messageOf(database.explain(error) ?? error)}`)
  const life = repeat(BEAT_MS, live, goOn)
  const places = repeat(() => lookMs, look, goOn)

  return {
    async stop(drainMs) {
      isDraining = true
      await Promise.all([
        places.stop(),
        updateRows(database.kysely, servers, { holder: presence.server.leaseHolder }, { is_draining: true }).catch(
          () => 0,
        ),
      ])
      const rest = () => Promise.all([...claims.values()].map(({ ended }) => ended))
      if (claims.size > 0) log.info(`waiting for ${counted(claims.size, 'task')} to end`)
      const timeUp = new AbortController()
      await Promise.race([rest(), sleep(drainMs, undefined, { signal: timeUp.signal }).catch(() => {})])
      timeUp.abort()
      if (claims.size > 0) log.info(`handing back ${counted(claims.size, 'task')}`)
      for (const { abort } of claims.values()) abort.abort(STOPPED)
      await rest()
      // Sends heartbeats until the end, so that others do not take a worker that is stopping for dead.
      await life.stop()
      await presence.server.membership.leave().catch(goOn)
      await logs.stop()
      await threads.close()
    },
  }
}

/** Makes a task that was interrupted because its worker stopped continue on another worker. */
function handBack(outcome: TaskOutcome, { aborted, reason }: AbortSignal, incident: string): TaskOutcome {
  if (outcome.status === 'TASK_CANCELLED' && aborted && reason !== CANCELLED) {
    const interruption = { incident, isLoss: false, cause: 'its worker was stopped' }
    return { status: 'TASK_RESUME', message: 'Its worker stopped and handed it back.', interruption }
  }
  if (outcome.status !== 'TASK_FAILED' || !outcome.isAway) return outcome
  return { status: 'TASK_RESUME', message: outcome.message }
}

/** Returns what this version of the code lacks to run a task; undefined when it can run it. Another version may be able to. */
function unknownOf(plugins: readonly Plugin[], { plugin: name, subtasks }: TaskRow): string | undefined {
  const plugin = plugins.find((each) => each.name === name)
  if (!plugin) return `it has no plugin ${name}.`
  try {
    selectSubtasks(plugin, subtasks)
    return undefined
  } catch (error) {
    if (error instanceof UserError) return error.message
    throw error
  }
}
