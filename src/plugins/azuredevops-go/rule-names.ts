/** The names that rules of Azure DevOps refer to, and requests that read some of them. */
import { branchName } from '../../domain/deliveries.ts'
import { issueTitles, type NameKinds, type NameSample } from '../../plugin-kit/index.ts'
import { builds } from './entities/builds.ts'
import { environments } from './entities/environments.ts'
import { releaseDeployments } from './entities/release-deployments.ts'
import { timelineRecords } from './entities/timeline-records.ts'
import { workItems, workItemTags } from './entities/work-items.ts'
import { inProject, preview, versioned } from './kit.ts'

const OF_REPO = ['repository_id', 'id'] as const
const OF_BOARD = ['board_id', 'id'] as const

export const ruleNames: NameKinds = {
  environments: { title: 'environments', table: environments, column: 'name', scope: OF_REPO },
  stages: { title: 'stages of releases', table: releaseDeployments, column: 'environment', scope: OF_REPO },
  builds: { title: 'builds', table: builds, column: 'name', scope: OF_REPO },
  branches: { title: 'branches', table: builds, column: 'source_branch', nameIn: branchName, scope: OF_REPO },
  records: {
    title: 'stages, jobs and steps of builds',
    table: timelineRecords,
    column: 'name',
    scope: OF_REPO,
    through: { table: builds, on: { connection_id: 'connection_id', azuredevops_id: 'build_id' } },
  },
  workItemTypes: { title: 'types of work items', table: workItems, column: 'type', scope: OF_BOARD },
  issueTitles: issueTitles({ table: workItems, column: 'title', description: 'description', scope: OF_BOARD }),
  workItemTags: {
    title: 'tags of work items',
    table: workItemTags,
    column: 'name',
    scope: OF_BOARD,
    through: { table: workItems, on: { connection_id: 'connection_id', id: 'work_item_id' } },
  },
}

export const ruleSamples: readonly NameSample[] = [
  {
    request: (scope) => preview(inProject(scope, 'distributedtask/environments'), { $top: 100 }),
    *names({ value }) {
      for (const { name } of value) yield { kind: 'environments', name, isUncounted: true }
    },
  },
  {
    request: (scope) => versioned(inProject(scope, 'build/builds'), { $top: 100 }),
    *names({ value }) {
      for (const { definition, sourceBranch } of value) {
        if (definition?.name) yield { kind: 'builds', name: definition.name }
        if (sourceBranch) yield { kind: 'branches', name: branchName(sourceBranch) }
      }
    },
  },
  {
    request: (scope) => versioned(inProject(scope, 'wit/workitemtypes')),
    *names({ value }) {
      for (const { name } of value) yield { kind: 'workItemTypes', name, isUncounted: true }
    },
  },
]
