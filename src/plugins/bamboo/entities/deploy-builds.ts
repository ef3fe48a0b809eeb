import type { RawRecord, RowOf } from '../../../database/table.ts'
import { bigint, indexed, key, string, text, timestamp } from '../../../database/table.ts'
import { classify } from '../../../domain/classify.ts'
import { cicdDeployments } from '../../../domain/devops.ts'
import { deploymentRuns } from '../../../domain/rollouts.ts'
import { type EntityContext, manyByKey } from '../../../plugin-kit/index.ts'
import {
  entity,
  inOrder,
  inPages,
  madeAt,
  type Plan,
  plans,
  RESULT,
  rightColumns,
  STATUS,
  table,
  UNFINISHED,
} from '../kit.ts'
import { deployEnvironments } from './deploy-environments.ts'
import { planBuildCommits, planBuilds } from './plan-builds.ts'

/** Cuts times to whole seconds, as DevLake stores them. 0 means "not yet". */
const secondOf = (field: string) =>
  timestamp((deployment: RawRecord) =>
    deployment[field] > 0 ? new Date(Math.floor(deployment[field] / 1000) * 1000) : null,
  )

export const deployBuilds = table('deploy_builds', 'BambooDeployBuild', {
  deploy_build_id: key(bigint('id')),
  plan_result_key: indexed(string(191, ({ deploymentVersion }) => deploymentVersion?.items?.[0]?.planResultKey?.key)),
  env_key: text('key.entityKey.key'),
  deployment_version_name: text('deploymentVersionName'),
  deployment_state: text('deploymentState'),
  life_cycle_state: text('lifeCycleState'),
  started_date: secondOf('startedDate'),
  queued_date: secondOf('queuedDate'),
  executed_date: secondOf('executedDate'),
  finished_date: secondOf('finishedDate'),
  reason_summary: text('reasonSummary'),
  project_key: indexed(string(191, () => '')), // DevLake leaves it empty
  plan_key: indexed(string(191, (_deployment, { scope }) => scope.plan_key)),
  environment: string((_deployment, { input }) => input?.name),
  plan_branch_name: string('deploymentVersion.planBranchName'),
  ...rightColumns,
})
type DeployBuild = RowOf<typeof deployBuilds>
type Commit = RowOf<typeof planBuildCommits>

export const commitId = (connectionId: number, { deploy_build_id }: DeployBuild, { repository_id }: Commit): string =>
  `bamboo:deployBuildWithVcsRevision:${connectionId}:${deploy_build_id}:${repository_id}`

/**
 * In DevLake, the ids of a deployment and of its commits do not match. Here a deployment has the id that DevLake gives to its
 * first commit, so that they do.
 */
export function deploymentId(connectionId: number, deployment: DeployBuild, commits: readonly Commit[] = []): string {
  const [first] = [...commits].sort((one, other) => one.repository_id - other.repository_id)
  return first
    ? commitId(connectionId, deployment, first)
    : `bamboo:bambooDeployBuildEx:${connectionId}:${deployment.deploy_build_id}`
}

type Context = Pick<EntityContext<Plan, { isProduction(name: string): boolean }>, 'idOf' | 'scope' | 'scopeConfig'>

/** Columns that a deployment and its commits share. */
export function deploymentValues(deployment: DeployBuild, { idOf, scope, scopeConfig }: Context) {
  const { environment, executed_date: started, finished_date: finished } = deployment
  const name = `${scope.name}/${deployment.deployment_version_name}`
  return {
    cicd_scope_id: idOf(plans, scope.plan_key),
    name,
    display_title: name,
    result: classify(deployment.deployment_state, RESULT, ''),
    status: classify(deployment.life_cycle_state, STATUS, 'OTHER'),
    original_result: deployment.deployment_state,
    original_status: deployment.life_cycle_state,
    environment: scopeConfig.isProduction(environment) ? 'PRODUCTION' : environment,
    original_environment: environment,
    created_date: deployment.started_date,
    queued_date: deployment.queued_date,
    started_date: started,
    finished_date: finished,
    duration_sec: started && finished ? Math.max(0, (finished.getTime() - started.getTime()) / 1000) : 0,
  }
}

export const commitsOfDeployment = manyByKey(planBuildCommits, 'plan_result_key', (row) => row.plan_result_key)

export default entity(deployBuilds, {
  label: 'Deploy Build',
  names: {
    collect: 'CollectDeployBuild',
    extract: 'ExtractDeployBuild',
    convert: 'convertDeployBuildsToDeployments',
  },
  domainTypes: ['CICD'],
  raw: 'bamboo_api_deploy_builds',
  collect: {
    forEach: {
      table: deployEnvironments,
      input: ({ env_id, name }) => ({ env_id, name }),
      key: ({ env_id }) => env_id,
    },
    request: ({ input }) => ({ path: `deploy/environment/${input.env_id}/results.json` }),
    paging: inOrder(inPages(({ size }) => size)),
    records: ({ results }) => results,
    incremental: {
      numbered: { of: ({ id, startedDate }) => ({ number: id, made: madeAt(startedDate) }) },
      refetch: {
        where: { life_cycle_state: UNFINISHED },
        request: ({ deploy_build_id }) => ({ path: `deploy/result/${deploy_build_id}.json` }),
        within: ({ env_key, environment }) => ({ env_id: Number(env_key.split('-').at(-1)), name: environment }),
      },
    },
    emptyOn: [404], // deleted since it was listed
  },
  convert: {
    to: [cicdDeployments, deploymentRuns],
    dependsOn: ['envNamePattern'],
    lookups: { commits: commitsOfDeployment },
    *rows(deployment, context) {
      if (!deployment.started_date) return
      const { connectionId, idOf, lookups } = context
      const { plan_result_key } = deployment
      const id = deploymentId(connectionId, deployment, lookups.commits.get(plan_result_key))
      yield cicdDeployments.row({ id, ...deploymentValues(deployment, context) })
      // The deployed version was made by a build of the plan.
      if (plan_result_key)
        yield deploymentRuns.row({ deployment_id: id, pipeline_id: idOf(planBuilds, plan_result_key) })
    },
  },
})
