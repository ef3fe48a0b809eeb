import type { TableRow } from '../../database/table.ts'
import { cicdDeploymentCommits, cicdDeployments } from '../../domain/devops.ts'
import { deploymentRuns } from '../../domain/rollouts.ts'
import type { EntityContext } from '../../plugin-kit/index.ts'
import { builds } from './entities/builds.ts'
import { isNative, type Repo, type Rules, repos, secondsBetween } from './kit.ts'

interface Deployment {
  readonly id: string
  readonly name: string
  readonly url: string
  readonly result: string
  readonly status: string
  readonly original: string
  readonly environment: string
  readonly times: readonly [queued: Date | null, started: Date | null, finished: Date | null]
  readonly commit: { readonly sha: string; readonly ref: string }
  /** The build that deployed, or whose output was deployed. */
  readonly build: number
}

/** Makes the rows of a deployment that Azure DevOps itself records, whether of a release or of a stage of a pipeline. */
export function deploymentRows(
  { id, times: [queued, started, completed], commit, build, ...deployment }: Deployment,
  { idOf, scope, scopeConfig }: Pick<EntityContext<Repo, Rules>, 'idOf' | 'scope' | 'scopeConfig'>,
): TableRow[] {
  const finished = deployment.status === 'DONE' ? completed : null
  const cicd_scope_id = idOf(repos, scope.id)
  const both = {
    id,
    cicd_scope_id,
    name: deployment.name,
    display_title: deployment.name,
    url: deployment.url,
    result: deployment.result,
    status: deployment.status,
    original_status: deployment.original,
    original_result: deployment.original,
    environment: scopeConfig.isProduction(deployment.environment) ? 'PRODUCTION' : deployment.environment,
    original_environment: deployment.environment,
    created_date: queued ?? started,
    queued_date: queued,
    started_date: started,
    finished_date: finished,
    duration_sec: finished ? secondsBetween(started, finished) : null,
    queued_duration_sec: queued && started ? secondsBetween(queued, started) : null,
  }
  const whole = [
    cicdDeployments.row(both),
    ...(build ? [deploymentRuns.row({ deployment_id: id, pipeline_id: idOf(builds, build) })] : []),
  ]
  if (!commit.sha) return whole
  return [
    ...whole,
    cicdDeploymentCommits.row({
      ...both,
      cicd_deployment_id: id,
      commit_sha: commit.sha,
      ref_name: commit.ref,
      // A repository at another host is stored under another connection, and can be found there by its address.
      repo_id: isNative(scope) ? cicd_scope_id : '',
      repo_url: scope.url,
    }),
  ]
}
