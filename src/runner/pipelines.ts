import type { StartPipeline } from '../control-plane/blueprints/blueprints.ts'
import { parsePlan } from '../control-plane/plan/parse-plan.ts'
import { restoreSecrets } from '../control-plane/plan/plan-secrets.ts'
import type { Pipeline, Task } from '../control-plane/records.ts'
import {
  newestStates,
  newestTasks,
  readTasks,
  type TaskRow,
  type TaskState,
} from '../control-plane/runs/pipeline-rows.ts'
import type { PipelineService, ServiceContext } from '../control-plane/services.ts'
import { findRow, selectRows } from '../control-plane/store.ts'
import { UserError } from '../errors.ts'
import { tasks } from '../system/pipelines.ts'
import { createPipeline, startBlueprint } from './create-pipeline.ts'
import { listPipelines } from './list-pipelines.ts'
import { summarisePipeline } from './pipeline-summary.ts'
import { cancelPipeline } from './queue.ts'
import { rerunTasks } from './rerun-tasks.ts'
import { inTransaction, readPipeline, recordRun, storedPipeline } from './stored-pipelines.ts'
import { followTaskLog, logArchive } from './task-log.ts'
import { taskSteps, taskSubjects } from './task-subjects.ts'
import { watchPipeline } from './watch.ts'

const TASKS_AT_ONCE = 500

export function pipelineService(context: ServiceContext): PipelineService & { start: StartPipeline } {
  const { database, plugins, secrets } = context
  const { kysely } = database
  const stored = (id: number) => storedPipeline(kysely, id)

  async function* readPieces(states: readonly TaskState[]): AsyncGenerator<readonly Task[]> {
    for (let start = 0; start < states.length; start += TASKS_AT_ONCE) {
      const ids = states.slice(start, start + TASKS_AT_ONCE).map(({ id }) => id)
      const rows = await selectRows(kysely, tasks, (query) => query.where('id', 'in', ids).orderBy('id', 'desc'))
      yield readTasks(kysely, rows, secrets)
    }
  }

  return {
    list: (filter) => listPipelines(context, filter),
    async create(pipeline) {
      const plan = restoreSecrets(parsePlan(plugins, pipeline.plan))
      return (await createPipeline(context, { ...pipeline, plan })) as Pipeline
    },
    start: startBlueprint(context),
    get: (id) => readPipeline(context, id),
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
      return summarisePipeline(context, id)
    },
    subjects: (id) => taskSubjects(context, id),
    steps: (taskId) => taskSteps(context, taskId),
    async cancel(id) {
      await stored(id)
      await inTransaction(database, async (transaction) => {
        const before = await cancelPipeline(transaction, id)
        const isRunning = before === 'TASK_RUNNING'
        if (before) await recordRun(transaction, context, 'cancel', id, { isRunning }, { status: 'TASK_CANCELLED' })
      })
      context.changed('pipelines')
    },
    rerun: (id) => rerunTasks(context, id, (newest) => newest.filter(({ status }) => status !== 'TASK_COMPLETED')),
    async rerunTask(taskId) {
      const task = await findRow(kysely, tasks, { id: taskId })
      if (!task) throw new UserError(`There is no task ${taskId}.`, { status: 404 })
      const isSamePlace = (other: TaskRow) =>
        other.pipeline_row === task.pipeline_row && other.pipeline_col === task.pipeline_col
      const [created] = await rerunTasks(context, task.pipeline_id, (newest) => newest.filter(isSamePlace))
      return created as Task
    },
    watch: (id, signal, onAway) => watchPipeline(context, id, signal, onAway),
    async logArchive(id) {
      await stored(id)
      return logArchive(context, id)
    },
    async followLog(taskId, signal) {
      if (!(await findRow(kysely, tasks, { id: taskId }))) {
        throw new UserError(`There is no task ${taskId}.`, { status: 404 })
      }
      return followTaskLog(context, taskId, signal)
    },
  }
}
