/**
 * Tables in which collecting remembers its progress, so that nothing is lost and nothing is asked for twice.
 *
 * run          one collection of a raw table for a scope, from its start until all of it has arrived
 * state        facts that the last complete run stores for the next
 * checkpoint   how far a run has come with one input: stored together with the page that it counts
 * etag         an answer of one page that need not be sent again while it is unchanged
 */
import { bigint, boolean, defineTable, json, key, optional, string, timestamp, written } from '../../database/table.ts'

const ofScope = { raw_table: key(string(120)), params: key(string(255)) }

export const collectRuns = defineTable(
  '_weir_collect_runs',
  {
    ...ofScope,
    /** By our clock; the source's own clock decides what is asked for. */
    started_at: timestamp(),
    source_started_at: timestamp(),
    /** Newest change in the records that came, if the source does not tell its time. */
    newest_seen: timestamp(),
    marks: json(),
    since: timestamp(),
    time_after: timestamp(),
    is_full: boolean(),
    inputs: json(),
    /** Raw records up to this id were stored before the run. */
    raw_mark: bigint(),
    /** Number of raw records of this scope that had a record key when the run began. */
    older_count: bigint(),
    ...written,
  },
  { meaning: 'Collections that run or were interrupted; the next run continues them.' },
)
export const collectCheckpoints = defineTable(
  '_weir_collect_checkpoints',
  {
    ...ofScope,
    input_key: key(string(64)),
    page: json(),
    is_done: boolean(),
    received: bigint(),
    expected: optional(bigint()),
    ...written,
  },
  { meaning: 'How far a collection has come, for each list that it reads.' },
)
export const collectEtags = defineTable(
  '_weir_collect_etags',
  { ...ofScope, input_key: key(string(64)), etag: string(255), credential: string(255), ...written },
  { meaning: 'ETags of answers: the source sends an answer again only if it has changed.' },
)
export const collectStates = defineTable(
  '_weir_collect_states',
  {
    ...ofScope,
    /** By our clock. */
    started_at: timestamp(),
    marks: json(),
    ...written,
  },
  {
    meaning:
      'When the last complete collection began by our clock, and how far the records went that it iterated over.',
  },
)
export const collectReaches = defineTable(
  '_weir_collect_reaches',
  { ...ofScope, input_key: key(string(191)), number: bigint(), made: bigint(), ...written },
  { meaning: 'The newest record of each numbered list that was read to its end.' },
)
export const earlyRecords = defineTable(
  '_weir_early_records',
  {
    ...ofScope,
    raw_id: key(bigint()),
    /** The tool table for which the record makes rows. */
    tool_table: string(120),
    input: json(),
    /** The time by which the collector lists the record; null: unknown. */
    listed_at: timestamp(),
    ...written,
  },
  { meaning: 'Records that deliveries brought and no collection has confirmed yet.' },
)

export const collectTables = [
  collectRuns,
  collectCheckpoints,
  collectEtags,
  collectStates,
  collectReaches,
  earlyRecords,
]
