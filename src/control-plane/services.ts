/** The operations on configuration and runs that the API and the command line offer for all plugins. */

import type { Database } from '../database/database.ts'
import type { TaskStatus } from '../domain/enums.ts'
import type { UnavailableError } from '../errors.ts'
import type { Logger } from '../log.ts'
import type { Settings } from '../plugin-kit/spec/fields.ts'
import type { Plan } from '../plugin-kit/spec/plan.ts'
import type { Plugin } from '../plugin-kit/spec/plugin.ts'
import type { Secrets } from '../secrets/secrets.ts'
import type { Actor } from './audit/record.ts'
import type {
  Blueprint,
  BlueprintChanges,
  BlueprintConnection,
  Connection,
  Metric,
  NewBlueprint,
  NewPipeline,
  Pipeline,
  PipelineSubtasks,
  PlanPreview,
  Project,
  QuarantinedRecord,
  ReceiptRecord,
  Scope,
  ScopeConfig,
  ScopeView,
  SyncPolicy,
  Task,
  TaskStep,
  TaskSubject,
} from './records.ts'
import type { Listed, Paged } from './store.ts'

/** Announces `status`, or the current status of the pipeline when absent. */
export type Notify = (pipelineId: number, status?: TaskStatus) => Promise<void>

/** The dependencies of all services. */
export interface ServiceContext {
  readonly database: Database
  readonly plugins: readonly Plugin[]
  readonly secrets: Secrets
  /** Task logs are kept here. */
  readonly dataFolder: string
  readonly log: Logger
  /** The author of runs that are started and ended, and of scopes that are deleted; Weir itself when absent. */
  readonly actor?: Actor
  /** Notifies listeners in this process that pipelines or blueprints changed. Other processes notice when they poll. */
  readonly changed: (what: Change) => void
  /** Called when a pipeline was created, begins or ends. */
  readonly notify?: Notify
}
export type Change = 'pipelines' | 'schedule' | 'deliveries'

/** The time at which the record was last changed when the sender read it. Refused (412) when it was changed since. */
type Seen = Date | undefined

export interface ProjectService {
  /** Newest first unless sorted otherwise, with the last pipeline of each. */
  list(
    filter?: Paged & {
      readonly keyword?: string
      readonly names?: readonly string[]
      readonly sort?: 'newest' | 'oldest' | 'name'
    },
  ): Promise<Listed<Project>>
  /** Also creates a blueprint: the given one, or one that runs daily at midnight UTC and goes back six months. */
  create(project: {
    readonly name: string
    readonly description?: string
    readonly metrics?: readonly Metric[]
    readonly blueprint?: Partial<NewBlueprint>
  }): Promise<Project>
  get(name: string): Promise<Project>
  exists(name: string): Promise<boolean>
  /** An absent description is cleared. Given metrics replace all metrics; absent ones are left alone. */
  update(
    name: string,
    changes: { readonly name?: string; readonly description?: string; readonly metrics?: readonly Metric[] },
    seen?: Seen,
  ): Promise<Project>
  /** Refused while a pipeline of its blueprint is unfinished (409). */
  remove(name: string): Promise<void>
}

/** The parts of a blueprint that decide which data it reaches. */
export type BlueprintParts = Pick<Blueprint, 'mode' | 'plan' | 'beforePlan' | 'afterPlan' | 'connections'>

