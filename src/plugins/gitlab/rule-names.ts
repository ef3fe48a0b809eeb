/** The names that rules of GitLab refer to, and requests that read some of them, one page of each. */
import type { RawRecord } from '../../database/table.ts'
import { issueTitles, type NameKinds, type NameSample, type SampledName } from '../../plugin-kit/index.ts'
import { deployments } from './entities/deployments.ts'
import { issueLabels, issues } from './entities/issues.ts'
import { jobs } from './entities/jobs.ts'
import { mergeRequestLabels, mergeRequests } from './entities/merge-requests.ts'
import { pipelineProjects } from './entities/pipelines.ts'
import { inProject, KEYSET } from './kit.ts'

const OF_PROJECT = ['project_id', 'gitlab_id'] as const

export const ruleNames: NameKinds = {
  environments: {
    title: 'environments',
    table: deployments,
    column: 'environment',
    // Deployments have the id of the project in this column, where other tables have the id of the row.
    scope: ['gitlab_id', 'gitlab_id'],
  },
  jobs: { title: 'jobs', table: jobs, column: 'name', scope: OF_PROJECT },
  refs: { title: 'branches and tags of pipelines', table: pipelineProjects, column: 'ref', scope: OF_PROJECT },
  issueTitles: issueTitles({ table: issues, column: 'title', description: 'body', scope: OF_PROJECT }),
  issueLabels: {
    title: 'labels of issues',
    table: issueLabels,
    column: 'label_name',
    scope: OF_PROJECT,
    through: { table: issues, on: { connection_id: 'connection_id', gitlab_id: 'issue_id' } },
  },
  mergeRequestLabels: {
    title: 'labels of merge requests',
    table: mergeRequestLabels,
    column: 'label_name',
    scope: OF_PROJECT,
    through: { table: mergeRequests, on: { connection_id: 'connection_id', gitlab_id: 'mr_id' } },
  },
}

const sample = (
  path: string,
  query: Record<string, string>,
  names: (record: RawRecord) => SampledName[],
): NameSample => ({
  request: (scope) => ({ path: inProject(scope, path), query: { per_page: 100, ...query } }),
  names: (body: readonly RawRecord[]) => body.flatMap(names),
})
const labelled =
  (kind: string) =>
  ({ labels }: RawRecord) =>
    labels.map((name: string) => ({ kind, name }))

export const ruleSamples: readonly NameSample[] = [
  sample('environments', {}, ({ name }) => [{ kind: 'environments', name, isUncounted: true }]),
  sample('jobs', KEYSET, ({ name, ref }) => [
    { kind: 'jobs', name },
    { kind: 'refs', name: ref },
  ]),
  sample('issues', { scope: 'all' }, (issue) => [
    ...labelled('issueLabels')(issue),
    { kind: 'issueTitles', name: issue.title },
  ]),
  sample('merge_requests', { scope: 'all' }, labelled('mergeRequestLabels')),
]
