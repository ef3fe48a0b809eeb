/** Projects, blueprints, pipelines and tasks as the API shows them, with secrets masked. */

import { z } from 'zod'
import { TASK_STATUSES } from '../domain/enums.ts'
import { gaps } from '../plugin-kit/raw/gaps.ts'
import { quarantine } from '../plugin-kit/raw/quarantine.ts'
import { receipts } from '../plugin-kit/raw/receipts.ts'
import type { Settings } from '../plugin-kit/spec/fields.ts'
import { pipelines, subtasks, tasks } from '../system/pipelines.ts'
import { blueprintConnections, blueprints, projectMetricSettings, projects } from '../system/projects.ts'
import { type Shown, shownColumns } from './shown-columns.ts'

const timeOrNull = z.date().nullable()
const status = z.enum(TASK_STATUSES)

export const plan = z
  .array(
    z.array(
      z.object({
        plugin: z.string(),
        subtasks: z.array(z.string()).nullable(),
        options: z.record(z.string(), z.any()),
      }),
    ),
  )
  .meta({ id: 'Plan', description: 'Stages run one after another; the tasks of one stage run at the same time.' })

/** Present when a part of the record cannot be read, for example because it was encrypted with another key. */
export const problem = z
  .object({ fields: z.array(z.string()), message: z.string() })
  .meta({ id: 'Problem', description: 'Which parts cannot be read, and are left empty here; and what to do about it.' })
  .optional()

const blueprintConnection = z
  .object(shownColumns(blueprintConnections))
  .omit({ blueprintId: true })
  .extend({ scopes: z.array(z.object({ scopeId: z.string() })) })
export type BlueprintConnection = Shown<typeof blueprintConnection>

export const blueprint = z
  .object(shownColumns(blueprints))
  .extend({
    mode: z.enum(['NORMAL', 'ADVANCED']),
    /** Empty in lists of projects, in other lists when it is long, and everywhere when it is long and made again for every run. */
    plan,
    beforePlan: plan.nullable(),
    afterPlan: plan.nullable(),
    labels: z.array(z.string()),
    connections: z.array(blueprintConnection),
    problem,
  })
  .meta({ id: 'Blueprint' })
export type Blueprint = Shown<typeof blueprint>
export type BlueprintChanges = Partial<Omit<Blueprint, 'id' | 'createdAt' | 'updatedAt' | 'problem'>>
export type NewBlueprint = Pick<Blueprint, 'name'> & BlueprintChanges
/** How much to collect. Blueprints and pipelines have the same fields. */
export type SyncPolicy = Pick<Blueprint, 'timeAfter' | 'skipOnFail' | 'skipCollectors' | 'fullSync'>

export const pipeline = z
  .object(shownColumns(pipelines))
  .extend({
    /** Empty when it is long; the tasks contain the same information. */
    plan,
    status,
    interruptions: z
      .int()
      .meta({ description: 'How often servers, workers or threads that ran its tasks stopped or broke down.' }),
    labels: z.array(z.string()),
    problem,
  })
  .meta({ id: 'Pipeline' })
export type Pipeline = Shown<typeof pipeline>
export type NewPipeline = Pick<Pipeline, 'plan'> &
  Partial<SyncPolicy & Pick<Pipeline, 'name' | 'labels' | 'priority' | 'blueprintId'>>

const metric = z
  .object(shownColumns(projectMetricSettings))
  .pick({ pluginName: true, pluginOption: true, enable: true })
export type Metric = Shown<typeof metric>

export const project = z
  .object(shownColumns(projects))
  .extend({
    metrics: z.array(metric),
    blueprint: blueprint.nullable(),
    /** Present only in lists, and only if there is a pipeline. */
    lastPipeline: pipeline.optional(),
  })
  .meta({ id: 'Project' })
export type Project = Shown<typeof project>

const progressDetail = z.object({
  totalSubTasks: z.int(),
  finishedSubTasks: z.int(),
  /** -1 when unknown. */
  totalRecords: z.int(),
  finishedRecords: z.int(),
  subTaskName: z.string(),
  subTaskNumber: z.int(),
  collectSubtaskNumber: z.int(),
  otherSubtaskNumber: z.int(),
  /** Requests sent by this task so far. */
  requests: z.int(),
  /** Requests that the source still allows before its next reset; null when it does not say. */
  requestsLeft: z.int().nullable(),
  /** The time until which the source asked to wait. */
  waitingUntil: timeOrNull,
  /** When the task should be done; null when there is no basis for an estimate. */
  estimatedEnd: timeOrNull,
})
export type ProgressDetail = Shown<typeof progressDetail>

export const task = z
  .object(shownColumns(tasks))
  .extend({
    subtasks: z.array(z.string()),
    options: z.record(z.string(), z.any()),
    status,
    /** Null unless the task is running. */
    progressDetail: progressDetail.nullable(),
    interruptions: z.int().meta({ description: 'How often whatever ran it stopped or broke down. It then continued.' }),
    problem,
  })
  .meta({ id: 'Task' })
