import type { RawRecord } from '../../../database/table.ts'
import { bigint, key, string, text, timestamp } from '../../../database/table.ts'
import { classify } from '../../../domain/classify.ts'
import { cicdDeploymentCommits, cicdDeployments } from '../../../domain/devops.ts'
import { deploymentRuns } from '../../../domain/rollouts.ts'
import { leftJoin } from '../../../plugin-kit/index.ts'
import { deploymentRows } from '../deployment-rows.ts'
import {
  byToken,
  entity,
  builds as hasBuilds,
  inProject,
  onHost,
  type Repo,
  repositoryId,
  table,
  versioned,
} from '../kit.ts'
import { builds } from './builds.ts'

const RESULT = { SUCCESS: ['succeeded', 'partiallySucceeded'], FAILURE: ['failed'] }
const STATUS = { DONE: [...RESULT.SUCCESS, ...RESULT.FAILURE], IN_PROGRESS: ['inProgress'] }

/** Deployments of classic releases: each release is deployed to one environment after the other. */
export const releaseDeployments = table('release_deployments', 'AzuredevopsReleaseDeployment', {
  repository_id: key(string(191, repositoryId)),
  id: key(bigint()),
  release_id: bigint('release.id'),
  release_name: string('release.name'),
  definition_name: string('releaseDefinition.name'),
  environment: string('releaseEnvironment.name'),
  url: text('release.webAccessUri'),
  status: string(100, 'deploymentStatus'),
  queued_on: timestamp('queuedOn'),
  started_on: timestamp('startedOn'),
  completed_on: timestamp('completedOn'),
  last_modified_on: timestamp('lastModifiedOn'),
  build_id: bigint(),
  commit_sha: string(40),
  branch: string(),
})

interface Source {
  readonly build_id: number
  readonly commit_sha: string
  readonly branch: string
}
/** Finds the part of a release that comes from the repository: a build of it, or a commit. Undefined if there is none. */
function sourceOf({ release }: RawRecord, { id, external_id }: Repo): Source | undefined {
  for (const { type, definitionReference: about } of release?.artifacts ?? []) {
    const isBuild = type === 'Build'
    const repository: unknown = about?.repository?.id ?? (isBuild ? undefined : about?.definition?.id)
    if (!repository || (repository !== id && repository !== external_id)) continue
    return {
      build_id: isBuild ? Number(about.version?.id) || 0 : 0,
      commit_sha: about.sourceVersion?.id ?? (isBuild ? '' : (about.version?.id ?? '')),
      branch: about.branch?.id ?? about.branches?.id ?? '',
    }
  }
  return undefined
}

export default entity(releaseDeployments, {
  label: 'Release Deployments',
  domainTypes: ['CICD'],
  raw: 'azuredevops_go_api_release_deployments',
  collect: {
    when: hasBuilds,
    request: ({ scope, connection }) =>
      versioned(onHost(connection.endpoint, 'vsrm', inProject(scope, 'release/deployments')), {
        queryOrder: 'descending',
      }),
    paging: byToken(100),
    incremental: { filterBy: (since) => ({ minModifiedTime: since.toISOString() }) },
    emptyOn: [404], // a project without releases
    canBeSwitchedOff: true,
  },
  extract: {
    rows: (record, { read, scope }) => {
      const source = sourceOf(record, scope)
      return source ? [read(releaseDeployments, record, source)] : []
    },
  },
  convert: {
    to: [cicdDeployments, cicdDeploymentCommits, deploymentRuns],
    dependsOn: ['envNamePattern'],
    joins: { build: leftJoin(builds, { connection_id: 'connection_id', azuredevops_id: 'build_id' }) },
    rows: ({ build, ...row }, { idOf, scope, scopeConfig }) =>
      deploymentRows(
        {
          id: idOf(releaseDeployments, row.id),
          name: `${row.definition_name} ${row.release_name}`,
          url: row.url,
          result: classify(row.status, RESULT, ''),
          status: classify(row.status, STATUS, 'OTHER'),
          original: row.status,
          environment: row.environment,
          times: [row.queued_on, row.started_on, row.completed_on],
          commit: { sha: row.commit_sha || build?.source_version || '', ref: row.branch || build?.source_branch || '' },
          build: row.build_id,
        },
        { idOf, scope, scopeConfig },
      ),
  },
})
