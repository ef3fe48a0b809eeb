/** Tables for alerts about bad numbers, and for weekly digests. This module must export only tables. */
import {
  bigint,
  boolean,
  defineTable,
  double,
  generated,
  indexed,
  integer,
  key,
  optional,
  sealed,
  string,
  text,
  timestamp,
  whole,
  written,
} from '../database/table.ts'

export const alerts = defineTable(
  '_weir_alerts',
  {
    id: generated(key(bigint())),
    name: string(),
    /** `threshold` or `digest`. */
    kind: string(20),
    /** Empty for a digest of all projects. */
    project_name: indexed(string()),
    metric: string(100),
    /** `above` or `below`. */
    direction: string(10),
    /** In the unit of the metric. */
    threshold: double(),
    /** The number of days over which the value is calculated. */
    window_days: integer(),
    /** For how many days the limit must be broken before a message is sent. */
    for_days: integer(),
    /** The day of a digest; 0 is Sunday. Day and hour are in UTC. */
    weekday: integer(),
    hour: integer(),
    /** `webhook` or `slack`. */
    target: string(20),
    /** Encrypted, because anybody who knows the address can send messages to it. */
    url: sealed(text()),
    /** The key that signs messages to a webhook. */
    secret: sealed(text()),
    enable: boolean(),
    /** `fine`, `pending`, `broken` or `no data`; empty before the first check. */
    state: string(20),
    broken_since: timestamp(),
    value: optional(double()),
    /** The value in words, as in messages; empty before the first check. */
    value_words: string(255),
    /** The time of the last check, or of the last digest. */
    looked_at: timestamp(),
    /** Why the last check failed. */
    problem: text(),
    /** True when a message said that the limit is broken, and none yet that the value has recovered. */
    is_told: boolean(),
    /** Increases with every change, so that of two servers that decide at the same time only one succeeds. */
    version: bigint(),
    ...written,
  },
  { meaning: 'Alerts and weekly digests: their limits, where messages go, and what was sent last.' },
)

export const alertMessages = defineTable(
  '_weir_alert_messages',
  {
    id: generated(key(bigint())),
    alert_id: indexed(bigint()),
    /** `broken`, `recovered`, `digest`, `traffic` or `test`. */
    kind: string(20),
    body: whole(text()),
    /** `waiting`, `sent` or `failed`. */
    state: indexed(string(20)),
    attempts: integer(),
    /** The time of the next attempt. A server that tries postpones it first, so that no other server tries too. */
    due_at: timestamp(),
    sent_at: timestamp(),
    response_code: integer(),
    failure: text(),
    ...written,
  },
  { meaning: 'Messages of alerts, digests and traffic switches; each is sent at least once.' },
)
