/** Plans of pipelines, and what a plugin adds to those that are made for projects. */
import type { AnyValue } from '../../database/table.ts'
import type { DomainType } from './subtask.ts'

export interface PlanTask {
  readonly plugin: string
  /** Null or empty: those that run by default. */
  readonly subtasks: readonly string[] | null
  readonly options: Readonly<Record<string, AnyValue>>
}
/** Stages run one after another; the tasks of one stage run at the same time. */
export type Stage = readonly PlanTask[]
export type Plan = readonly Stage[]

/** A row of the domain model that stands for a scope. */
export interface DomainScope {
  readonly table: string
  readonly rowId: string
}

/** A scope that is about to be collected. */
export interface PlannedScope {
  /** Plugin that its connection is of. */
  readonly plugin: string
  readonly connectionId: number
  readonly title: string
  readonly entities: ReadonlySet<DomainType>
  /** As the scope config has them. */
  readonly settings: Readonly<Record<string, unknown>>
  /** Of a repository: its row in repos, and where it is cloned from. */
  readonly repoId: string | undefined
  readonly cloneUrl: string | undefined
}

export interface MetricProject {
  readonly projectName: string
  readonly domainScopes: readonly DomainScope[]
  readonly option: MetricOption
}
/** What a project has set for a metric. */
export type MetricOption = Readonly<Record<string, unknown>>

export interface PlanParts {
  /** Before anything is collected: which rows belong to the project. */
  readonly mapProject?: (projectName: string, domainScopes: readonly DomainScope[]) => PlanTask
  /** At the same time as the scope; left out where collectors are skipped. */
  readonly withScope?: (scope: PlannedScope) => PlanTask | undefined
  /** In the stage after the scope. */
  readonly afterScope?: (scope: PlannedScope) => PlanTask | undefined
  /** After everything is collected, in projects that have switched the metric on. */
  readonly metric?: {
    readonly plan: (project: MetricProject) => Plan
    /** Refuses by a UserError what may not be set for it. */
    readonly check?: (option: MetricOption) => void
  }
}
