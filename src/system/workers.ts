/** Tables for tasks that workers run, and for the request budgets that all processes share. This module must export only tables. */
import {
  bigint,
  boolean,
  bytes,
  defineTable,
  generated,
  indexed,
  json,
  key,
  string,
  text,
  written,
} from '../database/table.ts'

export const taskRuns = defineTable(
  '_weir_task_runs',
  {
    task_id: key(bigint()),
    /** Identifies the attempt. A process with an older token cannot change anything. */
    token: string(40),
    pipeline_id: bigint(),
    project: string(),
    plugin: string(100),
    /** The order of waiting tasks, by which projects share the workers. */
    position: bigint(),
    /** Tokens of the leases that pass to the worker that takes the task. */
    leases: json(),
    /** The server that handed the task out; `version` is the version of its code. */
    coordinator: string(200),
    version: string(40),
    /** True when nothing else may run in the worker that takes the task. */
    is_alone: boolean(),
    /** A worker that takes nothing else until it can take this task. */
    reserved_by: string(200),
    /** Empty until a worker has taken the task. */
    worker: indexed(string(200)),
    /** JSON; empty while the task waits or runs. */
    outcome: text(),
    /** Why a worker did not take the task. */
    note: text(),
    ...written,
  },
  { meaning: 'Tasks that were handed out to workers: who runs each, and how it ended.' },
)

export const taskLogs = defineTable(
  '_weir_task_logs',
  {
    id: generated(key(bigint())),
    /** 0 for the log of the run itself. */
    task_id: indexed(bigint()),
    pipeline_id: indexed(bigint()),
    /** The name of the data folder that has the file. `ends_at` is the position in the file at which this piece ends. */
    place: string(40),
    ends_at: bigint(),
    /** Whole lines, compressed with gzip. */
    content: bytes(),
    ...written,
  },
  { meaning: 'Pieces of logs, for servers that do not have their files.' },
)

export const interruptions = defineTable(
  '_weir_interruptions',
  {
    task_id: key(bigint()),
    /**
     * Identifies the event, and is the same for all tasks that it interrupted: the server or worker that ended, or one of its
     * threads.
     */
    incident: key(string(200)),
    pipeline_id: indexed(bigint()),
    /** True when it died silently, so that the task may be the reason. */
    is_loss: boolean(),
    cause: text(),
    ...written,
  },
  { meaning: 'What interrupted tasks: servers, workers and threads that stopped or broke down.' },
)

export const requestBudgets = defineTable(
  '_weir_request_budgets',
  {
    /** A hash of a credential and a class of requests, or of a connection that has its own limit. */
    name: key(string(64)),
    /** The number of requests that the source last reported as left. */
    remaining: bigint(),
    /** The number of requests that may have been sent since then. */
    reserved: bigint(),
    /**
     * When the source allows new requests, or when the next request of an even pace may start, in milliseconds of the clock of
     * the database.
     */
    next_at: bigint(),
    /** True while a process asks the source what it allows. */
    is_probing: boolean(),
    ...written,
  },
  { meaning: 'What sources still allow, shared by all servers and workers; credentials are hashed.' },
)
