import type { NameKinds, NameSample } from '../../plugin-kit/index.ts'
import { jobs } from './entities/jobs.ts'
import { pipelines } from './entities/pipelines.ts'
import { workflows } from './entities/workflows.ts'

const OF_PROJECT = ['project_slug', 'slug'] as const

export const ruleNames: NameKinds = {
  workflows: { title: 'workflows', table: workflows, column: 'name', scope: OF_PROJECT },
  branches: {
    title: 'branches',
    table: pipelines,
    column: 'vcs',
    // A pipeline has either a branch or a tag.
    nameIn(vcs) {
      const { branch, tag } = JSON.parse(vcs)
      return branch || tag || ''
    },
    scope: OF_PROJECT,
  },
  jobs: { title: 'jobs', table: jobs, column: 'name', scope: OF_PROJECT },
}

/** Workflows of the last 90 days: https://circleci.com/docs/api/v2/index.html#operation/getProjectWorkflowMetrics */
export const ruleSamples: readonly NameSample[] = [
  {
    request: ({ slug }) => ({ path: `/v2/insights/${slug}/workflows`, query: { 'all-branches': true } }),
    *names({ items }) {
      for (const { name } of items) yield { kind: 'workflows', name, isUncounted: true }
    },
  },
]
