/** Findings and measures of code scanners. */
import { bigint, common, defineTable, double, indexed, key, string, text, timestamp } from '../database/table.ts'

export const cqProjects = defineTable(
  'cq_projects',
  {
    id: key(string()),
    name: string(2000),
    qualifier: string(),
    visibility: string(64),
    last_analysis_date: timestamp(),
    commit_sha: string(128),
    ...common,
  },
  { meaning: 'A project known to a code scanner.' },
)

export const cqIssues = defineTable(
  'cq_issues',
  {
    id: key(string()),
    rule: string(),
    severity: string(100),
    component: text(),
    project_key: indexed(string(500)),
    line: bigint(),
    status: string(20),
    message: text(),
    debt: bigint(),
    effort: bigint(),
    commit_author_email: string(),
    assignee: string(),
    hash: string(100),
    tags: text(),
    type: string(100),
    scope: string(),
    start_line: bigint(),
    end_line: bigint(),
    start_offset: bigint(),
    end_offset: bigint(),
    vulnerability_probability: string(100),
    security_category: string(100),
    created_date: timestamp(),
    updated_date: timestamp(),
    ...common,
  },
  { meaning: 'A finding of a code scanner.' },
)

export const cqIssueCodeBlocks = defineTable(
  'cq_issue_code_blocks',
  {
    id: key(string()),
    issue_key: indexed(string(191)),
    // Not indexed, as in DevLake: it is as long as the path of a file, which is too long for an index.
    component: text(),
    start_line: bigint(),
    end_line: bigint(),
    start_offset: bigint(),
    end_offset: bigint(),
    msg: text(),
    ...common,
  },
  { meaning: 'A stretch of code that a finding points to.' },
)

export const cqIssueImpacts = defineTable(
  'cq_issue_impacts',
  {
    cq_issue_id: key(string()),
    software_quality: key(string()),
    severity: string(100),
    ...common,
  },
  { meaning: 'How much a finding affects one quality of the software.' },
)

export const cqFileMetrics = defineTable(
  'cq_file_metrics',
  {
    id: key(string()),
    project_key: indexed(string(500)),
    file_name: string(2000),
    file_path: text(),
    file_language: string(20),
    code_smells: bigint(),
    sqale_index: bigint(),
    sqale_rating: double(),
    bugs: bigint(),
    reliability_rating: string(20),
    vulnerabilities: bigint(),
    security_rating: string(20),
    security_hotspots: bigint(),
    security_hotspots_reviewed: double(),
    security_review_rating: string(20),
    ncloc: bigint(),
    uncovered_lines: bigint(),
    coverage: double(),
    lines_to_cover: bigint(),
    duplicated_lines_density: double(),
    duplicated_blocks: bigint(),
    duplicated_files: bigint(),
    duplicated_lines: bigint(),
    effort_to_reach_maintainability_rating_a: bigint(),
    complexity: bigint(),
    cognitive_complexity: bigint(),
    num_of_lines: bigint(),
    ...common,
  },
  { meaning: 'The measures of one file.' },
)
