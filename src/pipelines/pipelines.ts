import { type Kysely, sql } from 'kysely'
import { NOBODY, recordChange } from '../audit/record.ts'
import { inPieces, readByKeys } from '../database/pieces.ts'
import { retrying } from '../database/write.ts'
import type { TaskStatus } from '../domain/enums.ts'
import { UserError } from '../errors.ts'
import { pipelineLabels, pipelines, subtasks, tasks } from '../system/pipelines.ts'
import { blueprints } from '../system/projects.ts'
import { type BlueprintRow, ChangedMeanwhile, isSameVersion, storedBlueprint, whileChanging } from './blueprint-rows.ts'
import { planOf, type StartPipeline } from './blueprints.ts'
import {
  newestStates,
  newestTasks,
  type PipelineRow,
  readPipelines,
  readTasks,
  type TaskRow,
  type TaskState,
} from './pipeline-rows.ts'
import { countTasks, parsePlan } from './plan/parse-plan.ts'
import { restoreSecrets } from './plan/plan-secrets.ts'
import { LONGEST_LISTED, LONGEST_SHOWN, writePlans } from './plan/stored-plans.ts'
import { cancelPipeline, holdPipeline } from './queue.ts'
import type { NewPipeline, Pipeline, PipelineSubtasks, Plan, SubtaskDetail, Task, TaskWithSubtasks } from './records.ts'
import { sealJson } from './sealed.ts'
import type { PipelineService, ServiceContext } from './services.ts'
import { isFinished, UNFINISHED } from './states.ts'
import { findRow, insertRow, insertRows, publicRow, type Queries, selectPage, selectRows, updateRows } from './store.ts'
import { followTaskLog, logArchive } from './task-log.ts'
import { taskSteps, taskSubjects } from './task-subjects.ts'
import { watchPipeline } from './watch.ts'

/** Left out of the summary of subtasks: they collect nothing. */
const WITHOUT_SUMMARY = ['org', 'refdiff', 'dora']

/** Tasks that the summary shows with their steps; it counts them all. */
const MOST_SUMMARISED = 1000
const TASKS_AT_ONCE = 500

type Claim = (transaction: Kysely<any>) => Promise<boolean>

