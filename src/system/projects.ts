/** Tables for projects, and for the blueprints that say what to collect for them and when. */
import {
  bigint,
  boolean,
  bytes,
  common,
  defineTable,
  generated,
  indexed,
  json,
  key,
  named,
  sealed,
  string,
  text,
  timestamp,
  whole,
  written,
} from '../database/table.ts'

export const projects = defineTable(
  'projects',
  {
    name: key(named(string())),
    description: text(),
    ...common,
  },
  { meaning: 'A project; its name is its key.' },
)

export const projectMetricSettings = defineTable(
  'project_metric_settings',
  {
    project_name: key(string()),
    plugin_name: key(string()),
    plugin_option: json(),
    enable: boolean(),
    ...common,
  },
  { meaning: 'The metrics switched on for a project, with their options.' },
)

export const blueprints = defineTable(
  '_devlake_blueprints',
  {
    id: generated(key(bigint())),
    name: whole(text()),
    project_name: string(),
    mode: text(),
    /** Always empty, like `before_plan` and `after_plan`. Plans are stored in `_weir_plans`, so that other reads do not load them. */
    plan: text(),
    enable: boolean(),
    cron_config: whole(text()),
    is_manual: boolean(),
    before_plan: bytes(),
    after_plan: bytes(),
    priority: bigint(),
    skip_on_fail: boolean(),
    time_after: timestamp(),
    skip_collectors: boolean(),
    full_sync: boolean(),
    ...written,
  },
  { meaning: 'What to collect, when, and how.' },
)

export const blueprintConnections = defineTable(
  '_devlake_blueprint_connections',
  {
    blueprint_id: key(bigint()),
    plugin_name: key(string()),
    connection_id: key(bigint()),
  },
  { meaning: 'The connections a blueprint collects through.' },
)

export const blueprintScopes = defineTable(
  '_devlake_blueprint_scopes',
  {
    blueprint_id: key(bigint()),
    plugin_name: key(string()),
    connection_id: key(bigint()),
    scope_id: key(string()),
  },
  { meaning: 'The scopes a blueprint collects.' },
)

export const blueprintLabels = defineTable(
  '_devlake_blueprint_labels',
  {
    blueprint_id: key(bigint()),
    name: key(indexed(string(191))),
    ...written,
  },
  { meaning: 'The labels of a blueprint.' },
)

export const scopeSelectors = defineTable(
  '_weir_scope_selectors',
  {
    blueprint_id: key(bigint()),
    plugin: key(string(100)),
    connection_id: key(bigint()),
    /** A list: patterns, exceptions, topic and scope config, as in the configuration file. */
    selectors: json(),
    ...written,
  },
  { meaning: 'Rules by which new scopes join a blueprint when it runs.' },
)

export const plans = defineTable(
  '_weir_plans',
  {
    /** `blueprint` or `pipeline`. */
    subject: key(string(20)),
    subject_id: key(bigint()),
    /** `plan`, `beforePlan` or `afterPlan`. */
    field: key(string(20)),
    /** The length of the JSON. Plans that are too long for an answer are not read. */
    characters: bigint(),
    content: sealed(text()),
    ...written,
  },
  { meaning: 'Plans of blueprints and runs, encrypted: users may put passwords into addresses in them.' },
)

export const configTemplates = defineTable(
  '_weir_config_templates',
  {
    /** Such as `connections/github/main`. */
    subject: key(string(255)),
    /** A list. Each entry has the place in the subject, the text with its variables, and the resulting value unless that is a secret. */
    templates: json(),
    ...written,
  },
  { meaning: 'Variables of the environment that a configuration file named, for exports.' },
)
