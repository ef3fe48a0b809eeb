/** What a project's metrics add to its plan, after everything is collected. */
import type { Plan } from '../records.ts'
import type { DomainScope } from './domain-scopes.ts'

export interface MetricProject {
  readonly projectName: string
  readonly domainScopes: readonly DomainScope[]
  /** As stored with the project; some clients send an empty text for none. */
  readonly option: any
}

/** In the order in which stages stand: each waits for the one before. */
export const METRIC_PLANS: Readonly<Record<string, (project: MetricProject) => Plan>> = {
  dora: ({ projectName }) => {
    const options = { projectName }
    const before = ['generateDeployments', 'generateDeploymentCommits', 'enrichPrevSuccessDeploymentCommits']
    const after = ['calculateChangeLeadTime', 'ConvertIssuesToIncidents', 'ConnectIncidentToDeployment']
    return [
      [{ plugin: 'dora', subtasks: before, options }],
      [{ plugin: 'refdiff', subtasks: ['calculateDeploymentCommitsDiff'], options }],
      [{ plugin: 'dora', subtasks: after, options }],
    ]
  },
  linker: ({ projectName, option }) => {
    const options = { projectName, prToIssueRegexp: option?.prToIssueRegexp ?? '' }
    return [[{ plugin: 'linker', subtasks: ['LinkPrToIssue'], options }]]
  },
  issue_trace: ({ projectName, domainScopes }) => {
    const scopeIds = domainScopes.filter(({ table }) => table === 'boards').map(({ rowId }) => rowId)
    const subtasks = ['ConvertIssueStatusHistory', 'ConvertIssueAssigneeHistory']
    return [[{ plugin: 'issue_trace', subtasks, options: { projectName, scopeIds } }]]
  },
}
