/** Tables for the state that is kept between runs, and for imports and restores. */
import {
  bigint,
  boolean,
  defineTable,
  generated,
  indexed,
  json,
  key,
  now,
  string,
  text,
  timestamp,
  written,
} from '../database/table.ts'

export const collectorLatestState = defineTable(
  '_devlake_collector_latest_state',
  {
    raw_data_params: key(indexed(string())),
    raw_data_table: key(string()),
    time_after: timestamp(),
    latest_success_start: timestamp(),
    ...written,
  },
  { meaning: 'When a raw table was last collected in full, for each set of parameters.' },
)

export const subtaskStates = defineTable(
  '_devlake_subtask_states',
  {
    plugin: key(string()),
    subtask: key(string()),
    params: key(indexed(string())),
    prev_config: text(),
    time_after: timestamp(),
    prev_started_at: timestamp(),
    ...written,
  },
  { meaning: 'With which settings a subtask last ran, and when.' },
)

export const rawMarks = defineTable(
  '_weir_raw_marks',
  {
    plugin: key(string(60)),
    subtask: key(string(120)),
    params: key(indexed(string(255))),
    raw_mark: bigint(),
    ...written,
  },
  { meaning: 'The last raw record that an extraction has looked at.' },
)

export const store = defineTable(
  '_devlake_store',
  {
    store_key: key(string()),
    store_value: json(),
    ...written,
  },
  { meaning: 'Small values that the web page stores.' },
)

export const notifications = defineTable(
  '_devlake_notifications',
  {
    id: generated(key(bigint())),
    type: text(),
    endpoint: text(),
    nonce: text(),
    response_code: bigint(),
    response: text(),
    data: text(),
    ...written,
  },
  { meaning: 'Notices sent to other systems, and what they answered.' },
)

export const migrationHistory = defineTable(
  '_devlake_migration_history',
  {
    script_version: key(bigint()),
    script_name: key(string()),
    created_at: now(),
    comment: text(),
  },
  { meaning: 'Stays empty: Weir notes its schema in `_weir_schema_versions`.' },
)

export const lockingHistory = defineTable(
  '_devlake_locking_history',
  {
    id: generated(key(bigint())),
    host_name: text(),
    version: text(),
    succeeded: boolean(),
    ...written,
  },
  { meaning: 'Stays empty: servers that start at once wait for a lock of the database server.' },
)

export const lockingStub = defineTable(
  '_devlake_locking_stub',
  {
    stub: key(string()),
  },
  { meaning: 'Stays empty; DevLake uses it as a lock.' },
)

export const imports = defineTable(
  '_weir_imports',
  {
    /** The kind of import; `devlake` is the only one. */
    id: key(string(20)),
    /** Host and name of the database that it came from. For a database that was adopted in place, its own. */
    origin: string(),
    is_in_place: boolean(),
    with_secrets: boolean(),
    /** Null when the import is not complete. Then no server starts on this database. */
    finished_at: timestamp(),
    /** The findings before the first row was copied: tables and columns that are left behind, and why. */
    findings: json(),
    ...written,
  },
  { meaning: 'The import of a DevLake database into this one, or its adoption in place.' },
)

export const importedTables = defineTable(
  '_weir_imported_tables',
  {
    table_name: key(string(191)),
    records: bigint(),
    /** The key of the last row that was processed. */
    last_key: json(),
    is_finished: boolean(),
    /** Reasons, each with the number of rows left behind for it. */
    left_out: json(),
    ...written,
  },
  { meaning: 'How far the import of each table is: an import that was interrupted continues there.' },
)

export const restores = defineTable(
  '_weir_restores',
  {
    /** Always `current`. */
    id: key(string(20)),
    started_at: timestamp(),
  },
  { meaning: 'A restore that was begun and has not ended: no server starts meanwhile.' },
)
