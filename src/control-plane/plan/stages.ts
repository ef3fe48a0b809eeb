/** The two ways to write a plan: a list of stages, each a list of tasks; or a list of tasks, which is one stage. */
import { UserError } from '../../errors.ts'

/** A position in a plan as the user wrote it: stage (if the plan has stages) and task, both from 0, then the field. */
export type PlanPath = readonly (string | number)[]

export class PlanError extends UserError {
  readonly path: PlanPath
  constructor(message: string, path: PlanPath) {
    super(message)
    this.path = path
  }
}

export interface TaskPlace {
  /** For messages, such as `Task 2 in stage 1 of plan`. */
  readonly title: string
  readonly path: PlanPath
}

interface Stages {
  /** Each should be a list of tasks; `tasksOf` checks that. */
  readonly stages: readonly unknown[]
  readonly placeOf: (row: number, column: number) => TaskPlace
}

const isTask = (entry: unknown) => entry !== null && typeof entry === 'object' && !Array.isArray(entry)

export function stagesOf(plan: unknown, name = 'plan'): Stages {
  if (!Array.isArray(plan)) {
    throw new PlanError(`${name} must be a list of tasks, or a list of stages, each a list of tasks.`, [])
  }
  if (!plan.some(isTask)) {
    const title = (row: number, column: number) => `Task ${column + 1} in stage ${row + 1} of ${name}`
    return { stages: plan, placeOf: (row, column) => ({ title: title(row, column), path: [row, column] }) }
  }
  if (plan.some(Array.isArray)) {
    const other = plan.findIndex((entry) => Array.isArray(entry) !== Array.isArray(plan[0]))
    throw new PlanError(
      `${name} mixes tasks and lists of tasks: write either tasks alone, which are one stage, or every stage as a list of tasks.`,
      [other],
    )
  }
  return {
    stages: [plan],
    placeOf: (_row, column) => ({ title: `Task ${column + 1} of ${name}`, path: [column] }),
  }
}

export function tasksOf(stage: unknown, row: number, name = 'plan'): readonly unknown[] {
  if (Array.isArray(stage)) return stage
  throw new PlanError(`Stage ${row + 1} of ${name} must be a list of tasks.`, [row])
}
