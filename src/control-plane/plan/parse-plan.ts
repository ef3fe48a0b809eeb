import { UserError } from '../../errors.ts'
import { hintOf, shortName } from '../../nearest.ts'
import type { Plan, PlanTask } from '../../plugin-kit/spec/plan.ts'
import type { Plugin } from '../../plugin-kit/spec/plugin.ts'
import { pickNames } from '../settings.ts'
import { selectSubtasks } from './select-subtasks.ts'

/** Where in a plan something stands: the stage and the task, from 0, and the field. */
export type PlanPath = readonly (string | number)[]

export class PlanError extends UserError {
  readonly path: PlanPath
  constructor(message: string, path: PlanPath) {
    super(message)
    this.path = path
  }
}

/** A plan that users wrote: checked, and in one spelling. */
export function parsePlan(plugins: readonly Plugin[], plan: unknown, name = 'plan'): Plan {
  return stagesOf(plan, name).map((stage, row) =>
    tasksOf(stage, row, name).map((task, column) => parseTask(plugins, task, [row, column], name)),
  )
}

export function stagesOf(plan: unknown, name = 'plan'): readonly unknown[] {
  if (Array.isArray(plan)) return plan
  throw new PlanError(`${name} must be a list of stages, each a list of tasks.`, [])
}

export function tasksOf(stage: unknown, row: number, name = 'plan'): readonly unknown[] {
  if (Array.isArray(stage)) return stage
  throw new PlanError(`Stage ${row + 1} of ${name} must be a list of tasks.`, [row])
}

export function parseTask(
  plugins: readonly Plugin[],
  task: unknown,
  [row, column]: readonly [row: number, column: number],
  name = 'plan',
): PlanTask {
  const place = `Task ${column + 1} in stage ${row + 1} of ${name}`
  const refuse = (message: string, ...field: readonly string[]) => new PlanError(message, [row, column, ...field])
  if (task === null || typeof task !== 'object' || Array.isArray(task)) throw refuse(`${place} must be an object.`)
  const { plugin: pluginName, subtasks, options } = pickNames(['plugin', 'subtasks', 'options'], task)
  const plugin = plugins.find((each) => each.name === pluginName)
  if (pluginName === undefined) throw refuse(`plugin of ${place} is missing: add it.`)
  if (!plugin) {
    const known = plugins.map((each) => each.name)
    const unknown = String(pluginName)
    throw refuse(
      `${place} names the plugin ${shortName(unknown)}, which does not exist${hintOf(unknown, known)}`,
      'plugin',
    )
  }
  const names = subtasks ?? []
  if (!Array.isArray(names) || !names.every((each) => typeof each === 'string')) {
    throw refuse(`${place}: subtasks must be a list of names, or null.`, 'subtasks')
  }
  if (options !== undefined && options !== null && (typeof options !== 'object' || Array.isArray(options))) {
    throw refuse(`${place}: options must be an object.`, 'options')
  }
  try {
    selectSubtasks(plugin, names)
  } catch (error) {
    throw error instanceof UserError ? refuse(error.message, 'subtasks') : error
  }
  return { plugin: plugin.name, subtasks: names, options: options ?? {} }
}

export const countTasks = (plan: Plan): number => plan.reduce((sum, stage) => sum + stage.length, 0)

/** Stage i of all plans runs together. */
export function mergePlans(plans: readonly Plan[]): Plan {
  const length = Math.max(0, ...plans.map((plan) => plan.length))
  return Array.from({ length }, (_, index) => plans.flatMap((plan) => plan[index] ?? []))
}
