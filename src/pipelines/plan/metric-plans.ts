/** What a project's metrics add to its plan, after everything is collected. */
import { byName } from '../../by-name.ts'
import { UserError } from '../../errors.ts'
import { policyOf } from '../../metrics/policy.ts'
import { compilePattern } from '../../plugin-kit/patterns.ts'
import type { Plan } from '../records.ts'
import type { DomainScope } from './domain-scopes.ts'

export interface MetricProject {
  readonly projectName: string
  readonly domainScopes: readonly DomainScope[]
  readonly option: MetricOption
}

export interface MetricOption {
  /** Of `dora`: rules to count by. */
  readonly policy?: unknown
  /** Of `linker`. */
  readonly prToIssueRegexp?: unknown
}
const isObject = (value: unknown): value is object =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** As it is stored with a project; some clients send an empty text for none. */
export const metricOption = (stored: unknown): MetricOption => (isObject(stored) ? stored : {})

/** What may be stored. */
export function checkMetricOption(sent: unknown): void {
  if (sent !== '' && !isObject(sent)) throw new UserError('pluginOption must be an object, or an empty text.')
  const { policy, prToIssueRegexp } = metricOption(sent)
  if (policy !== undefined && policy !== null) {
    if (!isObject(policy)) throw new UserError('pluginOption: policy must be an object.')
    policyOf(policy as Record<string, unknown>)
  }
  if (prToIssueRegexp === undefined || prToIssueRegexp === null) return
  if (typeof prToIssueRegexp !== 'string') throw new UserError('pluginOption: prToIssueRegexp must be text.')
  compilePattern(prToIssueRegexp, 'pluginOption: prToIssueRegexp')
}

/** In the order in which stages stand: each waits for the one before. */
export const METRIC_PLANS: Readonly<Record<string, (project: MetricProject) => Plan>> = byName({
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
    const options = { projectName, prToIssueRegexp: option.prToIssueRegexp ?? '' }
    return [[{ plugin: 'linker', subtasks: ['LinkPrToIssue'], options }]]
  },
  issue_trace: ({ projectName, domainScopes }) => {
    const scopeIds = domainScopes.filter(({ table }) => table === 'boards').map(({ rowId }) => rowId)
    const subtasks = ['ConvertIssueStatusHistory', 'ConvertIssueAssigneeHistory']
    return [[{ plugin: 'issue_trace', subtasks, options: { projectName, scopeIds } }]]
  },
})
