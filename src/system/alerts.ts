/** Who is told when a number goes wrong, and once a week how things went. A module of tables exports tables and nothing else. */
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
    /** Empty: a digest of all projects. */
    project_name: indexed(string()),
    metric: string(100),
    /** `above` or `below`. */
    direction: string(10),
    /** In the unit of the metric. */
    threshold: double(),
    /** The value is calculated over this many days. */
    window_days: integer(),
    /** It is told of when it has been so for that long. */
    for_days: integer(),
    /** 0 is Sunday, in UTC as the hour. */
    weekday: integer(),
    hour: integer(),
    /** `webhook` or `slack`. */
    target: string(20),
    /** Whoever knows it may send there. */
    url: sealed(text()),
    /** What messages to a webhook are signed with. */
    secret: sealed(text()),
    enable: boolean(),
    /** `fine`, `pending`, `broken`, `no data`; empty: nobody has looked yet. */
    state: string(20),
    broken_since: timestamp(),
    value: optional(double()),
    /** The value as it was said; empty: nobody has looked yet. */
    value_words: string(255),
    /** When somebody looked, or when the last digest was made. */
    looked_at: timestamp(),
    /** Why nobody could. */
    problem: text(),
    /** It was told that it is broken, and not yet that it has recovered. */
    is_told: boolean(),
    /** Grows with every change: of two servers that decide at once, one does. */
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
    /** Nobody tries before; whoever tries puts it off first, so that no other does. */
    due_at: timestamp(),
    sent_at: timestamp(),
    response_code: integer(),
    failure: text(),
    ...written,
  },
  { meaning: 'Messages of alerts, digests and traffic switches; each is sent at least once.' },
)
