/**
 * The target of each id column of the domain tables. The columns come from the declarations: every domain column that looks
 * like an id needs a target here, or a reason why it has none. So a new column cannot be forgotten.
 */
import { domainTables } from '../../src/domain/index.ts'

export interface Target {
  readonly table: string
  readonly column: string
}

const target = (table: string, column = 'id'): Target => ({ table, column })

/** Targets by the name of the column, in every table unless `BY_PLACE` overrides it. If there are several, one of them is enough. */
const BY_NAME: Readonly<Record<string, readonly Target[]>> = {
  ...Object.fromEntries(
    ['author_id', 'committer_id', 'creator_id', 'merged_by_id', 'account_id', 'reviewer_id', 'owner_id'].map((name) => [
      name,
      [target('accounts')],
    ]),
  ),
  // Opsgenie assigns incidents to teams as well.
  assignee_id: [target('accounts'), target('teams')],
  base_repo_id: [target('repos')],
  board_id: [target('boards')],
  cicd_deployment_id: [target('cicd_deployments')],
  cicd_scope_id: [target('cicd_scopes')],
  commit_file_id: [target('commit_files')],
  cq_issue_id: [target('cq_issues')],
  deployment_commit_id: [target('cicd_deployment_commits')],
  deployment_id: [target('cicd_deployments')],
  first_review_id: [target('pull_request_comments')],
  head_repo_id: [target('repos')],
  incident_id: [target('incidents')],
  issue_id: [target('issues')],
  new_ref_id: [target('refs')],
  old_ref_id: [target('refs')],
  original_board_id: [target('boards')],
  parent_incident_id: [target('incidents'), target('issues')],
  parent_issue_id: [target('issues')],
  parent_pr_id: [target('pull_requests')],
  pipeline_id: [target('cicd_pipelines')],
  prev_success_deployment_commit_id: [target('cicd_deployment_commits')],
  pull_request_id: [target('pull_requests')],
  qa_api_id: [target('qa_apis')],
  qa_project_id: [target('qa_projects')],
  qa_test_case_id: [target('qa_test_cases')],
  repo_id: [target('repos')],
  scope_id: [target('boards'), target('cicd_scopes')],
  source_issue_id: [target('issues')],
  sprint_id: [target('sprints')],
  target_issue_id: [target('issues')],
  team_id: [target('teams')],
  user_id: [target('users')],
}

/** Columns that name a row without being called an id, and ids whose target depends on their table. */
const BY_PLACE: Readonly<Record<string, readonly Target[]>> = {
  'cq_file_metrics.project_key': [target('cq_projects')],
  '_weir_rollouts.arrived_id': [target('cicd_deployments')],
  '_weir_rollouts.rollout_id': [target('cicd_deployments')],
  'cq_issue_code_blocks.issue_key': [target('cq_issues')],
  'cq_issues.project_key': [target('cq_projects')],
  'issue_assignee_history.assignee': [target('accounts'), target('teams')],
  'project_incident_deployment_relationships.id': [target('incidents')],
  'project_mapping.row_id': ['boards', 'cicd_scopes', 'cq_projects', 'repos'].map((table) => target(table)),
  'project_pr_metrics.id': [target('pull_requests')],
  'teams.parent_id': [target('teams')],
}

/** Ids that do not belong to a row in this database. */
const NO_TARGET: Readonly<Record<string, string>> = {
  'issue_changelogs.field_id': 'the name that the tool gives to a field of issues',
  'issue_custom_array_fields.field_id': 'the name that the tool gives to a field of issues',
  'pull_request_comments.review_id': 'the number that the tool gives to a review',
}

export interface IdColumn {
  readonly table: string
  readonly column: string
  readonly targets: readonly Target[]
  /** The column is part of the key: a row without it links nothing. */
  readonly isKey: boolean
}

/** Origin columns contain numbers of raw rows. */
const looksLikeId = (column: string): boolean => column.endsWith('_id') && !column.startsWith('_raw_')

/** Throws for a column without a target or a reason. */
export function idColumns(): readonly IdColumn[] {
  return domainTables.flatMap(({ name: table, names, keys }) =>
    names.flatMap((column: string, position: number) => {
      const place = `${table}.${column}`
      const targets = BY_PLACE[place] ?? (looksLikeId(column) ? BY_NAME[column] : undefined)
      if (targets) return [{ table, column, targets, isKey: keys.includes(position) }]
      if (looksLikeId(column) && !(place in NO_TARGET)) throw new Error(`nobody says which row ${place} names`)
      return []
    }),
  )
}
