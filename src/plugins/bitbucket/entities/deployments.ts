import type { RawRecord } from '../../../database/table.ts'
import { indexed, key, string, timestamp } from '../../../database/table.ts'
import { classify } from '../../../domain/classify.ts'
import { cicdDeploymentCommits, cicdDeployments } from '../../../domain/devops.ts'
import { deploymentRuns } from '../../../domain/rollouts.ts'
import { innerJoin, wholeTable } from '../../../plugin-kit/index.ts'
import { entity, inRepo, pages, repoId, repos, table, values } from '../kit.ts'
import { pipelines } from './pipelines.ts'

/** Deployments contain only the id of their environment, unless more is requested. DevLake has no such table. */
export const environments = table('environments', 'BitbucketEnvironment', {
  uuid: key(string(100)),
  repo_id: indexed(string(repoId)),
  name: string(),
  environment_type: string('environment_type.name'),
})

const environmentOf = ({ environment }: RawRecord, { lookups }: RawRecord) =>
  lookups.environments.get(environment?.uuid)

export const deployments = table('deployments', 'BitbucketDeployment', {
  bitbucket_id: key(string(191, 'uuid')),
  pipeline_id: string('release.pipeline.uuid'),
  step_id: string('step.uuid'),
  type: string(),
  name: string('release.name'),
  environment: string((record, context) => record.environment?.name ?? environmentOf(record, context)?.name),
  environment_type: string(
    (record, context) => record.environment?.environment_type?.name ?? environmentOf(record, context)?.environment_type,
  ),
  key: string('release.key'),
  web_url: string('release.url'),
  status: string(100, ({ state }) => state?.status?.name ?? state?.name),
  state_url: string('state.url'),
  commit_sha: string('release.commit.hash'),
  commit_url: string('release.commit.links.html.href'),
  created_on: timestamp('release.created_on'),
  started_on: timestamp('state.started_on'),
  completed_on: timestamp('state.completed_on'),
  last_update_time: timestamp(),
})

const RESULT = { SUCCESS: ['COMPLETED', 'SUCCESSFUL'], FAILURE: ['FAILED', 'STOPPED', 'CANCELLED'] }
const STATUS = { DONE: [...RESULT.SUCCESS, ...RESULT.FAILURE], IN_PROGRESS: ['IN_PROGRESS', 'PENDING', 'RUNNING'] }

/** The deployment may contain an abbreviated sha, while the pipeline has the whole one. */
const wholeSha = (sha: string, whole: string): string => (whole.startsWith(sha) ? whole : sha)

export const environmentsEntity = entity(environments, {
  label: 'Environments',
  domainTypes: ['CICD'],
  raw: 'bitbucket_api_environments',
  collect: {
    request: ({ scope }) => ({ path: inRepo(scope, 'environments/') }),
    paging: pages(100),
    records: values,
    key: ({ uuid }) => uuid,
    emptyOn: [404],
    canBeSwitchedOff: true,
  },
})

export default entity(deployments, {
  label: 'Deployments',
  domainTypes: ['CICD'],
  raw: 'bitbucket_api_deployments',
  collect: {
    request: ({ scope }) => ({ path: inRepo(scope, 'deployments/') }),
    paging: pages(100),
    records: values,
    key: ({ uuid }) => uuid,
    emptyOn: [404],
    canBeSwitchedOff: true,
  },
  extract: {
    lookups: { environments: wholeTable(environments, 'uuid', ({ bitbucket_id }) => ({ repo_id: bitbucket_id })) },
  },
  convert: {
    to: [cicdDeploymentCommits, cicdDeployments, deploymentRuns],
    joins: {
      pipeline: innerJoin(pipelines, { connection_id: 'connection_id', bitbucket_id: 'pipeline_id' }),
    },
    where: ({ bitbucket_id }) => ({ 'pipeline.repo_id': bitbucket_id }),
    rows: ({ pipeline, ...deployment }, { idOf, scope }) => {
      const id = idOf(deployments, deployment.bitbucket_id)
      const repo_id = idOf(repos, scope.bitbucket_id)
      const { started_on, completed_on, created_on } = deployment
      const kind = (deployment.environment_type || deployment.environment).toUpperCase()
      const both = {
        id,
        cicd_scope_id: repo_id,
        name: deployment.name,
        display_title: deployment.name,
        url: deployment.web_url,
        result: classify(deployment.status, RESULT, ''),
        status: classify(deployment.status, STATUS, 'OTHER'),
        original_result: deployment.status,
        original_status: deployment.status,
        environment: kind === 'TEST' ? 'TESTING' : kind,
        original_environment: deployment.environment,
        created_date: created_on,
        started_date: started_on,
        finished_date: completed_on,
        duration_sec: started_on && completed_on && Math.trunc((completed_on.getTime() - started_on.getTime()) / 1000),
      }
      return [
        cicdDeploymentCommits.row({
          ...both,
          cicd_deployment_id: id,
          commit_sha: wholeSha(deployment.commit_sha, pipeline.commit_sha),
          ref_name: pipeline.ref_name,
          repo_id,
          repo_url: scope.html_url,
        }),
        cicdDeployments.row(both),
        deploymentRuns.row({ deployment_id: id, pipeline_id: idOf(pipelines, pipeline.bitbucket_id) }),
      ]
    },
  },
})
