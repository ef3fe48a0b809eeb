/** Which server runs what, which ticks were seen, and how far tasks are. */
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
    /** Grows while the server lives; others judge by whether it does, not by anybody's clock. */
    beats: bigint(),
    /** `server` or `worker`; empty: a command that deletes data. */
    role: string(20),
    host: string(),
    version: string(40),
    /** Tasks at a time; 0 for a server that leaves them to workers. */
    concurrency: bigint(),
    /** How much it used of the memory that it may have, at its last beat. */
    memory_percent: bigint(),
    /** How many processes its machine had ended for lack of memory, at its last beat; empty: it does not tell. */
    memory_kills: optional(bigint()),
    /** It takes nothing new, and will stop. */
    is_draining: boolean(),
    /** Why the collection stands still as far as only this process may know, such as its disk; empty: it does not. */
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
    /** Of this lease alone: whoever ends it ends no later one. */
    token: indexed(string(40)),
    /** 0: it is held to delete data; -1: to apply a delivery. */
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
    /** Ticks up to this moment have been run, or were before the schedule was set. */
    ticked_at: timestamp(),
    ...written,
  },
  { meaning: 'The last time in the schedule of a blueprint that was handled.' },
)

export const wantedCalculations = defineTable(
  '_weir_wanted_calculations',
  {
    blueprint_id: key(bigint()),
    /** When the first message came that no calculation has seen; empty: all have been seen. */
    wanted_at: indexed(timestamp()),
    /** The last run that calculated because of messages; 0: none. */
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
    /** Of the last test or collection that the source answered as it should. */
    succeeded_at: timestamp(),
    /** Of the last one that failed, with the reason. */
    failed_at: timestamp(),
    failure: text(),
    /** The last run that collected with it; 0: none. */
    pipeline_id: bigint(),
    collected_at: timestamp(),
    requests_left: optional(bigint()),
    /** When the source said so. */
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
    /** Equal for tasks with equal options, so that a run can be compared with the one before. */
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
