/** Projects, blueprints, pipelines and tasks as the API shows them, with secrets masked. */

import type { TaskStatus } from '../domain/enums.ts'
import type { Settings } from '../plugin-kit/spec/fields.ts'
import type { Plan, PlanTask } from '../plugin-kit/spec/plan.ts'
import type { Problem } from './sealed.ts'

/** How much to collect. Blueprints and pipelines have the same fields. */
export interface SyncPolicy {
  /** Collect what was changed after this moment; null: everything. */
  readonly timeAfter: Date | null
  /** Continue past failed tasks. */
  readonly skipOnFail: boolean
  readonly skipCollectors: boolean
  /** Ignore the state that earlier runs saved. */
  readonly fullSync: boolean
}

export interface Metric {
  readonly pluginName: string
  readonly pluginOption: unknown
  readonly enable: boolean
}

/** Records that contain something encrypted. */
interface Sealed {
  /** Present only when a part of the record cannot be read, for example because it was encrypted with another key. */
  readonly problem?: Problem
}

interface Written {
  readonly createdAt: Date
  readonly updatedAt: Date
}

export interface Project extends Written {
  readonly name: string
  readonly description: string
  readonly _raw_data_params: string
  readonly _raw_data_table: string
  readonly _raw_data_id: number
  readonly _raw_data_remark: string
  readonly metrics: readonly Metric[]
  readonly blueprint: Blueprint | null
  /** Present only in lists, and only if there is a pipeline. */
  readonly lastPipeline?: Pipeline
}

export interface BlueprintConnection {
  readonly pluginName: string
  readonly connectionId: number
  readonly scopes: readonly { readonly scopeId: string }[]
}

type BlueprintMode = 'NORMAL' | 'ADVANCED'

export interface Blueprint extends Written, SyncPolicy, Sealed {
  readonly id: number
  readonly name: string
  /** Empty when the blueprint has no project. */
  readonly projectName: string
  readonly mode: BlueprintMode
  /** Empty in lists of projects, in other lists when it is long, and everywhere when it is long and made again for every run. */
  readonly plan: Plan
  readonly enable: boolean
  /** Five fields or a word such as @daily, in UTC. */
  readonly cronConfig: string
  readonly isManual: boolean
  readonly beforePlan: Plan | null
  readonly afterPlan: Plan | null
  readonly labels: readonly string[]
  readonly connections: readonly BlueprintConnection[]
  readonly priority: number
}
export type NewBlueprint = Pick<Blueprint, 'name'> & Partial<Omit<Blueprint, 'id' | keyof Written | keyof Sealed>>
export type BlueprintChanges = Partial<Omit<Blueprint, 'id' | keyof Written | keyof Sealed>>

export interface Pipeline extends Written, SyncPolicy, Sealed {
  readonly id: number
  readonly name: string
  /** 0 when the pipeline was posted directly, without a blueprint. */
  readonly blueprintId: number
  /** Empty when it is long; the tasks contain the same information. */
  readonly plan: Plan
  readonly totalTasks: number
  readonly finishedTasks: number
  readonly beganAt: Date | null
  readonly finishedAt: Date | null
  readonly status: TaskStatus
  readonly message: string
  readonly errorName: string
  readonly spentSeconds: number
  /** How often servers, workers or threads that ran its tasks stopped or broke down. */
  readonly interruptions: number
  /** The current stage, from 1; 0 before the first. */
  readonly stage: number
  readonly labels: readonly string[]
  readonly priority: number
}
export interface NewPipeline extends Partial<SyncPolicy> {
  readonly name?: string
  readonly plan: Plan
  readonly labels?: readonly string[]
  readonly priority?: number
  readonly blueprintId?: number
}

export interface ProgressDetail {
  readonly totalSubTasks: number
  readonly finishedSubTasks: number
  /** -1 when unknown. */
  readonly totalRecords: number
  readonly finishedRecords: number
  readonly subTaskName: string
  readonly subTaskNumber: number
  readonly collectSubtaskNumber: number
  readonly otherSubtaskNumber: number
  /** Requests sent by this task so far. */
  readonly requests: number
  /** Requests that the source still allows before its next reset; null when it does not say. */
  readonly requestsLeft: number | null
  /** The time until which the source asked to wait. */
  readonly waitingUntil: Date | null
  /** When the task should be done; null when there is no basis for an estimate. */
  readonly estimatedEnd: Date | null
}

export interface Task extends Written, Sealed {
  readonly id: number
  readonly plugin: string
  readonly subtasks: readonly string[]
  readonly options: PlanTask['options']
  readonly status: TaskStatus
  readonly message: string
  readonly errorName: string
  /** 0 to 1. */
  readonly progress: number
  /** Null unless the task is running. */
  readonly progressDetail: ProgressDetail | null
  readonly failedSubTask: string
  readonly pipelineId: number
  /** Stage and position within it, both from 1. */
  readonly pipelineRow: number
  readonly pipelineCol: number
  readonly beganAt: Date | null
  readonly finishedAt: Date | null
  readonly spentSeconds: number
  /** How often the server, worker or thread that ran it stopped or broke down. */
  readonly interruptions: number
}

export interface SubtaskDetail extends Written {
  readonly id: number
  readonly taskId: number
  readonly name: string
  readonly number: number
  readonly beganAt: Date | null
  readonly finishedAt: Date | null
  readonly spentSeconds: number
  readonly finishedRecords: number
  readonly sequence: number
  readonly isCollector: boolean
  readonly isFailed: boolean
  readonly message: string
}
export type TaskWithSubtasks = Omit<
  Task,
  'subtasks' | 'progress' | 'progressDetail' | 'pipelineRow' | 'pipelineCol' | 'interruptions'
> & {
  readonly subtaskDetails: readonly SubtaskDetail[]
}
export interface PipelineSubtasks {
  readonly subtasks: readonly TaskWithSubtasks[]
  /** The share of collectors that have finished, with two decimals; 1 when there are none. */
  readonly completionRate: number
  readonly status: TaskStatus | ''
  readonly count: number
}

/** Connections, scopes and scope configs have base fields, and the fields that the plugin describes under their public names. */
export type Connection = Settings & Written & Sealed & { readonly id: number; readonly name: string }
export type ScopeConfig = Settings &
  Written &
  Sealed & { readonly id: number; readonly connectionId: number; readonly name: string; readonly entities: string[] }
export type Scope = Settings & Written & { readonly connectionId: number; readonly scopeConfigId?: number }
export interface ScopeView {
  readonly scope: Scope
  readonly scopeConfig?: ScopeConfig
  /** Present only when they were asked for and exist. Each comes without plan, connections and labels. */
  readonly blueprints?: readonly Settings[]
}

/** Default rules that apply to scopes without a scope config. */
export interface Assumption {
  /** The scopes that the rules apply to, such as `3 scopes of github connection main`. */
  readonly subject: string
  readonly rules: readonly { readonly name: string; readonly label: string; readonly value: unknown }[]
}
