/** Tables that join the areas: projects, links between code and tickets, computed metrics. */
import {
  bigint,
  common,
  defineTable,
  generated,
  indexed,
  key,
  optional,
  string,
  text,
  timestamp,
  written,
  zeroTime,
} from '../database/table.ts'

export const projectMapping = defineTable(
  'project_mapping',
  {
    project_name: key(string()),
    table: key(string()),
    row_id: key(string()),
    ...common,
  },
  { meaning: 'Which scopes (`table`, `row_id`) make up a project.' },
)

export const projectPrMetrics = defineTable(
  'project_pr_metrics',
  {
    id: key(string()),
    project_name: key(indexed(string(100))),
    first_commit_sha: text(),
    pr_coding_time: optional(bigint()),
    first_review_id: text(),
    pr_pickup_time: optional(bigint()),
    pr_review_time: optional(bigint()),
    deployment_commit_id: text(),
    pr_deploy_time: optional(bigint()),
    pr_cycle_time: optional(bigint()),
    first_commit_authored_date: timestamp(),
    first_comment_date: timestamp(),
    pr_created_date: timestamp(),
    pr_merged_date: timestamp(),
    pr_deployed_date: timestamp(),
    ...common,
  },
  { meaning: 'How long each part of a pull request’s way to production took, in minutes.' },
)

export const projectIncidentDeploymentRelationships = defineTable(
  'project_incident_deployment_relationships',
  {
    id: key(string()),
    project_name: key(indexed(string(100))),
    deployment_id: text(),
    ...common,
  },
  { meaning: 'The deployment that an incident is attributed to.' },
)

export const boardRepos = defineTable(
  'board_repos',
  {
    board_id: key(string()),
    repo_id: key(string()),
    ...common,
  },
  { meaning: 'Which board belongs to which repository.' },
)

export const issueCommits = defineTable(
  'issue_commits',
  {
    issue_id: key(string()),
    commit_sha: key(string()),
    ...common,
  },
  { meaning: 'Commits that name an issue.' },
)

export const issueRepoCommits = defineTable(
  'issue_repo_commits',
  {
    issue_id: key(string()),
    repo_url: key(string()),
    commit_sha: key(string()),
    host: string(),
    namespace: string(),
    repo_name: string(),
    ...common,
  },
  { meaning: 'Commits that name an issue, with the parts of the repository’s address.' },
)

export const pullRequestIssues = defineTable(
  'pull_request_issues',
  {
    pull_request_id: key(string()),
    issue_id: key(string()),
    pull_request_key: bigint(),
    issue_key: string(),
    ...common,
  },
  { meaning: 'Issues that a pull request names.' },
)

export const refsIssuesDiffs = defineTable(
  'refs_issues_diffs',
  {
    new_ref_id: key(string()),
    old_ref_id: key(string()),
    issue_id: key(string()),
    new_ref_commit_sha: string(40),
    old_ref_commit_sha: string(40),
    issue_number: string(),
    ...common,
  },
  { meaning: 'Issues solved between two refs.' },
)

export const calendarMonths = defineTable(
  'calendar_months',
  {
    month: key(string(20)),
    month_timestamp: zeroTime(timestamp()),
  },
  { meaning: 'One row per month, so that charts have no gaps.' },
)

export const doraBenchmarks = defineTable(
  'dora_benchmarks',
  {
    id: generated(key(bigint())),
    metric: string(),
    low: string(),
    medium: string(),
    high: string(),
    elite: string(),
    dora_report: string(20),
    ...written,
  },
  { meaning: 'The wording of the DORA levels, for each key and report.' },
)
