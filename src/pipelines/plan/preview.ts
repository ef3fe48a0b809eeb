import type { Plan } from '../records.ts'

export interface TaskEstimate {
  /** Place in the plan, both from 1. */
  readonly stage: number
  readonly column: number
  readonly plugin: string
  /** What the task is about, e.g. the name of a repository or a project. */
  readonly title: string
  readonly requests: number | null
  readonly seconds: number | null
  /** The last completed run of this very scope, other scopes of the plugin, or nothing. */
  readonly basis: 'last run' | 'similar scopes' | 'unknown'
}
export interface PlanPreview {
  readonly plan: Plan
  readonly tasks: readonly TaskEstimate[]
  /** Of the whole plan, stages added up and the slowest task of each; null when any part is unknown. */
  readonly requests: number | null
  readonly seconds: number | null
}
