/** Runs the subtasks of one stored task, in order, from where an earlier attempt stopped. */

import { join } from 'node:path'
import { besideAnswers } from '../basics/answering.ts'
import { counted } from '../basics/counted.ts'
import { connectionOf, recordUse } from '../control-plane/connections/connection-states.ts'
import { countsAsCollector, selectSubtasks } from '../control-plane/plan/select-subtasks.ts'
import { namedFailure } from '../control-plane/plan/task-title.ts'
import type { TaskRow } from '../control-plane/runs/pipeline-rows.ts'
import { openOptions } from '../control-plane/sealed.ts'
import { pluginNamed } from '../control-plane/sources.ts'
import { findRow, insertRow, type Queries, selectRows, updateRows } from '../control-plane/store.ts'
import type { Database } from '../database/database.ts'
import { FatalError, publicMessageOf, UnavailableError } from '../errors.ts'
import { keepSecret, redact } from '../log.ts'
import type { PlanTask } from '../plugin-kit/spec/plan.ts'
import type { Plugin } from '../plugin-kit/spec/plugin.ts'
import type { Subtask, SubtaskResult, TaskRun } from '../plugin-kit/spec/subtask.ts'
import { addressSecrets } from '../secrets/address-secrets.ts'
import { type Secrets, secretsIn } from '../secrets/secrets.ts'
import { pipelines, subtasks, tasks } from '../system/pipelines.ts'
import { taskProgress } from '../system/runs.ts'
import { inSpan } from '../telemetry/events/tracing.ts'
import { atWorkPlace, tellWork } from '../telemetry/events/work-events.ts'
import { trackProgress } from './progress.ts'
import type { TaskOutcome } from './task-dispatch.ts'
import { logFolder, taskLogName } from './task-log.ts'
import { createTaskLog } from './write-log.ts'

export interface TaskEnvironment {
  readonly database: Database
  readonly plugins: readonly Plugin[]
  readonly secrets: Secrets
  readonly dataFolder: string
}

/** The progress of a task, for the message when it fails. */
interface TaskState {
  current: string
  /** True when the task sends requests to its source. */
  isCollecting: boolean
  options: PlanTask['options']
}

export async function runTask(environment: TaskEnvironment, taskId: number, signal: AbortSignal): Promise<TaskOutcome> {
  const { database } = environment
  const task = await findRow(database.kysely, tasks, { id: taskId })
  if (!task) throw new FatalError(`there is no task ${taskId}`)
  const began = performance.now()
  const attributes = { 'weir.pipeline': task.pipeline_id, 'weir.task': task.id, 'weir.plugin': task.plugin }
  const place = { pipeline: task.pipeline_id, task: task.id, plugin: task.plugin }
  // The task may have been started by a request in the same process.
  const outcome = await besideAnswers(() =>
    inSpan(`task ${task.plugin}`, attributes, async (span) => {
      const ended = await atWorkPlace(place, () => runStored(environment, task, signal))
      span.set({ 'weir.status': ended.status })
      return ended
    }),
  )
  const seconds = (performance.now() - began) / 1000
  tellWork({ kind: 'task', plugin: task.plugin, status: outcome.status, seconds, place })
  return outcome
}

async function runStored(environment: TaskEnvironment, task: TaskRow, signal: AbortSignal): Promise<TaskOutcome> {
  const { database, dataFolder } = environment
  const place = { pipeline: task.pipeline_id, task: task.id, plugin: task.plugin }
  const log = createTaskLog(join(logFolder(dataFolder, task.pipeline_id), taskLogName(task)), place)
  const state: TaskState = { current: '', isCollecting: false, options: {} }
  try {
    log(`task ${task.id} begins: ${task.plugin}`)
    const message = await runSubtasks(environment, task, signal, log, state)
    log(message ? `completed, but:\n${message}` : 'completed')
    await noteConnection(environment, task, state)
    return { status: 'TASK_COMPLETED', message }
  } catch (error) {
    if (signal.aborted) {
      log('cancelled')
      return { status: 'TASK_CANCELLED' }
    }
    const { current, options } = state
    const named = (message: string) => namedFailure({ plugin: task.plugin, options }, message)
    const outcome = failedBy(database.explain(error) ?? error, current, named)
    if (outcome.status === 'TASK_FAILED' && !outcome.isAway) {
      await noteConnection(environment, task, state, outcome.message)
    }
    log(`failed${current && ` in ${current}`}: ${error instanceof Error ? (error.stack ?? error.message) : error}`)
    return outcome
  } finally {
    log.close()
  }
}

/**
 * Records whether the connection of the task worked. A task that sent no requests records nothing, and an error here does not
 * fail the task.
 */
async function noteConnection(
  { database, plugins }: TaskEnvironment,
  { id, plugin, pipeline_id }: TaskRow,
  { isCollecting, options }: TaskState,
  failure?: string,
): Promise<void> {
  const connection = isCollecting ? connectionOf(plugins, plugin, options) : undefined
  if (!connection) return
  try {
    const { requests_left } = (await findRow(database.kysely, taskProgress, { task_id: id })) ?? {}
    const requestsLeft = requests_left ?? undefined
    await recordUse(database.kysely, { ...connection, pipelineId: pipeline_id, failure, requestsLeft })
  } catch {
    // The database is away, or the connection was deleted meanwhile: the task is what counts.
  }
}

/** `named` adds the subject of the task to the message. */
export const failedBy = (
  error: unknown,
  failedSubTask = '',
  named: (message: string) => string = (message) => message,
): TaskOutcome => ({
  status: 'TASK_FAILED',
  message: redact(named(publicMessageOf(error))),
  errorName: error instanceof Error ? error.name : '',
  failedSubTask,
  isAway: error instanceof UnavailableError,
})

