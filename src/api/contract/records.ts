/** Records as the API shows them. */
import { z } from 'zod'
import { ROLES } from '../../config/config.ts'
import { TASK_STATUSES } from '../../domain/enums.ts'
import { time, timeOrNull } from './common.ts'

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

const syncPolicy = {
  skipOnFail: z.boolean(),
  timeAfter: timeOrNull,
  skipCollectors: z.boolean(),
  fullSync: z.boolean(),
}
const written = { createdAt: time, updatedAt: time }
export const problem = z
  .object({ fields: z.array(z.string()), message: z.string() })
  .meta({ id: 'Problem', description: 'Which parts cannot be read, and are left empty here; and what to do about it.' })
  .optional()

export const blueprint = z
  .object({
    id: z.int(),
    name: z.string(),
    projectName: z.string(),
    mode: z.enum(['NORMAL', 'ADVANCED']),
    plan,
    enable: z.boolean(),
    cronConfig: z.string(),
    isManual: z.boolean(),
    beforePlan: plan.nullable(),
    afterPlan: plan.nullable(),
    labels: z.array(z.string()),
    connections: z.array(
      z.object({
        pluginName: z.string(),
        connectionId: z.int(),
        scopes: z.array(z.object({ scopeId: z.string() })),
      }),
    ),
    priority: z.int(),
    problem,
    ...syncPolicy,
    ...written,
  })
  .meta({ id: 'Blueprint' })

export const pipeline = z
  .object({
    id: z.int(),
    name: z.string(),
    blueprintId: z.int(),
    plan,
    totalTasks: z.int(),
    finishedTasks: z.int(),
    beganAt: timeOrNull,
    finishedAt: timeOrNull,
    status,
    message: z.string(),
    errorName: z.string(),
    spentSeconds: z.int(),
    interruptions: z
      .int()
      .meta({ description: 'How often servers, workers or threads that ran its tasks stopped or broke down.' }),
    stage: z.int(),
    labels: z.array(z.string()),
    priority: z.int(),
    problem,
    ...syncPolicy,
    ...written,
  })
  .meta({ id: 'Pipeline' })

const metric = z.object({ pluginName: z.string(), pluginOption: z.any(), enable: z.boolean() })

export const project = z
  .object({
    name: z.string(),
    description: z.string(),
    ...written,
    _raw_data_params: z.string(),
    _raw_data_table: z.string(),
    _raw_data_id: z.int(),
    _raw_data_remark: z.string(),
    metrics: z.array(metric),
    blueprint: blueprint.nullable(),
    lastPipeline: pipeline.optional(),
  })
  .meta({ id: 'Project' })

const progressDetail = z.object({
  totalSubTasks: z.int(),
  finishedSubTasks: z.int(),
  totalRecords: z.int(),
  finishedRecords: z.int(),
  subTaskName: z.string(),
  subTaskNumber: z.int(),
  collectSubtaskNumber: z.int(),
  otherSubtaskNumber: z.int(),
  requests: z.int(),
  requestsLeft: z.int().nullable(),
  waitingUntil: timeOrNull,
  estimatedEnd: timeOrNull,
})

const taskBase = {
  id: z.int(),
  plugin: z.string(),
  options: z.record(z.string(), z.any()),
  status,
  message: z.string(),
  errorName: z.string(),
  failedSubTask: z.string(),
  pipelineId: z.int(),
  beganAt: timeOrNull,
  finishedAt: timeOrNull,
  spentSeconds: z.int(),
  problem,
  ...written,
}
export const task = z
  .object({
    ...taskBase,
    subtasks: z.array(z.string()),
    progress: z.number(),
    progressDetail: progressDetail.nullable(),
    pipelineRow: z.int(),
    pipelineCol: z.int(),
    interruptions: z.int().meta({ description: 'How often whatever ran it stopped or broke down. It then continued.' }),
  })
  .meta({ id: 'Task' })

export const taskStep = z
  .object({
    id: z.int(),
    taskId: z.int(),
    name: z.string(),
    number: z.int(),
    beganAt: timeOrNull,
    finishedAt: timeOrNull,
    spentSeconds: z.int(),
    finishedRecords: z.int(),
    sequence: z.int(),
    isCollector: z.boolean(),
    isFailed: z.boolean(),
    message: z.string(),
    ...written,
  })
  .meta({ id: 'TaskStep' })

export const taskSubject = z
  .object({
    taskId: z.int(),
    stage: z.int(),
    column: z.int(),
    plugin: z.string(),
    pluginTitle: z.string(),
    title: z.string(),
    source: z
      .object({ plugin: z.string(), connectionId: z.int(), scopeId: z.string().nullable() })
      .nullable()
      .meta({ description: 'Whose data it works on.' }),
  })
  .meta({ id: 'TaskSubject' })

export const pipelineSubtasks = z
  .object({
    subtasks: z.array(
      z.object({
        ...taskBase,
        subtaskDetails: z.array(taskStep),
      }),
    ),
    completionRate: z.number(),
    status: z.union([status, z.literal('')]),
    count: z.int(),
  })
  .meta({ id: 'PipelineSubtasks' })

export const assumption = z
  .object({
    subject: z.string(),
    rules: z.array(z.object({ name: z.string(), label: z.string(), value: z.any() })),
  })
  .meta({ id: 'Assumption', description: 'Default rules, used for scopes without a scope config.' })

const estimate = { requests: z.int().nullable(), seconds: z.number().nullable() }
export const planPreview = z
  .object({
    plan,
    tasks: z.array(
      z.object({
        stage: z.int(),
        column: z.int(),
        plugin: z.string(),
        title: z.string(),
        ...estimate,
        basis: z.enum(['last run', 'similar scopes', 'unknown']),
      }),
    ),
    ...estimate,
    assumptions: z.array(assumption),
  })
  .meta({ id: 'PlanPreview', description: 'What would run, with the expected requests and time.' })

export const apiKey = z
  .object({
    id: z.int(),
    ...written,
    creator: z.string(),
    creatorEmail: z.string(),
    updater: z.string(),
    updaterEmail: z.string(),
    name: z.string(),
    apiKey: z.string().optional(),
    expiredAt: timeOrNull,
    allowedPath: z.string(),
    type: z.string(),
    extra: z.string(),
    role: z.enum(ROLES).optional().meta({ description: 'Left out: everything that its paths allow.' }),
    projects: z
      .array(z.string())
      .optional()
      .meta({ description: 'The projects that the role applies to. Left out: all.' }),
  })
  .meta({ id: 'ApiKey' })