export function pipelineService(context: ServiceContext): PipelineService & { start: StartPipeline } {
  const { database, plugins, secrets, dataFolder, actor = NOBODY } = context
  const { kysely } = database
  const record = (
    transaction: Queries,
    action: 'run' | 'rerun' | 'cancel',
    id: number,
    before: object | null,
    after: object,
  ) => recordChange(transaction, actor, { action, subject: 'pipeline', key: String(id), before, after })
  const inTransaction = <Result>(body: (transaction: Kysely<any>) => Promise<Result>): Promise<Result> =>
    retrying(database, () => kysely.transaction().execute(body))

  async function stored(id: number, queries: Queries = kysely): Promise<PipelineRow> {
    const row = await findRow(queries, pipelines, { id })
    if (!row) throw new UserError(`There is no pipeline ${id}.`, { status: 404 })
    return row
  }
  const get = async (id: number) => (await readPipelines(kysely, [await stored(id)], secrets))[0] as Pipeline

  /** Undefined when `claim` says that somebody else was first. */
  async function insert(pipeline: NewPipeline & { plan: Plan }, claim: Claim = async () => true, plannedAt?: Date) {
    const { plan, blueprintId = 0, labels = [], name = '' } = pipeline
    const total_tasks = countTasks(plan)
    if (total_tasks === 0) throw new UserError('The plan has no task: nothing would run.')
    const id = await inTransaction(async (transaction) => {
      if (blueprintId > 0) {
        const blueprint = await requireNonePending(transaction, blueprintId)
        if (!blueprint) throw new UserError(`There is no blueprint ${blueprintId}.`)
        if (plannedAt && !isSameVersion(blueprint, plannedAt)) throw new ChangedMeanwhile()
      }
      if (!(await claim(transaction))) return undefined
      const pipelineId = await insertRow(transaction, pipelines, {
        name,
        blueprint_id: blueprintId,
        total_tasks,
        status: 'TASK_CREATED',
        priority: pipeline.priority ?? 0,
        skip_on_fail: pipeline.skipOnFail ?? false,
        time_after: pipeline.timeAfter ?? null,
        skip_collectors: pipeline.skipCollectors ?? false,
        full_sync: pipeline.fullSync ?? false,
      })
      const kept = { plan: { plan, most: LONGEST_SHOWN.pipeline } }
      await writePlans(transaction, { subject: 'pipeline', subject_id: pipelineId }, kept, secrets)
      const names = [...new Set(labels)].map((label) => ({ pipeline_id: pipelineId, name: label }))
      await insertRows(transaction, pipelineLabels, names)
      await insertRows(transaction, tasks, taskRows(plan, pipelineId))
      const { fullSync = false, skipCollectors = false } = pipeline
      await record(transaction, 'run', pipelineId, null, { name, blueprintId, total_tasks, fullSync, skipCollectors })
      return pipelineId
    })
    if (id === undefined) return undefined
    context.changed('pipelines')
    void context.notify?.(id, 'TASK_CREATED')
    return get(id)
  }

  function* taskRows(plan: Plan, pipeline_id: number) {
    for (const [row, stage] of plan.entries()) {
      for (const [column, { plugin, subtasks: names, options }] of stage.entries()) {
        yield {
          plugin,
          subtasks: names ?? [],
          options: sealJson(options, secrets),
          status: 'TASK_CREATED',
          pipeline_id,
          pipeline_row: row + 1,
          pipeline_col: column + 1,
        }
      }
    }
  }

  async function* readPieces(states: readonly TaskState[]): AsyncGenerator<readonly Task[]> {
    for (let start = 0; start < states.length; start += TASKS_AT_ONCE) {
      const ids = states.slice(start, start + TASKS_AT_ONCE).map(({ id }) => id)
      const rows = await selectRows(kysely, tasks, (query) => query.where('id', 'in', ids).orderBy('id', 'desc'))
      yield readTasks(kysely, rows, secrets)
    }
  }

  async function rerun(id: number, candidates: (newest: readonly TaskRow[]) => readonly TaskRow[]): Promise<Task[]> {
    await inTransaction(async (transaction) => {
      const { blueprint_id, status } = await stored(id, transaction)
      requireEnded(id, status)
      if (blueprint_id > 0) await requireNonePending(transaction, blueprint_id)
      requireEnded(id, (await holdPipeline(transaction, id))?.status)
      const again = candidates(await newestTasks(transaction, id))
      if (again.length === 0) throw new UserError(`Pipeline ${id} has nothing to run again: every task completed.`)
      await updateRows(transaction, pipelines, { id }, { status: 'TASK_RERUN' })
      for (const ids of inPieces(again.map((task) => task.id))) {
        await updateRows(transaction, tasks, { id: [...ids] }, { status: 'TASK_FAILED' })
      }
      const copies = again.map(({ plugin, subtasks: names, options, pipeline_id, pipeline_row, pipeline_col }) => ({
        ...{ plugin, subtasks: names, options, pipeline_id, pipeline_row, pipeline_col, status: 'TASK_RERUN' },
      }))
      await insertRows(transaction, tasks, copies)
      await record(transaction, 'rerun', id, { status }, { status: 'TASK_RERUN', tasks: copies.length })
    })
    context.changed('pipelines')
    const rows = (await newestTasks(kysely, id)).filter(({ status }) => status === 'TASK_RERUN')
    return readTasks(kysely, rows, secrets)
  }

  return {
    async list({ status, pending, blueprintId, label, projects, keyword, ...page } = {}) {
      const { count, items } = await selectPage(
        kysely,
        pipelines,
        page,
        (query) => {
          let narrowed = query
          if (status !== undefined) narrowed = narrowed.where('status', '=', status)
          if (pending) narrowed = narrowed.where('status', 'in', UNFINISHED)
          if (blueprintId) narrowed = narrowed.where('blueprint_id', '=', blueprintId)
          if (projects) {
            const own = kysely
              .selectFrom(blueprints.name)
              .select('id')
              .where('project_name', 'in', [...projects])
            narrowed = narrowed.where('blueprint_id', 'in', own)
          }
          if (keyword) narrowed = narrowed.where(isCalled(keyword))
          const labelled = kysely.selectFrom(pipelineLabels.name).select('pipeline_id').where('name', '=', label)
          return label === undefined ? narrowed : narrowed.where('id', 'in', labelled)
        },
        [['id', 'desc']],
      )
      return { count, items: await readPipelines(kysely, items, secrets, LONGEST_LISTED) }
    },
    async create(pipeline) {
      return (await insert({ ...pipeline, plan: restoreSecrets(parsePlan(plugins, pipeline.plan)) })) as Pipeline
    },
    start: (given, { skipCollectors, fullSync }, claim) =>
      whileChanging(
        given,
        async (blueprint) => {
          const plan = await planOf(context, blueprint, { skipCollectors })
          const { id: blueprintId, name, labels, priority, skipOnFail, timeAfter, updatedAt } = blueprint
          const policy = { skipOnFail, timeAfter, skipCollectors, fullSync }
          return insert({ blueprintId, name, labels, priority, plan, ...policy }, claim, updatedAt)
        },
        () => storedBlueprint(kysely, given.id, secrets),
      ),
    get,
    async tasks(id) {
      await stored(id)
      const rows = await newestTasks(kysely, id)
      return readTasks(
        kysely,
        rows.sort((one, other) => other.id - one.id),
        secrets,
      )
    },
    async tasksInPieces(id) {
      await stored(id)
      const states = await newestStates(kysely, id)
      return { count: states.length, pieces: readPieces(states) }
    },
    async subtasks(id) {
      await stored(id)
      const states = (await newestStates(kysely, id)).filter(({ plugin }) => !WITHOUT_SUMMARY.includes(plugin))
      const ids = states.slice(-MOST_SUMMARISED).map((state) => state.id)
      const rows = await readByKeys(ids, (piece) =>
        selectRows(kysely, tasks, (query) => query.where('id', 'in', piece)),
      )
      const details = await readByKeys(ids, (piece) =>
        selectRows(kysely, subtasks, (query) => query.where('task_id', 'in', piece).orderBy('number').orderBy('id')),
      )
      const shown = withDetails(await readTasks(kysely, rows, secrets), details)
      return { subtasks: shown, ...summarise(states, await collectorsOf(kysely, states)) }
    },
    subjects: (id) => taskSubjects(context, id),
    steps: (taskId) => taskSteps(context, taskId),
    async cancel(id) {
      await stored(id)
      await inTransaction(async (transaction) => {
        const before = await cancelPipeline(transaction, id)
        const isRunning = before === 'TASK_RUNNING'
        if (before) await record(transaction, 'cancel', id, { isRunning }, { status: 'TASK_CANCELLED' })
      })
      context.changed('pipelines')
    },
    rerun: (id) => rerun(id, (newest) => newest.filter(({ status }) => status !== 'TASK_COMPLETED')),
    async rerunTask(taskId) {
      const task = await findRow(kysely, tasks, { id: taskId })
      if (!task) throw new UserError(`There is no task ${taskId}.`, { status: 404 })
      const isSamePlace = (other: TaskRow) =>
        other.pipeline_row === task.pipeline_row && other.pipeline_col === task.pipeline_col
      const [created] = await rerun(task.pipeline_id, (newest) => newest.filter(isSamePlace))
      return created as Task
    },
    watch: (id, signal, onAway) => watchPipeline(context, id, signal, onAway),
    async logArchive(id) {
      await stored(id)
      return logArchive(dataFolder, id)
    },
    async followLog(taskId, signal) {
      if (!(await findRow(kysely, tasks, { id: taskId }))) {
        throw new UserError(`There is no task ${taskId}.`, { status: 404 })
      }
      return followTaskLog(context, taskId, signal)
    },
  }
}