async function runSubtasks(
  { database, plugins, secrets }: TaskEnvironment,
  task: TaskRow,
  signal: AbortSignal,
  log: (line: string) => void,
  state: TaskState,
): Promise<string> {
  const { kysely } = database
  const pipeline = await findRow(kysely, pipelines, { id: task.pipeline_id })
  const { redrive: isRedriven = false, ...options } = openOptions(task.options, secrets)
  for (const secret of secretsIn(options)) keepSecret(secret)
  state.options = options
  const selected = selectSubtasks(pluginNamed(plugins, task.plugin), task.subtasks, {
    skipCollectors: pipeline?.skip_collectors ?? false,
  })
  state.isCollecting = selected.some(({ name }) => countsAsCollector(name))
  const rows = await subtaskRows(kysely, task.id, selected)
  const progress = await trackProgress(
    database,
    { plugin: task.plugin, subtasks: task.subtasks, options },
    task.id,
    rows,
  )
  const run: Omit<TaskRun, 'progress'> = {
    database: database.until(signal),
    options,
    fullSync: pipeline?.full_sync ?? false,
    // A blueprint without a start date collects everything. For a run without a blueprint the start date is not specified.
    timeAfter: pipeline?.time_after ?? (pipeline?.blueprint_id ? null : undefined),
    signal,
    log,
    decrypt(stored) {
      const plain = secrets.decrypt(stored)
      // An address without a password is stored in clear, and messages may contain it.
      return plain === stored ? plain : hidden(plain)
    },
    encrypt: (plain) => secrets.encrypt(hidden(plain)),
  }
  const lists: { readonly name: string; readonly result: SubtaskResult }[] = []
  for (const [index, subtask] of selected.entries()) {
    const row = rows[index] as (typeof rows)[number]
    if (row.finished_at && !row.is_failed) continue
    signal.throwIfAborted()
    state.current = subtask.name
    const began_at = new Date()
    const spent = () => ({
      finished_at: new Date(),
      spent_seconds: Math.round((Date.now() - began_at.getTime()) / 1000),
    })
    const save = (values: Record<string, unknown>) => updateRows(kysely, subtasks, { id: row.id }, values)
    await save({ began_at, finished_at: null, is_failed: false, message: '' })
    log(`${subtask.name} begins`)
    const report = progress.begin(subtask.name, row.id)
    try {
      if (isRedriven) await subtask.redrive?.({ ...run, progress: report })
      const began = performance.now()
      const result = await inSpan(`subtask ${subtask.name}`, { 'weir.plugin': task.plugin }, () =>
        subtask.run({ ...run, progress: report }),
      )
      const { records, rows: written, quarantined } = result
      const seconds = (performance.now() - began) / 1000
      tellWork({
        kind: 'subtask',
        plugin: task.plugin,
        subtask: subtask.name,
        seconds,
        records,
        rows: written,
        quarantined,
      })
      if (result.list) lists.push({ name: subtask.name, result })
      // Stored before the subtask counts as finished, so that a crash in between repeats it and never skips it.
      await progress.end(records)
      await save({ ...spent(), finished_records: records, message: redact(remarksOf(result)) })
      log(
        `${subtask.name} ends: ${counted(records, 'record')} read, ${counted(written, 'row')} written, ${quarantined} put aside`,
      )
    } catch (error) {
      const message = redact(publicMessageOf(database.explain(error) ?? error))
      if (!signal.aborted) await save({ ...spent(), is_failed: true, message })
      throw error
    } finally {
      progress.stop()
    }
  }
  const [first] = lists
  if (first && lists.every(({ result }) => result.list === 'lost')) {
    state.current = first.name
    throw new FatalError(`nothing could be collected: ${remarksOf(first.result)}`)
  }
  return (await subtaskRows(kysely, task.id, selected))
    .filter(({ message }) => message !== '')
    .map(({ name, message }) => `${name}: ${message}`)
    .join('\n')
}

/** Lists what is missing or odd although the subtask succeeded. */
function remarksOf({ remarks = [], quarantined }: SubtaskResult): string {
  const aside =
    quarantined > 0
      ? [`${counted(quarantined, 'record')} could not be used and ${quarantined === 1 ? 'was' : 'were'} put aside`]
      : []
  return [...remarks, ...aside].join('; ')
}

/** Registers a secret that was read, so that logs never show it. The parts of a list are registered one by one. */
function hidden(plain: string): string {
  const inAddress = addressSecrets(plain)
  for (const part of inAddress.length > 0 ? inAddress : [plain, ...plain.split(',')]) keepSecret(part)
  return plain
}

/** Creates one row per subtask. Rows of an earlier attempt are kept. */
async function subtaskRows(queries: Queries, taskId: number, selected: readonly Subtask[]) {
  const stored = () => selectRows(queries, subtasks, (query) => query.where('task_id', '=', taskId).orderBy('number'))
  const known = new Set((await stored()).map(({ name }) => name))
  const counts = { collectors: 0, others: 0 }
  for (const [index, { name }] of selected.entries()) {
    const is_collector = countsAsCollector(name)
    const sequence = is_collector ? ++counts.collectors : ++counts.others
    if (known.has(name)) continue
    await insertRow(queries, subtasks, { task_id: taskId, name, number: index + 1, sequence, is_collector })
  }
  const byName = new Map((await stored()).map((row) => [row.name, row]))
  return selected.map(({ name }) => byName.get(name)).filter((row) => row !== undefined)
}
