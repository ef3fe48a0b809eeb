/** Finds the subjects of the tasks of a run: readable names, and the scopes that a page can link to. */

import { taskTitle } from '../control-plane/plan/task-title.ts'
import type { TaskStep, TaskSubject } from '../control-plane/records.ts'
import { newestTasks, type TaskRow } from '../control-plane/runs/pipeline-rows.ts'
import { openOptions } from '../control-plane/sealed.ts'
import type { ServiceContext } from '../control-plane/services.ts'
import type { SettingsRow } from '../control-plane/sources.ts'
import { scopeKey, scopeTitle } from '../control-plane/sources.ts'
import { findRow, publicRow, selectRows } from '../control-plane/store.ts'
import { UserError } from '../errors.ts'
import type { PlanTask } from '../plugin-kit/spec/plan.ts'
import type { PluginSpec } from '../plugin-kit/spec/plugin.ts'
import { ownerOf } from '../plugin-kit/task/family.ts'
import { pipelines, subtasks, tasks } from '../system/pipelines.ts'

type Context = Pick<ServiceContext, 'database' | 'plugins' | 'secrets'>
type Options = PlanTask['options']

/** The number of tasks listed at most; nobody reads more names. */
const MOST_TASKS = 5000

export async function taskSubjects(context: Context, pipelineId: number): Promise<TaskSubject[]> {
  const { database, plugins, secrets } = context
  const { kysely } = database
  if (!(await findRow(kysely, pipelines, { id: pipelineId }))) {
    throw new UserError(`There is no pipeline ${pipelineId}.`, { status: 404 })
  }
  const rows = (await newestTasks(kysely, pipelineId)).slice(0, MOST_TASKS)
  const scopes = scopesOfConnections(context)
  const subjects: TaskSubject[] = []
  for (const row of rows) {
    const options = readableOptions(row, secrets)
    const plugin = plugins.find(({ name }) => name === row.plugin)
    const source = sourceOf(context, row.plugin, options)
    const connectionId = Number(options.connectionId)
    const isOfConnection = source !== undefined && Number.isSafeInteger(connectionId) && connectionId > 0
    const scope = isOfConnection ? await scopes(source, connectionId, options) : undefined
    subjects.push({
      taskId: row.id,
      stage: row.pipeline_row,
      column: row.pipeline_col,
      plugin: row.plugin,
      pluginTitle: plugin?.title ?? row.plugin,
      title: (scope && scopeTitle(source as PluginSpec, scope)) || taskTitle({ plugin: row.plugin, options }),
      source: isOfConnection
        ? {
            plugin: source.name,
            connectionId,
            scopeId: scope ? String(scope[scopeKey(source)]) : null,
          }
        : null,
    })
  }
  return subjects
}

/** Options that cannot be read count as empty. The task itself shows the problem. */
function readableOptions({ options }: TaskRow, secrets: Context['secrets']): Options {
  try {
    return openOptions(options, secrets) ?? {}
  } catch {
    return {}
  }
}

/** Finds the plugin whose connection a task uses: its own, the plugin that it stands in for, or one that its options name. */
function sourceOf({ plugins }: Context, name: string, { pluginName }: Options): PluginSpec | undefined {
  const own = plugins.find((plugin) => plugin.name === name)?.source
  if (own) return ownerOf(own)
  return plugins.find((plugin) => plugin.name === pluginName)?.source
}

/** Finds the scope that options name. Scopes are cached, because a run has many tasks of few connections. */
function scopesOfConnections({ database: { kysely } }: Context) {
  const known = new Map<string, Promise<readonly SettingsRow[]>>()
  return async (source: PluginSpec, connectionId: number, options: Options) => {
    const { table, options: columns } = source.scope
    const place = `${source.name} ${connectionId}`
    const rows =
      known.get(place) ?? selectRows(kysely, table, (query) => query.where('connection_id', '=', connectionId))
    known.set(place, rows)
    const namedOptions = Object.entries(columns).filter(
      ([option]) => options[option] !== undefined && options[option] !== '',
    )
    const isNamed = (row: SettingsRow) =>
      namedOptions.some(([option, column]) => String(row[column]) === String(options[option]))
    return namedOptions.length === 0 ? undefined : (await rows).find(isNamed)
  }
}

export async function taskSteps({ database: { kysely } }: Context, taskId: number): Promise<TaskStep[]> {
  if (!(await findRow(kysely, tasks, { id: taskId }))) {
    throw new UserError(`There is no task ${taskId}.`, { status: 404 })
  }
  const rows = await selectRows(kysely, subtasks, (query) => query.where('task_id', '=', taskId).orderBy('number'))
  return rows.map((row) => publicRow(subtasks, row))
}
