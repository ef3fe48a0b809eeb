/** The words that domain and system columns hold. If a tool knows more, other words may occur too. */
import { byName } from '../by-name.ts'
export const ISSUE_TYPES = ['REQUIREMENT', 'BUG', 'INCIDENT', 'TASK', 'SUBTASK'] as const
export type IssueType = (typeof ISSUE_TYPES)[number]

export const ISSUE_STATUSES = ['TODO', 'IN_PROGRESS', 'DONE', 'OTHER'] as const
export type IssueStatus = (typeof ISSUE_STATUSES)[number]

export const SPRINT_STATUSES = ['ACTIVE', 'CLOSED', 'FUTURE', 'SUSPENDED'] as const
export type SprintStatus = (typeof SPRINT_STATUSES)[number]

export const PULL_REQUEST_STATUSES = ['OPEN', 'MERGED', 'CLOSED'] as const
export type PullRequestStatus = (typeof PULL_REQUEST_STATUSES)[number]

export const PULL_REQUEST_COMMENT_TYPES = ['NORMAL', 'DIFF', 'REVIEW'] as const
export type PullRequestCommentType = (typeof PULL_REQUEST_COMMENT_TYPES)[number]

export const REF_TYPES = ['BRANCH', 'TAG'] as const
export type RefType = (typeof REF_TYPES)[number]

export const CICD_RESULTS = ['SUCCESS', 'FAILURE', ''] as const
export type CicdResult = (typeof CICD_RESULTS)[number]

export const CICD_STATUSES = ['IN_PROGRESS', 'DONE', 'OTHER'] as const
export type CicdStatus = (typeof CICD_STATUSES)[number]

export const CICD_TYPES = ['DEPLOYMENT', 'TEST', 'LINT', 'BUILD', ''] as const
export type CicdType = (typeof CICD_TYPES)[number]

export const ENVIRONMENTS = ['PRODUCTION', 'STAGING', 'TESTING', ''] as const
export type Environment = (typeof ENVIRONMENTS)[number]

export const FINDING_TYPES = ['BUG', 'VULNERABILITY', 'CODE_SMELL', 'HOTSPOTS'] as const
export type FindingType = (typeof FINDING_TYPES)[number]

export const SOFTWARE_QUALITIES = ['SECURITY', 'RELIABILITY', 'MAINTAINABILITY'] as const
export type SoftwareQuality = (typeof SOFTWARE_QUALITIES)[number]

export const TEST_CASE_TYPES = ['functional', 'api'] as const
export type TestCaseType = (typeof TEST_CASE_TYPES)[number]

export const TEST_EXECUTION_STATUSES = ['PENDING', 'IN_PROGRESS', 'SUCCESS', 'FAILED'] as const
export type TestExecutionStatus = (typeof TEST_EXECUTION_STATUSES)[number]

export const TASK_STATUSES = [
  'TASK_CREATED',
  'TASK_RERUN',
  'TASK_RESUME',
  'TASK_RUNNING',
  'TASK_COMPLETED',
  'TASK_PARTIAL',
  'TASK_FAILED',
  'TASK_CANCELLED',
] as const
export type TaskStatus = (typeof TASK_STATUSES)[number]

export const BLUEPRINT_MODES = ['NORMAL', 'ADVANCED'] as const
export type BlueprintMode = (typeof BLUEPRINT_MODES)[number]

/** The kinds of data a scope config can select; an empty selection means all. */
export const DOMAIN_TYPES = ['CODE', 'TICKET', 'CODEREVIEW', 'CROSS', 'CICD', 'CODEQUALITY'] as const
export type DomainType = (typeof DOMAIN_TYPES)[number]

/** The words that each column may hold. */
export const columnWords: Readonly<Record<string, readonly string[]>> = byName({
  'issues.type': ISSUE_TYPES,
  'issues.status': ISSUE_STATUSES,
  'incidents.status': ISSUE_STATUSES,
  'issue_status_history.status': ISSUE_STATUSES,
  'sprints.status': SPRINT_STATUSES,
  'pull_requests.status': PULL_REQUEST_STATUSES,
  'pull_request_comments.type': PULL_REQUEST_COMMENT_TYPES,
  'refs.ref_type': REF_TYPES,
  'cicd_pipelines.result': CICD_RESULTS,
  'cicd_pipelines.status': CICD_STATUSES,
  'cicd_pipelines.type': CICD_TYPES,
  'cicd_pipelines.environment': ENVIRONMENTS,
  'cicd_tasks.result': CICD_RESULTS,
  'cicd_tasks.status': CICD_STATUSES,
  'cicd_tasks.type': CICD_TYPES,
  'cicd_tasks.environment': ENVIRONMENTS,
  'cicd_deployments.result': CICD_RESULTS,
  'cicd_deployments.status': CICD_STATUSES,
  'cicd_deployments.environment': ENVIRONMENTS,
  'cicd_deployment_commits.result': CICD_RESULTS,
  'cicd_deployment_commits.status': CICD_STATUSES,
  'cicd_deployment_commits.environment': ENVIRONMENTS,
  'cq_issues.type': FINDING_TYPES,
  'cq_issue_impacts.software_quality': SOFTWARE_QUALITIES,
  'qa_test_cases.type': TEST_CASE_TYPES,
  'qa_test_case_executions.status': TEST_EXECUTION_STATUSES,
  '_devlake_pipelines.status': TASK_STATUSES,
  '_devlake_tasks.status': TASK_STATUSES,
  '_devlake_blueprints.mode': BLUEPRINT_MODES,
})
