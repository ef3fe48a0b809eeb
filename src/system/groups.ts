/** Tables for groups of projects, for targets, and for what is shown of persons. This module must export only tables. */
import {
  boolean,
  defineTable,
  double,
  indexed,
  key,
  named,
  string,
  text,
  timestamp,
  written,
} from '../database/table.ts'

export const projectGroups = defineTable(
  '_weir_groups',
  {
    name: key(named(string())),
    description: text(),
    /** The group that contains it; empty for none. */
    parent: indexed(string()),
    ...written,
  },
  { meaning: 'A group of projects; `parent` makes a tree.' },
)

export const groupProjects = defineTable(
  '_weir_group_projects',
  {
    group_name: key(string()),
    project_name: key(indexed(string())),
    ...written,
  },
  { meaning: 'The projects that a group contains directly.' },
)

export const targets = defineTable(
  '_weir_targets',
  {
    /** `project` or `group`. */
    kind: key(string(20)),
    /** The name of the project or group. */
    name: key(string()),
    metric: key(string(100)),
    /** In the unit of the metric. */
    value: double(),
    set_by: string(),
    set_at: timestamp(),
    ...written,
  },
  { meaning: 'The value that a metric of a project or group should have.' },
)

export const personalViews = defineTable(
  '_weir_personal_views',
  {
    /** Always `all`. */
    id: key(string(20)),
    is_on: boolean(),
    ...written,
  },
  { meaning: 'Whether users see a page of their own work; no row means yes.' },
)
