/** Tasks that workers run, and what all processes together may ask of sources. A module of tables exports tables and nothing else. */
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
    /** Of this attempt: whoever has an older one can do nothing. */
    token: string(40),
    pipeline_id: bigint(),
    project: string(),
    plugin: string(100),
    /** Orders what waits, so that projects share the workers. */
    position: bigint(),
    /** Tokens of the leases that go to whoever takes the task. */
    leases: json(),
    /** The server that handed it out, and the version of its code. */
    coordinator: string(200),
    version: string(40),
    /** Nothing else may run in the worker that takes it. */
    is_alone: boolean(),
    /** The worker that takes nothing else until it can take this one. */
    reserved_by: string(200),
    /** Empty: nobody has taken it. */
    worker: indexed(string(200)),
    /** JSON; empty while it waits or runs. */
    outcome: text(),
    /** Why a worker did not take it. */
    note: text(),
    ...written,
  },
  { meaning: 'Tasks that were handed out to workers: who runs each, and how it ended.' },
)

export const taskLogs = defineTable(
  '_weir_task_logs',
  {
    id: generated(key(bigint())),
    /** 0: the log of the run itself. */
    task_id: indexed(bigint()),
    pipeline_id: indexed(bigint()),
    /** The data folder that has the file, and where in the file this piece ends. */
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
    /** What happened, equal for all tasks that it interrupted: the server or worker that ended, or a thread of it. */
    incident: key(string(200)),
    pipeline_id: indexed(bigint()),
    /** It ended without a word, and the task may be the reason. */
    is_loss: boolean(),
    cause: text(),
    ...written,
  },
  { meaning: 'What interrupted tasks: servers, workers and threads that stopped or broke down.' },
)

export const requestBudgets = defineTable(
  '_weir_request_budgets',
  {
    /** A hash: of a credential and a class of requests, or of a connection with a limit of its own. */
    name: key(string(64)),
    /** What the source last said is left. */
    remaining: bigint(),
    /** Requests that may have been sent since. */
    reserved: bigint(),
    /** When the source allows new ones, or when the next request of an even pace may start: milliseconds by the database's clock. */
    next_at: bigint(),
    /** Somebody asks the source what it allows. */
    is_probing: boolean(),
    ...written,
  },
  { meaning: 'What sources still allow, shared by all servers and workers; credentials are hashed.' },
)
