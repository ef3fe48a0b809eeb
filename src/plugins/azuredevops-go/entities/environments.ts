import { bigint, key, string, timestamp } from '../../../database/table.ts'
import { classify } from '../../../domain/classify.ts'
import { cicdDeploymentCommits, cicdDeployments } from '../../../domain/devops.ts'
import { deploymentRuns } from '../../../domain/rollouts.ts'
import { innerJoin } from '../../../plugin-kit/index.ts'
import { deploymentRows } from '../deployment-rows.ts'
import { byToken, entity, builds as hasBuilds, inProject, inputId, preview, repositoryId, table } from '../kit.ts'
import { builds } from './builds.ts'

const RESULT = { SUCCESS: ['succeeded', 'succeededWithIssues'], FAILURE: ['failed', 'canceled', 'abandoned'] }

/** Environments belong to a project, so each of its repositories has all of them. */
export const environments = table('environments', 'AzuredevopsEnvironment', {
  repository_id: key(string(191, repositoryId)),
  id: key(bigint()),
  name: string(),
})
/** Deployments by jobs of pipelines. Those of other repositories are not converted. */
export const environmentDeployments = table('environment_deployments', 'AzuredevopsEnvironmentDeployment', {
  repository_id: key(string(191, repositoryId)),
  environment_id: key(bigint(inputId)),
  id: key(bigint()),
  build_id: bigint('owner.id'),
  definition_name: string('definition.name'),
  stage_name: string('stageName'),
  job_name: string('jobName'),
  result: string(100),
  queue_time: timestamp('queueTime'),
  start_time: timestamp('startTime'),
  finish_time: timestamp('finishTime'),
})

export default entity(environments, {
  label: 'Environments',
  domainTypes: ['CICD'],
  raw: 'azuredevops_go_api_environments',
  collect: {
    when: hasBuilds,
    request: ({ scope }) => preview(inProject(scope, 'distributedtask/environments')),
    paging: byToken(100),
    emptyOn: [404], // an older server without environments
    canBeSwitchedOff: true,
  },
})

export const environmentDeploymentsEntity = entity(environmentDeployments, {
  label: 'Environment Deployments',
  domainTypes: ['CICD'],
  raw: 'azuredevops_go_api_environment_deployments',
  collect: {
    forEach: { table: environments, input: ({ id }) => ({ EnvironmentId: id }) },
    request: ({ scope, input }) =>
      preview(inProject(scope, `distributedtask/environments/${input.EnvironmentId}/environmentdeploymentrecords`)),
    paging: byToken(1000, 'top'),
    emptyOn: [404],
  },
  convert: {
    to: [cicdDeployments, cicdDeploymentCommits, deploymentRuns],
    dependsOn: ['envNamePattern'],
    joins: {
      build: innerJoin(builds, {
        connection_id: 'connection_id',
        azuredevops_id: 'build_id',
        repository_id: 'repository_id',
      }),
      environment: innerJoin(environments, {
        connection_id: 'connection_id',
        repository_id: 'repository_id',
        id: 'environment_id',
      }),
    },
    rows: ({ build, environment, ...row }, { idOf, scope, scopeConfig }) =>
      deploymentRows(
        {
          id: idOf(environmentDeployments, row.environment_id, row.id),
          name: [row.definition_name, row.stage_name, row.job_name].filter(Boolean).join(' '),
          url: '',
          result: classify(row.result, RESULT, ''),
          status: row.result ? 'DONE' : 'IN_PROGRESS',
          original: row.result,
          environment: environment.name,
          times: [row.queue_time, row.start_time, row.finish_time],
          commit: { sha: build.source_version, ref: build.source_branch },
          build: row.build_id,
        },
        { idOf, scope, scopeConfig },
      ),
  },
})
