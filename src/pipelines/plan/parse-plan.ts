import { UserError } from '../../errors.ts'
import { hintOf, shortName } from '../../nearest.ts'
import type { Plugin } from '../../plugin-kit/subtask.ts'
import type { Plan, PlanTask } from '../records.ts'
import { pickNames } from '../settings.ts'
import { selectSubtasks } from './select-subtasks.ts'

/** A plan that users wrote: checked, and in one spelling. */
export function parsePlan(plugins: readonly Plugin[], plan: unknown, name = 'plan'): Plan {
  if (!Array.isArray(plan)) throw new UserError(`${name} must be a list of stages, each a list of tasks.`)
  return plan.map((stage, row) => {
    if (!Array.isArray(stage)) throw new UserError(`Stage ${row + 1} of ${name} must be a list of tasks.`)
    return stage.map((task, column) => parseTask(plugins, task, `Task ${column + 1} in stage ${row + 1} of ${name}`))
  })
}

function parseTask(plugins: readonly Plugin[], task: unknown, place: string): PlanTask {
  if (task === null || typeof task !== 'object' || Array.isArray(task))
    throw new UserError(`${place} must be an object.`)
  const { plugin: pluginName, subtasks, options } = pickNames(['plugin', 'subtasks', 'options'], task)
  const plugin = plugins.find(({ name }) => name === pluginName)
  if (pluginName === undefined) throw new UserError(`plugin of ${place} is missing: add it.`)
  if (!plugin) {
    const known = plugins.map(({ name }) => name)
    const name = String(pluginName)
    throw new UserError(`${place} names the plugin ${shortName(name)}, which is not there${hintOf(name, known)}`)
  }
  const names = subtasks ?? []
  if (!Array.isArray(names) || !names.every((each) => typeof each === 'string')) {
    throw new UserError(`${place}: subtasks must be a list of names, or null.`)
  }
  if (options !== undefined && options !== null && (typeof options !== 'object' || Array.isArray(options))) {
    throw new UserError(`${place}: options must be an object.`)
  }
  selectSubtasks(plugin, names)
  return { plugin: plugin.name, subtasks: names, options: options ?? {} }
}

export const countTasks = (plan: Plan): number => plan.reduce((sum, stage) => sum + stage.length, 0)

/** Stage i of all plans runs together. */
export function mergePlans(plans: readonly Plan[]): Plan {
  const length = Math.max(0, ...plans.map((plan) => plan.length))
  return Array.from({ length }, (_, index) => plans.flatMap((plan) => plan[index] ?? []))
}
