import type { RowOf } from '../../../database/table.ts'
import { bigint, json, key, string, text, timestamp } from '../../../database/table.ts'
import { classify } from '../../../domain/classify.ts'
import { cicdDeploymentCommits, cicdDeployments } from '../../../domain/devops.ts'
import { manyByKey } from '../../../plugin-kit/index.ts'
import { applicationRequest, applications, entity, isCommit, pageOf, table } from '../kit.ts'
import { clusterOf } from '../rules.ts'
import {
  deployedSources,
  forgets,
  imagesIn,
  isImages,
  kindOf,
  mainRevision,
  numberOf,
  syncKey,
  syncsOf,
  syncValues,
} from '../syncs.ts'

export const syncOperations = table('sync_operations', 'ArgocdSyncOperation', {
  application_name: key(string((_sync, { scope }) => scope.name)),
  deployment_id: key(bigint(numberOf)),
  revision: string((sync) => mainRevision(sync)?.revision),
  repo_url: string(500, (sync) => mainRevision(sync)?.repo_url),
  kind: string(100, (sync) => kindOf(syncValues(sync).resources)),
  started_at: timestamp((sync) => syncValues(sync).started),
  finished_at: timestamp((sync) => syncValues(sync).finished),
  phase: string(100, (sync) => syncValues(sync).phase),
  message: text((sync) => syncValues(sync).message),
  initiated_by: string((sync) => {
    const { automated, username } = syncValues(sync).initiatedBy ?? {}
    return automated ? 'automated' : username
  }),
  // These columns stay empty: the status of the application is that of today, and says nothing about the time of the sync.
  sync_status: string(100, () => ''),
  health_status: string(100, () => ''),
  resources_count: bigint((sync) => syncValues(sync).resources?.length),
  container_images: json((sync) => imagesIn(syncValues(sync).resources)),
})
/** The revision that was deployed from each source. DevLake stores only one of them. */
export const syncSources = table('sync_sources', 'ArgocdSyncSource', {
  application_name: key(string((_source, { scope }) => scope.name)),
  deployment_id: key(bigint()),
  position: key(bigint()),
  repo_url: string(500),
  revision: string(),
  path: string(),
  target_revision: string(),
})
export const revisionImages = table('revision_images', 'ArgocdRevisionImage', {
  application_name: key(string((_images, { scope }) => scope.name)),
  revision: key(string()),
  images: json(),
})

const RESULT = { SUCCESS: ['Succeeded'], FAILURE: ['Failed', 'Error', 'Terminating'] }
const STATUS = { DONE: ['Succeeded', 'Failed', 'Error'], IN_PROGRESS: ['Running', 'Terminating'] }

/**
 * Returns each commit once. If no source has a commit, the version of the first source is used, since a deployment without a
 * commit would not count.
 */
function commitsOf(sources: readonly RowOf<typeof syncSources>[]): readonly RowOf<typeof syncSources>[] {
  const inOrder = sources.toSorted((one, other) => one.position - other.position)
  const commits = inOrder.filter(({ revision }) => isCommit(revision))
  const known = commits.length > 0 ? commits : inOrder.slice(0, 1)
  const first = (each: (typeof known)[number]) =>
    known.find(({ repo_url, revision }) => repo_url === each.repo_url && revision === each.revision)
  return known.filter((each) => first(each) === each)
}

export default entity(syncOperations, {
  label: 'Sync Operations',
  domainTypes: ['CICD'],
  raw: 'argocd_api_sync_operations',
  collect: {
    request: ({ scope }) => applicationRequest(scope.name),
    records: syncsOf,
    key: syncKey,
    forgets,
  },
  extract: {
    writes: [revisionImages],
    owns: [
      {
        table: syncSources,
        by: {
          connection_id: 'connection_id',
          application_name: 'application_name',
          deployment_id: 'deployment_id',
        },
      },
    ],
    *rows(sync, { read }) {
      if (isImages(sync)) {
        yield read(revisionImages, sync)
        return
      }
      yield read(syncOperations, sync)
      const deployment_id = numberOf(sync) as number
      for (const [position, source] of deployedSources(sync).entries()) {
        yield read(syncSources, source, { deployment_id, position })
      }
    },
  },
  convert: {
    to: [cicdDeployments, cicdDeploymentCommits],
    dependsOn: ['deploymentPattern', 'productionPattern', 'envNamePattern'],
    lookups: { sources: manyByKey(syncSources, 'deployment_id', ({ deployment_id }) => deployment_id) },
    *rows(sync, { idOf, scope, scopeConfig, connection, lookups }) {
      if (!scopeConfig.counts(scope.name)) return
      const id = idOf(syncOperations, scope.name, sync.deployment_id)
      const { started_at: started, finished_at: finished } = sync
      const name = `${scope.name}:${sync.deployment_id}`
      const deployment = {
        cicd_scope_id: idOf(applications, scope.name),
        name,
        display_title: sync.message || name,
        url: pageOf(connection.endpoint, scope),
        result: classify(sync.phase, RESULT, ''),
        status: classify(sync.phase, STATUS, 'OTHER'),
        original_result: sync.phase,
        original_status: sync.phase,
        environment: scopeConfig.environmentOf(scope),
        original_environment: [scope.project, clusterOf(scope), scope.dest_namespace].filter(Boolean).join('/'),
        created_date: started ?? finished,
        started_date: started,
        finished_date: finished,
        duration_sec: started && finished ? Math.max(0, (finished.getTime() - started.getTime()) / 1000) : 0,
      }
      yield cicdDeployments.row({ id, ...deployment })
      const own = (lookups.sources.get(sync.deployment_id) ?? []).filter(
        ({ application_name }) => application_name === scope.name,
      )
      for (const [index, source] of commitsOf(own).entries()) {
        yield cicdDeploymentCommits.row({
          // The first commit gets the same id as in DevLake.
          id: index === 0 ? id : `${id}:${source.position}`,
          cicd_deployment_id: id,
          ...deployment,
          commit_sha: source.revision,
          ref_name: source.target_revision,
          repo_url: source.repo_url || scope.repo_url || name,
        })
      }
    },
  },
})
