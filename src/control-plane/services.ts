/** Everything that the API and the command line can do with configuration and runs, whatever the plugin. */

import type { Database } from '../database/database.ts'
import type { TaskStatus } from '../domain/enums.ts'
import type { UnavailableError } from '../errors.ts'
import type { Logger } from '../log.ts'
import type { Settings } from '../plugin-kit/spec/fields.ts'
import type { Plan } from '../plugin-kit/spec/plan.ts'
import type { Plugin } from '../plugin-kit/spec/plugin.ts'
import type { Secrets } from '../secrets.ts'
import type { Actor } from './audit/record.ts'
import type { PlanPreview } from './plan/preview.ts'
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
  Project,
  Scope,
  ScopeConfig,
  ScopeView,
  SubtaskDetail,
  SyncPolicy,
  Task,
} from './records.ts'
import type { Listed, Paged } from './store.ts'

/** `status` is the one to tell of; without it the present one. */
export type Notify = (pipelineId: number, status?: TaskStatus) => Promise<void>

/** What services work with. */
export interface ServiceContext {
  readonly database: Database
  readonly plugins: readonly Plugin[]
  readonly secrets: Secrets
  /** Task logs are kept here. */
  readonly dataFolder: string
  readonly log: Logger
  /** On whose behalf runs are started and ended, and scopes are deleted; Weir's own unless told. */
  readonly actor?: Actor
  /** Tells whoever waits in this process that pipelines or blueprints changed; other processes see it when they poll. */
  readonly changed: (what: Change) => void
  /** Called when a pipeline was created, begins or ends. */
  readonly notify?: Notify
}
export type Change = 'pipelines' | 'schedule' | 'deliveries'

/** When a record was last changed as far as the sender knows: refused (412) when somebody changed it since. */
export type Seen = Date | undefined

export interface ProjectService {
  /** Newest first unless sorted otherwise, with the last pipeline of each. */
  list(
    filter?: Paged & {
      readonly keyword?: string
      readonly names?: readonly string[]
      readonly sort?: 'newest' | 'oldest' | 'name'
    },
  ): Promise<Listed<Project>>
  /** With its blueprint: the given one, or daily at midnight UTC and six months back. */
  create(project: {
    readonly name: string
    readonly description?: string
    readonly metrics?: readonly Metric[]
    readonly blueprint?: Partial<NewBlueprint>
  }): Promise<Project>
  get(name: string): Promise<Project>
  exists(name: string): Promise<boolean>
  /** An absent description is cleared; metrics replace all, and are left alone when absent. */
  update(
    name: string,
    changes: { readonly name?: string; readonly description?: string; readonly metrics?: readonly Metric[] },
    seen?: Seen,
  ): Promise<Project>
  /** Refused while a pipeline of its blueprint is unfinished (409). */
  remove(name: string): Promise<void>
}

/** What a blueprint reaches. */
export type BlueprintParts = Pick<Blueprint, 'mode' | 'plan' | 'beforePlan' | 'afterPlan' | 'connections'>

export interface BlueprintService {
  list(
    filter?: Paged & {
      readonly enable?: boolean
      readonly isManual?: boolean
      readonly label?: string
      readonly type?: 'ALL' | 'MANUAL' | 'DAILY' | 'WEEKLY' | 'MONTHLY' | 'CUSTOM'
      /** Only of these. */
      readonly projects?: readonly string[]
    },
  ): Promise<Listed<Blueprint>>
  create(blueprint: NewBlueprint): Promise<Blueprint>
  get(id: number): Promise<Blueprint>
  /** Of the blueprint as it is then: what others change meanwhile stays, but for the same fields. */
  update(
    id: number,
    changes: BlueprintChanges | ((before: Blueprint) => BlueprintChanges),
    seen?: Seen,
    /** Throws where whoever asks may not do it: looks at the blueprint as it is and as it would be, plans in clear. */
    allow?: (before: BlueprintParts, after: BlueprintParts) => void,
  ): Promise<Blueprint>
  /** Connections and scopes that `found` names for the blueprint as it is join it; gives it as stored, plans in clear. */
  addScopes(
    id: number,
    found: (blueprint: Blueprint, database: Database) => Promise<readonly BlueprintConnection[]>,
  ): Promise<Blueprint>
  remove(id: number): Promise<void>
  trigger(id: number, flags?: Partial<Pick<SyncPolicy, 'skipCollectors' | 'fullSync'>>): Promise<Pipeline>
  /** What a trigger would run now, with the requests and time that each scope should take. */
  preview(id: number, flags?: Partial<Pick<SyncPolicy, 'skipCollectors' | 'fullSync'>>): Promise<PlanPreview>
  /** The same for a blueprint that is not saved. */
  previewOf(blueprint: NewBlueprint): Promise<PlanPreview>
}