/** By a part of its name in any letter case, or by its number. */
function isCalled(keyword: string) {
  const wanted = keyword.toLowerCase().replace(/[!%_]/g, '!$&')
  const isNumber = /^\d{1,15}$/.test(keyword)
  const called = sql<boolean>`lower(name) like ${`%${wanted}%`} escape '!'`
  return isNumber ? sql<boolean>`(${called} or id = ${Number(keyword)})` : called
}

function requireEnded(id: number, status: string | undefined): void {
  if (status && isFinished(status as TaskStatus)) return
  throw new UserError(`Pipeline ${id} is ${status ?? 'deleted'}: it can run again when it is finished.`)
}

/** The row is locked, so that of two that start a pipeline at once one sees the other's. */
async function requireNonePending(transaction: Queries, blueprintId: number): Promise<BlueprintRow | undefined> {
  const [blueprint] = await selectRows(transaction, blueprints, (query) =>
    query.where('id', '=', blueprintId).forUpdate(),
  )
  if (!blueprint) return undefined
  const [pending] = await selectRows(transaction, pipelines, (query) =>
    query.where('blueprint_id', '=', blueprintId).where('status', 'in', UNFINISHED).limit(1),
  )
  if (pending)
    throw new UserError(`Pipeline ${pending.id} of this blueprint is not finished yet: wait for it, or cancel it.`)
  return blueprint
}