export type Task = Shown<typeof task>

export const taskStep = z.object(shownColumns(subtasks)).meta({ id: 'TaskStep' })
export type TaskStep = Shown<typeof taskStep>

export const taskSubject = z
  .object({
    taskId: z.int(),
    /** Stage and column in the plan, both from 1. */
    stage: z.int(),
    column: z.int(),
    plugin: z.string(),
    pluginTitle: z.string(),
    title: z.string(),
    /** The scope is null when the task names no known one. */
    source: z
      .object({ plugin: z.string(), connectionId: z.int(), scopeId: z.string().nullable() })
      .nullable()
      .meta({ description: 'Whose data it works on.' }),
  })
  .meta({ id: 'TaskSubject' })
export type TaskSubject = Shown<typeof taskSubject>

const taskWithSubtasks = task
  .omit({
    subtasks: true,
    progress: true,
    progressDetail: true,
    pipelineRow: true,
    pipelineCol: true,
    interruptions: true,
  })
  .extend({ subtaskDetails: z.array(taskStep) })
export type TaskWithSubtasks = Shown<typeof taskWithSubtasks>
export const pipelineSubtasks = z
  .object({
    subtasks: z.array(taskWithSubtasks),
    /** The share of collectors that have finished, with two decimals; 1 when there are none. */
    completionRate: z.number(),
    status: z.union([status, z.literal('')]),
    count: z.int(),
  })
  .meta({ id: 'PipelineSubtasks' })
export type PipelineSubtasks = Shown<typeof pipelineSubtasks>

export const assumption = z
  .object({
    /** The scopes that the rules apply to, such as `3 scopes of github connection main`. */
    subject: z.string(),
    rules: z.array(z.object({ name: z.string(), label: z.string(), value: z.any() })),
  })
  .meta({ id: 'Assumption', description: 'Default rules, used for scopes without a scope config.' })
export type Assumption = Shown<typeof assumption>

/** For the whole plan: the sum of all requests, and the slowest task of each stage added up. Null when a part is unknown. */
const estimate = { requests: z.int().nullable(), seconds: z.number().nullable() }
export const planPreview = z
  .object({
    /** Empty when it is too long for an answer; `tasks` has all of it. */
    plan,
    tasks: z.array(
      z.object({
        stage: z.int(),
        column: z.int(),
        plugin: z.string(),
        title: z.string(),
        ...estimate,
        /** The last completed run of this scope, other scopes of the plugin, or nothing. */
        basis: z.enum(['last run', 'similar scopes', 'unknown']),
      }),
    ),
    ...estimate,
    assumptions: z.array(assumption),
  })
  .meta({ id: 'PlanPreview', description: 'What would run, with the expected requests and time.' })
export type PlanPreview = Shown<typeof planPreview>

const ofScope = {
  source: z.string().meta({ description: 'Whose connection it is of.' }),
  plugin: z.string().meta({ description: 'What collected it: another may stand in for the source.' }),
  connectionId: z.int(),
  scopeId: z.string(),
  scopeName: z.string(),
}
const gap = z
  .object(shownColumns(gaps))
  .omit({ plugin: true, rawTable: true, params: true, list: true, subtask: true, createdAt: true, updatedAt: true })
  .extend({
    kind: z.enum(['count', 'lost', 'capped']).meta({
      description:
        'count: the source reports more records than it sent; lost: it refused the list; capped: it does not list any more',
    }),
    input: z.any().meta({ description: 'What the list was asked for, where there are many.' }),
    attempts: z.int().meta({ description: 'How many runs asked without success.' }),
    isAskedAgain: z.boolean().meta({ description: 'Whether the next run asks for it.' }),
  })
  .meta({ id: 'Gap', description: 'Data that the source has and a collection did not get.' })
export type GapRecord = Shown<typeof gap>
export const receipt = z
  .object({ ...shownColumns(receipts), ...ofScope })
  .omit({ params: true })
  .extend({
    status: z.enum(['complete', 'gap', 'failed']),
    expected: z.int().nullable().meta({ description: 'Null where the source does not say how much there is.' }),
    tellsIncidents: z.boolean().meta({ description: 'The list holds incidents and nothing else.' }),
    gaps: z.array(gap),
  })
  .meta({ id: 'Receipt', description: 'What the last collection of a list asked for, and what came.' })
export type ReceiptRecord = Shown<typeof receipt>
export const quarantined = z
  .object({ ...shownColumns(quarantine), ...ofScope })
  .omit({ params: true })
  .meta({ id: 'QuarantinedRecord', description: 'A record that could not be used, and why.' })
export type QuarantinedRecord = Shown<typeof quarantined>

/** Connections, scopes and scope configs have base fields, and the fields that the plugin describes under their public names. */
interface Written {
  readonly createdAt: Date
  readonly updatedAt: Date
}
type Sealed = Pick<Blueprint, 'problem'>
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