export interface PipelineFilter extends Paged {
  /** Nothing has one that is no TaskStatus. */
  readonly status?: string
  /** Only unfinished ones. */
  readonly pending?: boolean
  readonly blueprintId?: number
  readonly label?: string
  /** Only of the blueprints of these. */
  readonly projects?: readonly string[]
  /** A part of its name, or its number. */
  readonly keyword?: string
}
/** What a task is about. */
export interface TaskSubject {
  readonly taskId: number
  /** Place in the plan, both from 1. */
  readonly stage: number
  readonly column: number
  readonly plugin: string
  readonly pluginTitle: string
  readonly title: string
  /** Whose data it works on; the scope is null where the task names none that is known. */
  readonly source: { readonly plugin: string; readonly connectionId: number; readonly scopeId: string | null } | null
}
export type TaskStep = SubtaskDetail
export interface PipelineEvent {
  readonly pipeline: Pipeline
  readonly tasks: readonly Task[]
}
export interface PipelineService {
  list(filter?: PipelineFilter): Promise<Listed<Pipeline>>
  create(pipeline: NewPipeline): Promise<Pipeline>
  get(id: number): Promise<Pipeline>
  /** Newest attempt of each place in the plan, newest id first. */
  tasks(id: number): Promise<readonly Task[]>
  /** The same in pieces, for runs of any size. */
  tasksInPieces(id: number): Promise<{ readonly count: number; readonly pieces: AsyncIterable<readonly Task[]> }>
  subtasks(id: number): Promise<PipelineSubtasks>
  /** What each task is about, by stage and column. */
  subjects(id: number): Promise<readonly TaskSubject[]>
  /** The steps of one task, in their order; none before it begins. */
  steps(taskId: number): Promise<readonly TaskStep[]>
  /** Does nothing to a finished one. Running work ends within a second. */
  cancel(id: number): Promise<void>
  /** Runs again what did not complete; gives the new tasks. */
  rerun(id: number): Promise<readonly Task[]>
  rerunTask(taskId: number): Promise<Task>
  /**
   * A snapshot now and at every change, until the pipeline is finished or the signal is given. While the database is away
   * it waits, for two minutes at most, and tells so once.
   */
  watch(id: number, signal: AbortSignal, onAway?: (error: UnavailableError) => void): AsyncIterable<PipelineEvent>
  /** pipeline.log and one file a task, as tar.gz; 404 when nothing is stored here. */
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
  /** Of a source refused (409) while used by a blueprint, while it has scopes, or while a pipeline runs. */
  remove(plugin: string, id: number): Promise<Connection>
  /** With its secrets in clear, for a connection test or a request; `overrides` go over the stored values. */
  reveal(plugin: string, id: number, overrides?: Settings): Promise<Connection>
  /** Values of an unsaved connection, checked and with defaults. */
  check(plugin: string, values: Settings): Settings
  /** The same values with secrets masked, for echoes. */
  mask(plugin: string, values: Settings): Settings
}

export interface ScopeService {
  /** Writes all columns of each; a scope without scopeConfigId loses its scope config. */
  put(plugin: string, connectionId: number, scopes: readonly Settings[]): Promise<readonly Scope[]>
  /** Writes those that are not there yet; what is there stays as it is. */
  add(plugin: string, connectionId: number, scopes: readonly Settings[]): Promise<void>
  list(
    plugin: string,
    connectionId: number,
    filter?: Paged & { readonly searchTerm?: string; readonly blueprints?: boolean },
  ): Promise<Listed<ScopeView>>
  get(plugin: string, connectionId: number, scopeId: string, options?: { blueprints?: boolean }): Promise<ScopeView>
  update(plugin: string, connectionId: number, scopeId: string, changes: Settings, seen?: Seen): Promise<Scope>
  /** With everything that was collected for it, or only that. */
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
  /** Of another scope config than `id`, in any connection: clients of DevLake expect that to be refused. */
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

/** A project, a scope, all scopes of a connection or plugin; or everything. */
export interface CollectedFilter {
  readonly project?: string | undefined
  readonly plugin?: string | undefined
  readonly connectionId?: number | undefined
  readonly scopeId?: string | undefined
}
interface OfScope {
  /** Whose connection it is of; another plugin may have worked for it. */
  readonly source: string
  readonly connectionId: number
  readonly scopeId: string
  readonly scopeName: string
  readonly plugin: string
  readonly subtask: string
  readonly rawTable: string
  readonly createdAt: Date
  readonly updatedAt: Date
}
export interface GapRecord {
  readonly kind: string
  readonly address: string
  readonly status: number | null
  readonly reason: string
  readonly input: unknown
  readonly since: Date | null
  readonly missing: number | null
  /** How many runs asked without success. */
  readonly attempts: number
  readonly isAskedAgain: boolean
}
export interface ReceiptRecord extends OfScope {
  readonly status: string
  readonly message: string
  readonly expected: number | null
  readonly received: number
  readonly stored: number
  readonly since: Date | null
  readonly until: Date | null
  readonly requests: number
  readonly countedRequests: number
  readonly lastSuccessAt: Date | null
  /** The list holds incidents and nothing else. */
  readonly tellsIncidents: boolean
  readonly gaps: readonly GapRecord[]
}
export interface QuarantinedRecord extends OfScope {
  readonly rawId: number
  readonly recordKey: string
  readonly entity: string
  readonly reason: string
}
export interface CollectedService {
  receipts(filter: CollectedFilter): Promise<readonly ReceiptRecord[]>
  /** Newest first. */
  quarantined(filter: CollectedFilter & Paged): Promise<Listed<QuarantinedRecord>>
  /** Runs what was put aside through extraction and conversion again; gives the pipeline. */
  redrive(filter: CollectedFilter): Promise<Pipeline>
  /** Collects, and asks also for gaps that were given up; gives the pipeline. */
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
