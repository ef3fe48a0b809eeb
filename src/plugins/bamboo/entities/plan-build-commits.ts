import { cicdPipelineCommits } from '../../../domain/devops.ts'
import { innerJoin } from '../../../plugin-kit/index.ts'
import { entity, repositoryUrl } from '../kit.ts'
import { planBuildCommits, planBuilds } from './plan-builds.ts'

export default entity(planBuildCommits, {
  label: 'Plan Vcs',
  domainTypes: ['CICD'],
  convert: {
    to: [cicdPipelineCommits],
    joins: { build: innerJoin(planBuilds, { connection_id: 'connection_id', plan_build_key: 'plan_build_key' }) },
    where: ({ plan_key }) => ({ 'build.plan_key': plan_key }),
    dependsOn: ['repoMap'],
    rows: (commit, { idOf, connection, scopeConfig }) => [
      cicdPipelineCommits.row({
        pipeline_id: idOf(planBuilds, commit.plan_build_key),
        commit_sha: commit.vcs_revision_key,
        display_title: commit.display_title,
        url: commit.url,
        repo_id: scopeConfig.repositoryOf(commit.repository_id) ?? '',
        repo_url: repositoryUrl(connection.endpoint, commit.repository_id),
      }),
    ],
  },
})
