import type { RawRecord } from '../../../database/table.ts'
import {
  bigint,
  boolean,
  double,
  key,
  optional,
  type RowOf,
  string,
  text,
  timestamp,
  zeroTime,
} from '../../../database/table.ts'
import { classify } from '../../../domain/classify.ts'
import { cicdDeploymentCommits, cicdDeployments } from '../../../domain/devops.ts'
import { deploymentRuns } from '../../../domain/rollouts.ts'
import { BY_CHANGE, changedSince, entity, inProject, PAGE, projectId, projects, RESULT, table } from '../kit.ts'
import { pipelines } from './pipelines.ts'

/** Columns for fields of a part of a record: `user_name` for `user.name`. */
const inside = <const Prefix extends string, C, const Names extends string>(
  [prefix, path]: readonly [Prefix, path: string],
  column: (source: string) => C,
  ...names: Names[]
) =>
  Object.fromEntries(names.map((name) => [`${prefix}_${name}`, column(`${path}.${name}`)])) as {
    [Name in Names as `${Prefix}_${Name}`]: C
  }

const JOB = ['deployable', 'deployable'] as const
const COMMIT = ['deployable_commit', 'deployable.commit'] as const
const PIPELINE = ['deployable_pipeline', 'deployable.pipeline'] as const
const STARTER = ['deployable_user', 'deployable.user'] as const
const USER = ['user', 'user'] as const
const PERSON = ['name', 'username', 'state', 'avatar_url', 'web_url'] as const

/** Columns of the job that deployed. A deployment that another tool reported to GitLab has no job. */
const deployable = {
  ...inside(COMMIT, string, 'author_email', 'author_name', 'id', 'short_id'),
  ...inside(COMMIT, text, 'message', 'title'),
  ...inside(COMMIT, timestamp, 'created_at'),
  ...inside(JOB, timestamp, 'created_at', 'finished_at', 'started_at'),
  ...inside(JOB, bigint, 'id'),
  ...inside(JOB, string, 'name', 'ref', 'stage', 'status'),
  ...inside(JOB, boolean, 'tag'),
  ...inside(STARTER, bigint, 'id'),
  ...inside(STARTER, string, ...PERSON),
  ...inside(STARTER, string, 'public_email', 'skype', 'linkedin', 'twitter', 'website_url', 'organization'),
  ...inside(STARTER, timestamp, 'created_at'),
  ...inside(PIPELINE, timestamp, 'created_at', 'updated_at'),
  ...inside(PIPELINE, bigint, 'id'),
  ...inside(PIPELINE, string, 'ref', 'sha', 'status', 'web_url'),
  ...inside(USER, bigint, 'id'),
  ...inside(USER, string, ...PERSON),
}

export const deployments = table('deployments', 'GitlabDeployment', {
  gitlab_id: key(bigint(projectId)), // as in DevLake, the id of the project, where other tables have the id of the row
  deployment_id: key(bigint('id')),
  iid: bigint(),
  created_date: zeroTime(timestamp('created_at')),
  updated_date: timestamp('updated_at'),
  status: text(),
  ref: text(),
  sha: text(),
  environment: string('environment.name'),
  name: string(nameOf),
  ...deployable,
  deployable_duration: optional(double('deployable.duration')),
  queued_duration: optional(double('deployable.queued_duration')),
})

/** The name of the job. A deployment that another tool reported to GitLab has no job, and is named after its environment. */
function nameOf({ deployable, environment }: RawRecord): string {
  return deployable?.name ?? environment?.name ?? ''
}

const STATUS = { DONE: [...RESULT.SUCCESS, ...RESULT.FAILURE], IN_PROGRESS: ['running'] }

/** Takes the times from the job, or if there is none from what was reported to GitLab. */
function timesOf(deployment: RowOf<typeof deployments>, isDone: boolean) {
  if (deployment.deployable_id) {
    return {
      started_date: deployment.deployable_started_at,
      finished_date: deployment.deployable_finished_at,
      duration_sec: deployment.deployable_duration,
      queued_duration_sec: deployment.queued_duration,
    }
  }
  const finished_date = isDone ? deployment.updated_date : null
  const duration_sec = finished_date && (finished_date.getTime() - deployment.created_date.getTime()) / 1000
  return { started_date: deployment.created_date, finished_date, duration_sec }
}

export default entity(deployments, {
  label: 'Deployments',
  domainTypes: ['CICD'],
  raw: 'gitlab_api_deployments',
  collect: {
    request: ({ scope }) => ({ path: inProject(scope, 'deployments'), query: BY_CHANGE }),
    paging: PAGE,
    incremental: { filterBy: changedSince },
  },
  extract: { edition: 2 },
  convert: {
    to: [cicdDeploymentCommits, cicdDeployments, deploymentRuns],
    where: ({ gitlab_id }) => ({ gitlab_id }),
    dependsOn: ['envNamePattern'],
    rows: (deployment, { idOf, scope, scopeConfig }) => {
      const id = idOf(deployments, deployment.gitlab_id, deployment.deployment_id)
      const project = idOf(projects, deployment.gitlab_id)
      const status = classify(deployment.status, STATUS, 'OTHER')
      const run = deployment.deployable_pipeline_id
      const both = {
        id,
        cicd_scope_id: project,
        name: `${deployment.name}:${deployment.deployment_id}`,
        display_title: deployment.deployable_commit_title,
        url: `${scope.web_url}/environments`,
        result: classify(deployment.status, RESULT, ''),
        status,
        original_status: deployment.status,
        original_result: deployment.status,
        environment: scopeConfig.isProduction(deployment.environment) ? 'PRODUCTION' : deployment.environment,
        original_environment: deployment.environment,
        created_date: deployment.created_date,
        ...timesOf(deployment, status === 'DONE'),
      }
      return [
        cicdDeploymentCommits.row({
          ...both,
          cicd_deployment_id: id,
          commit_sha: deployment.sha,
          commit_msg: deployment.deployable_commit_message,
          ref_name: deployment.ref,
          repo_id: project,
          repo_url: scope.web_url,
        }),
        cicdDeployments.row(both),
        ...(run ? [deploymentRuns.row({ deployment_id: id, pipeline_id: idOf(pipelines, run) })] : []),
      ]
    },
  },
})
