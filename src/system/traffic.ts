/** State and journal of traffic switches. A module of tables exports tables and nothing else. */
import {
  bigint,
  defineTable,
  indexed,
  integer,
  key,
  optional,
  string,
  text,
  timestamp,
  whole,
  written,
} from '../database/table.ts'

export const trafficSwitches = defineTable(
  '_weir_traffic_switches',
  {
    id: key(string()),
    name: indexed(string()),
    project: string(),
    state: string(32),
    step: integer(),
    version: integer(),
    plan: whole(text()),
    plan_hash: string(64),
    /** A copy of the plan, for the way back when the other was edited by hand. */
    checked_plan: optional(whole(text())),
    target_group_arn: optional(string()),
    /** The action JSON that Weir wrote last; anything else in the cluster is drift. */
    applied_action: optional(whole(text())),
    original_ingress: optional(whole(text())),
    /** The Ingress as it was when clean-up deleted it. */
    deleted_ingress: optional(whole(text())),
    /** The multi-cluster mode of the target Ingress before this switch set it, or `absent`; an abort puts it back. */
    target_mode_before: optional(string(32)),
    /** The stored values of each route by its name, if the plan lists its routes. */
    routes: optional(whole(text())),
    /** Start of the dwell time: the load balancer was seen to follow the step. */
    verified_at: timestamp(),
    approved_at: timestamp(),
    began_at: timestamp(),
    dns_confirmed_at: timestamp(),
    /** JSON: the previous records of the zone, for the way back, and how far the record has moved. */
    dns_record: optional(whole(text())),
    problem: optional(text()),
    /** The journal up to here was sent to the recipients of messages. */
    told_sequence: bigint(),
    lease_holder: optional(string()),
    lease_until: timestamp(),
    ...written,
  },
  { meaning: 'A weighted switch between two clusters and how far it is.' },
)

export const trafficJournal = defineTable(
  '_weir_traffic_journal',
  {
    switch_id: key(string()),
    sequence: key(bigint()),
    at: timestamp(),
    actor: string(),
    action: string(32),
    kind: string(16),
    effect: string(64),
    detail: text(),
  },
  { meaning: 'What a switch was about to do and what came of it, written before and after each outside call.' },
)

export const trafficClaims = defineTable(
  '_weir_traffic_claims',
  {
    /** Hash of cluster, namespace, Ingress and its action or Service; as the key, it makes a second switch of the same impossible. */
    subject: key(string(64)),
    switch_id: string(),
    ...written,
  },
  { meaning: 'Which switch owns an action or a Service of an Ingress; one at a time.' },
)
