/** Plans of pipelines, and the tasks that a plugin adds to plans for projects. */
import type { AnyValue } from '../../database/table.ts'
import type { DomainType } from './subtask.ts'

export interface PlanTask {
  readonly plugin: string
  /** Null or empty: the subtasks that run by default. */
  readonly subtasks: readonly string[] | null
  readonly options: Readonly<Record<string, AnyValue>>
}
/** Stages run one after another; the tasks of one stage run at the same time. */
type Stage = readonly PlanTask[]
export type Plan = readonly Stage[]

/** A row of the domain model that stands for a scope. */
export interface DomainScope {
  readonly table: string
  readonly rowId: string
}

/** A scope that is about to be collected. */
export interface PlannedScope {
  /** The plugin of its connection. */
  readonly plugin: string
  readonly connectionId: number
  readonly title: string
  readonly entities: ReadonlySet<DomainType>
  /** The settings in its scope config. */
  readonly settings: Readonly<Record<string, unknown>>
  /** For a repository: its row in repos, and the address it is cloned from. */
  readonly repoId: string | undefined
  readonly cloneUrl: string | undefined
}

export interface MetricProject {
  readonly projectName: string
  readonly domainScopes: readonly DomainScope[]
  readonly option: MetricOption
}
/** The settings of a project for a metric. */
export type MetricOption = Readonly<Record<string, unknown>>

export interface PlanParts {
  /** Runs before anything is collected, and records which rows belong to the project. */
  readonly mapProject?: (projectName: string, domainScopes: readonly DomainScope[]) => PlanTask
  /** Runs at the same time as the task of the scope; left out if collectors are skipped. */
  readonly withScope?: (scope: PlannedScope) => PlanTask | undefined
  /** Runs in the stage after the scope. */
  readonly afterScope?: (scope: PlannedScope) => PlanTask | undefined
  /** Runs after everything is collected, in projects that have switched the metric on. */
  readonly metric?: {
    readonly plan: (project: MetricProject) => Plan
    /** Throws a UserError if the settings are not allowed. */
    readonly check?: (option: MetricOption) => void
  }
}