export interface BlueprintService {
  list(
    filter?: Paged & {
      readonly enable?: boolean
      readonly isManual?: boolean
      readonly label?: string
      readonly type?: 'ALL' | 'MANUAL' | 'DAILY' | 'WEEKLY' | 'MONTHLY' | 'CUSTOM'
      /** Limits the list to blueprints of these projects. */
      readonly projects?: readonly string[]
    },
  ): Promise<Listed<Blueprint>>
  create(blueprint: NewBlueprint): Promise<Blueprint>
  get(id: number): Promise<Blueprint>
  /** Changes the current version of the blueprint. Changes that others make meanwhile are kept, except to the same fields. */
  update(
    id: number,
    changes: BlueprintChanges | ((before: Blueprint) => BlueprintChanges),
    seen?: Seen,
    /** Throws when the user may not make this change. Compares the blueprint before and after, with plans unmasked. */
    allow?: (before: BlueprintParts, after: BlueprintParts) => void,
  ): Promise<Blueprint>
  /** Adds the connections and scopes that `found` returns for the current blueprint. Returns it as stored, with plans unmasked. */
  addScopes(
    id: number,
    found: (blueprint: Blueprint, database: Database) => Promise<readonly BlueprintConnection[]>,
  ): Promise<Blueprint>
  remove(id: number): Promise<void>
  trigger(id: number, flags?: Partial<Pick<SyncPolicy, 'skipCollectors' | 'fullSync'>>): Promise<Pipeline>
  /** The plan that a trigger would run now, with the requests and time that each scope should take. */
  preview(id: number, flags?: Partial<Pick<SyncPolicy, 'skipCollectors' | 'fullSync'>>): Promise<PlanPreview>
  /** The same for a blueprint that is not saved. */
  previewOf(blueprint: NewBlueprint): Promise<PlanPreview>
}

export interface PipelineFilter extends Paged {
  /** A text that is not a TaskStatus matches nothing. */
  readonly status?: string
  /** Only unfinished ones. */
  readonly pending?: boolean
  readonly blueprintId?: number
  readonly label?: string
  /** Limits the list to pipelines whose blueprints belong to these projects. */
  readonly projects?: readonly string[]
  /** A part of its name, or its number. */
  readonly keyword?: string
}
export interface PipelineEvent {
  readonly pipeline: Pipeline
  readonly tasks: readonly Task[]
}
export interface PipelineService {
  list(filter?: PipelineFilter): Promise<Listed<Pipeline>>
  create(pipeline: NewPipeline): Promise<Pipeline>
  get(id: number): Promise<Pipeline>
  /** The newest attempt of each task in the plan, newest id first. */
  tasks(id: number): Promise<readonly Task[]>
  /** The same in pieces, for runs of any size. */
  tasksInPieces(id: number): Promise<{ readonly count: number; readonly pieces: AsyncIterable<readonly Task[]> }>
  subtasks(id: number): Promise<PipelineSubtasks>
  /** The subject of each task, by stage and column. */
  subjects(id: number): Promise<readonly TaskSubject[]>
  /** The steps of one task, in their order; none before it begins. */
  steps(taskId: number): Promise<readonly TaskStep[]>
  /** Does nothing when the pipeline is finished. Running work stops within a second. */
  cancel(id: number): Promise<void>
  /** Runs the tasks again that did not complete. Returns the new tasks. */
  rerun(id: number): Promise<readonly Task[]>
  rerunTask(taskId: number): Promise<Task>
  /**
   * Yields a snapshot now and at every change, until the pipeline is finished or `signal` is aborted. While the database is
   * unreachable it waits, for two minutes at most, and calls `onAway` once.
   */
  watch(id: number, signal: AbortSignal, onAway?: (error: UnavailableError) => void): AsyncIterable<PipelineEvent>
  /** pipeline.log and one file per task, as tar.gz; 404 when nothing is stored on this server. */
  logArchive(id: number): Promise<AsyncIterable<Uint8Array>>
  /** The log of a task from its beginning, continuing while the task runs. */
  followLog(taskId: number, signal: AbortSignal): Promise<AsyncIterable<string>>
}

