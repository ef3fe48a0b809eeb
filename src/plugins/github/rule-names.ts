/** The names that rules of GitHub refer to, and requests that read some of them: its newest deployments, runs and issues. */
import type { RawRecord } from '../../database/table.ts'
import { issueTitles, type NameKinds, type NameSample, type SampledName } from '../../plugin-kit/index.ts'
import { deployments } from './entities/deployments.ts'
import { issueLabels, issues } from './entities/issues.ts'
import { jobs } from './entities/jobs.ts'
import { pullRequestLabels, pullRequests } from './entities/pull-requests.ts'
import { runs } from './entities/runs.ts'
import { inRepo, labelNames } from './kit.ts'

const OF_REPO = ['repo_id', 'github_id'] as const

export const ruleNames: NameKinds = {
  environments: {
    title: 'environments',
    table: deployments,
    column: 'environment',
    // Deployments have the id of the repository in this column, where other tables have the id of the row.
    scope: ['github_id', 'github_id'],
  },
  workflows: { title: 'workflows', table: runs, column: 'name', scope: OF_REPO },
  branches: { title: 'branches', table: runs, column: 'head_branch', scope: OF_REPO },
  jobs: { title: 'jobs', table: jobs, column: 'name', scope: OF_REPO },
  issueTitles: issueTitles({ table: issues, column: 'title', description: 'body', scope: OF_REPO }),
  issueLabels: {
    title: 'labels of issues',
    table: issueLabels,
    column: 'label_name',
    scope: OF_REPO,
    through: { table: issues, on: { connection_id: 'connection_id', github_id: 'issue_id' } },
  },
  pullRequestLabels: {
    title: 'labels of pull requests',
    table: pullRequestLabels,
    column: 'label_name',
    scope: OF_REPO,
    through: { table: pullRequests, on: { connection_id: 'connection_id', github_id: 'pull_id' } },
  },
}

const named = (kind: string, names: readonly string[]): SampledName[] => names.map((name) => ({ kind, name }))

// https://docs.github.com/en/rest/deployments/deployments, …/actions/workflow-runs, …/issues/issues: a page of each.
export const ruleSamples: readonly NameSample[] = [
  {
    request: (scope) => ({ path: inRepo(scope, 'deployments'), query: { per_page: 100 } }),
    names: (body: readonly RawRecord[]) =>
      named(
        'environments',
        body.map(({ environment }) => environment),
      ),
  },
  {
    request: (scope) => ({
      path: inRepo(scope, 'actions/runs'),
      query: { per_page: 100, exclude_pull_requests: true },
    }),
    names: ({ workflow_runs }) =>
      workflow_runs.flatMap(({ name, head_branch }: RawRecord) => [
        { kind: 'workflows', name },
        { kind: 'branches', name: head_branch },
      ]),
  },
  {
    request: (scope) => ({ path: inRepo(scope, 'issues'), query: { per_page: 100, state: 'all' } }),
    names: (body: readonly RawRecord[]) =>
      body.flatMap((issue) =>
        issue.pull_request
          ? named('pullRequestLabels', labelNames(issue))
          : [...named('issueLabels', labelNames(issue)), ...named('issueTitles', [issue.title])],
      ),
  },
]
