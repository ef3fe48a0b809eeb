/** Tables for runs of blueprints, their tasks and subtasks. */
import {
  bigint,
  boolean,
  defineTable,
  double,
  generated,
  indexed,
  json,
  key,
  sealed,
  string,
  text,
  timestamp,
  written,
} from '../database/table.ts'

export const pipelines = defineTable(
  '_devlake_pipelines',
  {
    id: generated(key(bigint())),
    name: indexed(string(191)),
    blueprint_id: indexed(bigint()),
    /** Always empty: plans are stored in `_weir_plans`. */
    plan: text(),
    total_tasks: bigint(),
    finished_tasks: bigint(),
    began_at: timestamp(),
    finished_at: indexed(timestamp()),
    status: text(),
    message: text(),
    error_name: text(),
    spent_seconds: bigint(),
    stage: bigint(),
    priority: bigint(),
    skip_on_fail: boolean(),
    time_after: timestamp(),
    skip_collectors: boolean(),
    full_sync: boolean(),
    ...written,
  },
  { meaning: 'One run of a blueprint or of a plan posted by hand.' },
)

export const pipelineLabels = defineTable(
  '_devlake_pipeline_labels',
  {
    pipeline_id: key(bigint()),
    name: key(indexed(string(191))),
    ...written,
  },
  { meaning: 'The labels of a run.' },
)

export const tasks = defineTable(
  '_devlake_tasks',
  {
    id: generated(key(bigint())),
    plugin: indexed(string(191)),
    subtasks: json(),
    options: sealed(text()),
    status: text(),
    message: text(),
    error_name: text(),
    progress: double(),
    failed_sub_task: text(),
    pipeline_id: indexed(bigint()),
    pipeline_row: bigint(),
    pipeline_col: bigint(),
    began_at: timestamp(),
    finished_at: indexed(timestamp()),
    spent_seconds: bigint(),
    ...written,
  },
  { meaning: 'One plugin at work inside a run; row and column give its place in the plan.' },
)

export const subtasks = defineTable(
  '_devlake_subtasks',
  {
    id: generated(key(bigint())),
    task_id: indexed(bigint()),
    name: indexed(string(191)),
    number: bigint(),
    began_at: timestamp(),
    finished_at: indexed(timestamp()),
    spent_seconds: bigint(),
    finished_records: bigint(),
    sequence: bigint(),
    is_collector: boolean(),
    is_failed: boolean(),
    message: text(),
    ...written,
  },
  { meaning: 'One step of a task, with its progress.' },
)