export interface ConnectionService {
  list(plugin: string): Promise<readonly Connection[]>
  create(plugin: string, values: Settings): Promise<Connection>
  get(plugin: string, id: number): Promise<Connection>
  /** Absent keys keep their value, null resets, an empty or masked secret keeps the stored one. */
  update(plugin: string, id: number, values: Settings, seen?: Seen): Promise<Connection>
  /** For a source it is refused (409) while a blueprint uses the connection, while it has scopes, or while a pipeline runs. */
  remove(plugin: string, id: number): Promise<Connection>
  /** Returns the connection with secrets unmasked, for a connection test or a request. `overrides` replace stored values. */
  reveal(plugin: string, id: number, overrides?: Settings): Promise<Connection>
  /** Checks the values of an unsaved connection and adds defaults. */
  check(plugin: string, values: Settings): Settings
  /** Masks the secrets, so that the values can be sent back in an answer. */
  mask(plugin: string, values: Settings): Settings
}

export interface ScopeService {
  /** Writes all columns of each scope; a scope without scopeConfigId loses its scope config. */
  put(plugin: string, connectionId: number, scopes: readonly Settings[]): Promise<readonly Scope[]>
  /** Writes the scopes that do not exist yet; existing ones are not changed. */
  add(plugin: string, connectionId: number, scopes: readonly Settings[]): Promise<void>
  list(
    plugin: string,
    connectionId: number,
    filter?: Paged & { readonly searchTerm?: string; readonly blueprints?: boolean },
  ): Promise<Listed<ScopeView>>
  get(plugin: string, connectionId: number, scopeId: string, options?: { blueprints?: boolean }): Promise<ScopeView>
  update(plugin: string, connectionId: number, scopeId: string, changes: Settings, seen?: Seen): Promise<Scope>
  /** Deletes the scope and everything that was collected for it; with `dataOnly` only the latter. */
  remove(plugin: string, connectionId: number, scopeId: string, options?: { dataOnly?: boolean }): Promise<Scope>
  latestSyncState(
    plugin: string,
    connectionId: number,
    scopeId: string,
  ): Promise<readonly { raw_data_table: string; raw_data_params: string; latest_success_start: Date | null }[]>
}

export interface ScopeConfigService {
  list(plugin: string, connectionId: number): Promise<readonly ScopeConfig[]>
  create(plugin: string, connectionId: number, values: Settings): Promise<ScopeConfig>
  get(plugin: string, connectionId: number, id: number): Promise<ScopeConfig>
  update(plugin: string, connectionId: number, id: number, values: Settings, seen?: Seen): Promise<ScopeConfig>
  /** Refused (409) while a scope uses it or a pipeline runs. */
  remove(plugin: string, connectionId: number, id: number): Promise<ScopeConfig>
  /** Throws when another scope config than `id` has this name, in any connection. Clients of DevLake expect that. */
  requireFreeName(plugin: string, name: unknown, id?: number): Promise<void>
  projects(
    plugin: string,
    id: number,
  ): Promise<
    readonly {
      name: string
      blueprintId: number
      scopes: readonly { scopeId: string; scopeName: string }[]
    }[]
  >
}

/** Means a project, a scope, all scopes of a connection or plugin, or everything when empty. */
export interface CollectedFilter {
  readonly project?: string | undefined
  readonly plugin?: string | undefined
  readonly connectionId?: number | undefined
  readonly scopeId?: string | undefined
}
export interface CollectedService {
  receipts(filter: CollectedFilter): Promise<readonly ReceiptRecord[]>
  /** Newest first. */
  quarantined(filter: CollectedFilter & Paged): Promise<Listed<QuarantinedRecord>>
  /** Runs quarantined records through extraction and conversion again. Returns the pipeline. */
  redrive(filter: CollectedFilter): Promise<Pipeline>
  /** Collects again, including gaps that had been given up. Returns the pipeline. */
  askAgain(filter: CollectedFilter): Promise<Pipeline>
}

export interface Services {
  readonly projects: ProjectService
  readonly blueprints: BlueprintService
  readonly pipelines: PipelineService
  readonly connections: ConnectionService
  readonly scopes: ScopeService
  readonly scopeConfigs: ScopeConfigService
  readonly collected: CollectedService
  /** Checks a plan given as JSON: `plugin` or `Plugin`, known plugins and subtasks. */
  parsePlan(plan: unknown): Plan
}
