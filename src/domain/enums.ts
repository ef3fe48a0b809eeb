/** The words that domain and system columns hold. If a tool knows more, other words may occur too. */
import { byName } from '../basics/by-name.ts'

export const ISSUE_TYPES = ['REQUIREMENT', 'BUG', 'INCIDENT', 'TASK', 'SUBTASK'] as const
const ISSUE_STATUSES = ['TODO', 'IN_PROGRESS', 'DONE', 'OTHER'] as const
const SPRINT_STATUSES = ['ACTIVE', 'CLOSED', 'FUTURE', 'SUSPENDED'] as const
export const PULL_REQUEST_STATUSES = ['OPEN', 'MERGED', 'CLOSED'] as const
const PULL_REQUEST_COMMENT_TYPES = ['NORMAL', 'DIFF', 'REVIEW'] as const
const REF_TYPES = ['BRANCH', 'TAG'] as const
const CICD_RESULTS = ['SUCCESS', 'FAILURE', ''] as const
const CICD_STATUSES = ['IN_PROGRESS', 'DONE', 'OTHER'] as const
const CICD_TYPES = ['DEPLOYMENT', 'TEST', 'LINT', 'BUILD', ''] as const
export const ENVIRONMENTS = ['PRODUCTION', 'STAGING', 'TESTING', ''] as const
const FINDING_TYPES = ['BUG', 'VULNERABILITY', 'CODE_SMELL', 'HOTSPOTS'] as const
const SOFTWARE_QUALITIES = ['SECURITY', 'RELIABILITY', 'MAINTAINABILITY'] as const
const TEST_CASE_TYPES = ['functional', 'api'] as const
const TEST_EXECUTION_STATUSES = ['PENDING', 'IN_PROGRESS', 'SUCCESS', 'FAILED'] as const
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

const BLUEPRINT_MODES = ['NORMAL', 'ADVANCED'] as const

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
