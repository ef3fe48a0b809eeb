import type { RawRecord } from '../../../database/table.ts'
import { key, required, string, text, timestamp } from '../../../database/table.ts'
import { cicdDeploymentCommits } from '../../../domain/devops.ts'
import { fromFields } from '../../../plugin-kit/index.ts'
import { entity, spanOf, table } from '../kit.ts'

export const commitFields = fromFields({
  repo_url: required(string(500)),
  commit_sha: key(string(64)),
  started_date: required(timestamp()),
  finished_date: required(timestamp()),
  repo_id: string(),
  ref_name: string(),
  commit_msg: text(),
  name: string(({ name, commitSha }: RawRecord) => name || `deployment for ${commitSha}`),
  display_title: text(),
  result: string(100, ({ result }: RawRecord) => result || 'SUCCESS'),
  status: string(100, ({ status }: RawRecord) => status || 'DONE'),
  created_date: timestamp(),
})

/** A commit of a deployment as it was when its message came. Later messages about the deployment add further commits. */
export const deploymentCommits = table('deployment_commits', {
  ...fromFields({
    deployment_id: key(string(150)),
    repo_hash: key(string(16)),
    environment: string(),
    original_environment: string(),
    deployment_started_date: timestamp(),
    deployment_finished_date: timestamp(),
  }),
  ...commitFields,
})

export default entity(deploymentCommits, {
  label: 'Deployment Commits',
  domainTypes: ['CICD'],
  convert: {
    to: [cicdDeploymentCommits],
    replaces: ['webhook_deployments'],
    rows: (commit, { idOf }) => [
      cicdDeploymentCommits.row({
        ...commit,
        id: idOf(deploymentCommits, commit.deployment_id, commit.repo_hash, commit.commit_sha),
        cicd_scope_id: idOf(deploymentCommits),
        cicd_deployment_id: commit.deployment_id,
        duration_sec: spanOf(commit.deployment_started_date, commit.deployment_finished_date, 1000),
      }),
    ],
  },
})
