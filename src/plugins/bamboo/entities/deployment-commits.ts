import { cicdDeploymentCommits } from '../../../domain/devops.ts'
import { entity, repositoryUrl } from '../kit.ts'
import { commitId, commitsOfDeployment, deployBuilds, deploymentId, deploymentValues } from './deploy-builds.ts'

export default entity(deployBuilds, {
  label: 'Deployment Commits',
  names: { convert: 'convertDeployBuildsToDeploymentCommits' },
  domainTypes: ['CICD'],
  convert: {
    to: [cicdDeploymentCommits],
    dependsOn: ['envNamePattern', 'repoMap'],
    lookups: { commits: commitsOfDeployment },
    *rows(deployment, context) {
      const { connection, connectionId, scopeConfig, lookups } = context
      const commits = lookups.commits.get(deployment.plan_result_key) ?? []
      if (!deployment.started_date) return
      for (const commit of commits) {
        const { repository_id, vcs_revision_key } = commit
        yield cicdDeploymentCommits.row({
          id: commitId(connectionId, deployment, commit),
          cicd_deployment_id: deploymentId(connectionId, deployment, commits),
          ...deploymentValues(deployment, context),
          commit_sha: vcs_revision_key,
          ref_name: deployment.plan_branch_name,
          repo_id: scopeConfig.repositoryOf(repository_id) ?? String(repository_id),
          repo_url: repositoryUrl(connection.endpoint, repository_id),
        })
      }
    },
  },
})
