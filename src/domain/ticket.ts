/** Boards, sprints, issues and incidents of any tracker. */
import {
  bigint,
  boolean,
  common,
  defineTable,
  double,
  indexed,
  integer,
  key,
  optional,
  string,
  text,
  timestamp,
  zeroTime,
} from '../database/table.ts'

export const boards = defineTable(
  'boards',
  {
    id: key(string()),
    name: string(),
    description: text(),
    url: string(),
    created_date: timestamp(),
    type: string(),
    ...common,
  },
  { meaning: 'Anything that holds issues: a board, a project, a repository used as tracker, an on-call service.' },
)

export const boardIssues = defineTable(
  'board_issues',
  {
    board_id: key(string()),
    issue_id: key(string()),
    ...common,
  },
  { meaning: 'Which issues a board shows.' },
)

export const boardSprints = defineTable(
  'board_sprints',
  {
    board_id: key(string()),
    sprint_id: key(string()),
    ...common,
  },
  { meaning: 'Which sprints a board runs.' },
)

export const sprints = defineTable(
  'sprints',
  {
    id: key(string()),
    name: string(),
    url: string(),
    status: string(100),
    started_date: timestamp(),
    ended_date: timestamp(),
    completed_date: timestamp(),
    original_board_id: string(),
    ...common,
  },
  { meaning: 'An iteration, with its planned and its actual dates.' },
)

export const sprintIssues = defineTable(
  'sprint_issues',
  {
    sprint_id: key(string()),
    issue_id: key(string()),
    ...common,
  },
  { meaning: 'Which issues were put into a sprint.' },
)

/** Columns that an incident takes over from its issue. */
const ticket = {
  url: string(),
  title: text(),
  description: text(),
  status: string(100),
  original_status: string(100),
  resolution_date: timestamp(),
  created_date: timestamp(),
  updated_date: timestamp(),
  lead_time_minutes: optional(bigint()),
  original_estimate_minutes: optional(bigint()),
  time_spent_minutes: optional(bigint()),
  time_remaining_minutes: optional(bigint()),
  creator_id: string(),
  creator_name: string(),
  assignee_id: string(),
  assignee_name: string(),
  priority: string(),
  severity: string(),
  urgency: string(),
  component: string(),
  original_project: string(),
}

export const issues = defineTable(
  'issues',
  {
    id: key(string()),
    ...ticket,
    icon_url: string(),
    issue_key: string(),
    epic_key: string(),
    type: string(100),
    original_type: string(500),
    story_point: optional(double()),
    parent_issue_id: string(),
    is_subtask: boolean(),
    due_date: timestamp(),
    fix_versions: text(),
    ...common,
  },
  { meaning: 'An issue or ticket, with the standard type and status, and those of the tool.' },
)

export const issueAssignees = defineTable(
  'issue_assignees',
  {
    issue_id: key(string()),
    assignee_id: key(string()),
    assignee_name: string(),
    ...common,
  },
  { meaning: 'Everyone an issue is assigned to; `issues.assignee_id` has room for one.' },
)

export const issueLabels = defineTable(
  'issue_labels',
  {
    issue_id: key(string()),
    label_name: key(string()),
    ...common,
  },
  { meaning: 'The labels of an issue.' },
)

export const issueComments = defineTable(
  'issue_comments',
  {
    id: key(string()),
    issue_id: indexed(string(191)),
    body: text(),
    account_id: string(),
    created_date: zeroTime(timestamp()),
    updated_date: timestamp(),
    ...common,
  },
  { meaning: 'A comment on an issue.' },
)

export const issueWorklogs = defineTable(
  'issue_worklogs',
  {
    id: key(string()),
    author_id: string(),
    comment: text(),
    time_spent_minutes: bigint(),
    logged_date: timestamp(),
    started_date: timestamp(),
    issue_id: indexed(string()),
    ...common,
  },
  { meaning: 'Time that a person booked on an issue.' },
)

export const issueRelationships = defineTable(
  'issue_relationships',
  {
    source_issue_id: key(indexed(string())),
    target_issue_id: key(string()),
    original_type: key(string()),
    ...common,
  },
  { meaning: 'A link from one issue to another, under the name that the tool gives it.' },
)

export const issueChangelogs = defineTable(
  'issue_changelogs',
  {
    id: key(string()),
    issue_id: indexed(string()),
    author_id: string(),
    author_name: string(),
    field_id: string(),
    field_name: string(),
    original_from_value: text(),
    original_to_value: text(),
    from_value: text(),
    to_value: text(),
    created_date: zeroTime(timestamp()),
    ...common,
  },
  { meaning: 'A change of one field of an issue, with the values of the tool and the standard values.' },
)

export const issueCustomArrayFields = defineTable(
  'issue_custom_array_fields',
  {
    issue_id: key(string()),
    field_id: key(string()),
    field_value: key(string()),
    ...common,
  },
  { meaning: 'One value of a custom field that can hold several.' },
)

export const issueAssigneeHistory = defineTable(
  'issue_assignee_history',
  {
    issue_id: key(string()),
    assignee: key(string()),
    start_date: key(timestamp()),
    end_date: timestamp(),
    ...common,
  },
  { meaning: 'How long an issue stayed with an assignee, from its changelog.' },
)

export const issueStatusHistory = defineTable(
  'issue_status_history',
  {
    issue_id: key(string()),
    original_status: key(string()),
    start_date: key(timestamp()),
    status: string(100),
    end_date: timestamp(),
    is_current_status: boolean(),
    is_first_status: boolean(),
    status_time_minutes: integer(),
    ...common,
  },
  { meaning: 'How long an issue stayed in a status, from its changelog.' },
)

export const incidents = defineTable(
  'incidents',
  {
    id: key(string()),
    ...ticket,
    incident_key: string(),
    parent_incident_id: string(),
    table: indexed(string(), 'table_scope_id'),
    scope_id: indexed(string(), 'table_scope_id'),
    ...common,
  },
  { meaning: 'A failure in production, made from an issue; `table` and `scope_id` name where it came from.' },
)

export const incidentAssignees = defineTable(
  'incident_assignees',
  {
    incident_id: key(string()),
    assignee_id: key(string()),
    assignee_name: string(),
    ...common,
  },
  { meaning: 'Everyone an incident is assigned to.' },
)