const withDetails = (all: readonly Task[], details: readonly Record<string, any>[]): TaskWithSubtasks[] => {
  const byTask = Map.groupBy(details, ({ task_id }) => task_id)
  return all
    .toSorted((one, other) => one.id - other.id)
    .map(({ subtasks: _names, progress, progressDetail, pipelineRow, pipelineCol, ...task }) => ({
      ...task,
      subtaskDetails: (byTask.get(task.id) ?? []).map((row) => publicRow(subtasks, row) as SubtaskDetail),
    }))
}

interface Collectors {
  readonly all: number
  readonly done: number
}

/** Counted where they are: of a large run there are millions. */
async function collectorsOf(queries: Queries, states: readonly TaskState[]): Promise<Collectors> {
  const counts = await readByKeys(
    states.map(({ id }) => id),
    (piece) =>
      queries
        .selectFrom(subtasks.name)
        .select([
          sql<number>`count(*)`.as('all'),
          sql<number>`count(case when finished_at is not null and is_failed = ${false} then 1 end)`.as('done'),
        ])
        .where('task_id', 'in', piece)
        .where('is_collector', '=', true)
        .execute(),
  )
  const sum = (name: keyof Collectors) => counts.reduce((total, count) => total + Number(count[name]), 0)
  return { all: sum('all'), done: sum('done') }
}

const summarise = (states: readonly TaskState[], { all, done }: Collectors): Omit<PipelineSubtasks, 'subtasks'> => ({
  completionRate: all === 0 ? 1 : Math.round((done / all) * 100) / 100,
  status: overallStatus(states.map(({ status }) => status as TaskStatus)),
  count: states.length,
})

function overallStatus(states: readonly TaskStatus[]): TaskStatus | '' {
  const failed = states.filter((status) => status === 'TASK_FAILED').length
  const completed = states.filter((status) => status === 'TASK_COMPLETED').length
  if (states.length === 0) return ''
  if (failed > 0 && completed > 0) return 'TASK_PARTIAL'
  if (failed === states.length) return 'TASK_FAILED'
  return completed === states.length ? 'TASK_COMPLETED' : 'TASK_RUNNING'
}
