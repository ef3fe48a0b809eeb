import { cicdPipelineCommits } from '../../../domain/devops.ts'
import { buildUrl, entity } from '../kit.ts'
import { buildCommits, builds } from './builds.ts'

export default entity(buildCommits, {
  label: 'Build Repos',
  domainTypes: ['CICD'],
  convert: {
    to: [cicdPipelineCommits],
    replaces: ['jenkins_api_builds'],
    isIncremental: true,
    rows: ({ build_name, commit_sha, branch, repo_url, number }, { idOf, scope }) => [
      cicdPipelineCommits.row({
        pipeline_id: idOf(builds, build_name),
        commit_sha,
        branch,
        repo_url,
        display_title: build_name,
        url: buildUrl(scope, build_name, number),
      }),
    ],
  },
})
