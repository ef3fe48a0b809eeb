import { hintOf, shortName } from '../../basics/nearest.ts'
import { UserError } from '../../errors.ts'
import type { Plan, PlanTask } from '../../plugin-kit/spec/plan.ts'
import type { Plugin } from '../../plugin-kit/spec/plugin.ts'
import { pickNames } from '../settings.ts'
import { selectSubtasks } from './select-subtasks.ts'
import { PlanError, stagesOf, type TaskPlace, tasksOf } from './stages.ts'

/** Checks a plan that users wrote and normalises its spelling. */
export function parsePlan(plugins: readonly Plugin[], plan: unknown, name = 'plan'): Plan {
  const { stages, placeOf } = stagesOf(plan, name)
  return stages.map((stage, row) =>
    tasksOf(stage, row, name).map((task, column) => parseTask(plugins, task, placeOf(row, column))),
  )
}

export function parseTask(plugins: readonly Plugin[], task: unknown, { title: place, path }: TaskPlace): PlanTask {
  const refuse = (message: string, ...field: readonly string[]) => new PlanError(message, [...path, ...field])
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

/** Merges plans so that stage i of all of them runs together. */
export function mergePlans(plans: readonly Plan[]): Plan {
  const length = Math.max(0, ...plans.map((plan) => plan.length))
  return Array.from({ length }, (_, index) => plans.flatMap((plan) => plan[index] ?? []))
}
