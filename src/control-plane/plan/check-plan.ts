/** Helps people who write plans by hand: lists what a plan may contain, and reports mistakes and oddities with their place. */
import { hintOf, shortName } from '../../basics/nearest.ts'
import { oddValue, optionsOf } from '../../plugin-kit/define/task-options.ts'
import type { PlanTask } from '../../plugin-kit/spec/plan.ts'
import type { Plugin } from '../../plugin-kit/spec/plugin.ts'
import type { TaskOption } from '../../plugin-kit/spec/task-options.ts'
import { parseTask } from './parse-plan.ts'
import { PlanError, type PlanPath, stagesOf, tasksOf } from './stages.ts'

interface PlanProblem {
  readonly path: PlanPath
  readonly message: string
  /** A plan with an `error` cannot be saved. An `odd` one runs, but will probably fail or do nothing. */
  readonly severity: 'error' | 'odd'
}

interface PlannablePlugin {
  readonly plugin: string
  readonly title: string
  readonly subtasks: readonly { readonly name: string; readonly isDefault: boolean }[]
  readonly options: readonly (Omit<TaskOption, 'isRequired'> & {
    readonly name: string
    readonly isRequired: boolean
  })[]
  /** A task to start from. */
  readonly template: PlanTask
}

/** The number of problems reported at most; nobody reads more. */
const MOST = 100

export const plannablePlugins = (plugins: readonly Plugin[]): PlannablePlugin[] =>
  plugins.map((plugin) => {
    const options = Object.entries(optionsOf(plugin))
    const examples = options.flatMap(([name, { example }]) => (example === undefined ? [] : [[name, example]]))
    return {
      plugin: plugin.name,
      title: plugin.title,
      subtasks: plugin.subtasks.map(({ name, isDefault }) => ({ name, isDefault })),
      options: options.map(([name, { isRequired = false, ...option }]) => ({ name, ...option, isRequired })),
      template: { plugin: plugin.name, subtasks: [], options: Object.fromEntries(examples) },
    }
  })

export function checkPlan(plugins: readonly Plugin[], plan: unknown): PlanProblem[] {
  const found: PlanProblem[] = []
  const orProblem = <Value>(read: () => Value): Value | undefined => {
    try {
      return read()
    } catch (error) {
      if (!(error instanceof PlanError)) throw error
      found.push({ path: error.path, message: error.message, severity: 'error' })
      return undefined
    }
  }
  const written = orProblem(() => stagesOf(plan))
  if (!written) return found
  const { stages, placeOf } = written
  if (stages.length === 0) {
    found.push({ path: [], message: 'The plan is empty: give it at least one stage.', severity: 'error' })
  }
  for (const [row, stage] of stages.entries()) {
    for (const [column, taskInput] of (orProblem(() => tasksOf(stage, row)) ?? []).entries()) {
      const place = placeOf(row, column)
      const task = orProblem(() => parseTask(plugins, taskInput, place))
      if (task) found.push(...oddOptions(plugins, task, [...place.path, 'options']))
      if (found.length >= MOST) break
    }
    if (found.length >= MOST) return found.slice(0, MOST)
  }
  return found
}

function oddOptions(plugins: readonly Plugin[], { plugin, options }: PlanTask, path: PlanPath): PlanProblem[] {
  const owner = plugins.find(({ name }) => name === plugin)
  const known = new Map(Object.entries(owner ? optionsOf(owner) : {}))
  if (known.size === 0) return []
  const missing = [...known].filter(([name, { isRequired }]) => isRequired && (options[name] ?? '') === '')
  return [
    ...missing.map(([name, { label }]) => odd(path, `${plugin} needs the option ${name}: ${label}.`)),
    ...Object.entries(options).flatMap(([name, value]) => {
      const option = known.get(name)
      if (!option) {
        return [odd([...path, name], `${plugin} has no option ${shortName(name)}${hintOf(name, known.keys())}`)]
      }
      const complaint = oddValue(option, value)
      return complaint ? [odd([...path, name], `The option ${name} of ${plugin} ${complaint}.`)] : []
    }),
  ]
}

const odd = (path: PlanPath, message: string): PlanProblem => ({ path, message, severity: 'odd' })
