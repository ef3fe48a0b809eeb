/** Tables for servers and what they run, for handled schedule ticks, and for the progress of tasks. */
import {
  bigint,
  boolean,
  defineTable,
  indexed,
  json,
  key,
  optional,
  string,
  text,
  timestamp,
  written,
} from '../database/table.ts'

export const servers = defineTable(
  '_weir_servers',
  {
    holder: key(string(200)),
    /** Increases while the server is alive. Others judge by whether it increases, and not by any clock. */
    beats: bigint(),
    /** `server` or `worker`; empty for a command that deletes data. */
    role: string(20),
    host: string(),
    version: string(40),
    /** The number of tasks at a time; 0 for a server that leaves them to workers. */
    concurrency: bigint(),
    /** The share of its available memory that it used at its last heartbeat, in percent. */
    memory_percent: bigint(),
    /** The number of processes that its machine had killed for lack of memory, at its last heartbeat; null when unknown. */
    memory_kills: optional(bigint()),
    /** True when it takes no new tasks and will stop. */
    is_draining: boolean(),
    /** The reason for a standstill that only this process may be able to detect, such as a full disk; empty when there is none. */
    standstill: json(),
    ...written,
  },
  { meaning: 'Servers that may run pipelines, and workers that run their tasks.' },
)

export const pipelineLeases = defineTable(
  '_weir_pipeline_leases',
  {
    pipeline_id: key(bigint()),
    holder: string(200),
    cancel_requested: boolean(),
    ...written,
  },
  { meaning: 'Which server runs a pipeline, and whether it was asked to stop.' },
)

export const scopeLeases = defineTable(
  '_weir_scope_leases',
  {
    /** A scope of a connection, a repository or a project. */
    name: key(string(400)),
    holder: string(200),
    /** Unique for each lease, so that ending this one can never end a later one. */
    token: indexed(string(40)),
    /** 0 while data is deleted, -1 while a delivery is applied. */
    task_id: bigint(),
    pipeline_id: bigint(),
    ...written,
  },
  { meaning: 'What only one task at a time may work on, and which task has it now.' },
)

export const blueprintTicks = defineTable(
  '_weir_blueprint_ticks',
  {
    blueprint_id: key(bigint()),
    /** Ticks up to this time have been handled, or were before the schedule was set. */
    ticked_at: timestamp(),
    ...written,
  },
  { meaning: 'The last time in the schedule of a blueprint that was handled.' },
)

export const wantedCalculations = defineTable(
  '_weir_wanted_calculations',
  {
    blueprint_id: key(bigint()),
    /** When the first message arrived that no calculation has included; null when all are included. */
    wanted_at: indexed(timestamp()),
    /** The last run that calculated because of messages; 0 when there was none. */
    pipeline_id: indexed(bigint()),
    ...written,
  },
  { meaning: 'Projects whose numbers wait for a calculation, because something was sent to them.' },
)

export const connectionStates = defineTable(
  '_weir_connection_states',
  {
    plugin: key(string(100)),
    connection_id: key(bigint()),
    /** The time of the last test or collection that succeeded. */
    succeeded_at: timestamp(),
    /** The time of the last one that failed; `failure` is the reason. */
    failed_at: timestamp(),
    failure: text(),
    /** The last run that collected with the connection; 0 when there was none. */
    pipeline_id: bigint(),
    collected_at: timestamp(),
    requests_left: optional(bigint()),
    /** When the source reported `requests_left`. */
    counted_at: timestamp(),
    ...written,
  },
  { meaning: 'Whether a connection worked when it was last used, and what its source still allows.' },
)

export const taskProgress = defineTable(
  '_weir_task_progress',
  {
    task_id: key(bigint()),
    plugin: string(100),
    /** The same for tasks with the same options, so that a run can be compared with the one before. */
    scope_mark: indexed(string(40)),
    subtask: string(191),
    finished_subtasks: bigint(),
    total_subtasks: bigint(),
    done: bigint(),
    expected: optional(bigint()),
    requests: bigint(),
    requests_left: optional(bigint()),
    waiting_until: timestamp(),
    estimated_end: timestamp(),
    ...written,
  },
  { meaning: 'How far a task is, and how many requests it has cost.' },
)
