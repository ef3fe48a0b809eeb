import type { RawRecord } from '../../../database/table.ts'
import { bigint, key, string, text, timestamp, zeroTime } from '../../../database/table.ts'
import { classify } from '../../../domain/classify.ts'
import { cicdDeploymentCommits, cicdDeployments } from '../../../domain/devops.ts'
import { deploymentRuns } from '../../../domain/rollouts.ts'
import { leftJoin } from '../../../plugin-kit/index.ts'
import {
  entity,
  inRepo,
  REST_PAGE,
  type Repo,
  repoAccounts,
  repoId,
  repoIdColumn,
  repos,
  table,
  WITH_NODE_IDS,
} from '../kit.ts'
import { commitRows, commits } from './commits.ts'
import { runs } from './runs.ts'

const RAW = ['github_api_deployments', 'github_graphql_deployment']

const firstLine = (message: string | undefined): string => message?.split('\n')[0] ?? ''

/** The outcome of a deployment. In REST it needs another request, and is stored in `deployment_statuses`. */
const outcome = {
  state: string(),
  latest_status_state: string('latestStatus.state'),
  latest_updated_date: timestamp('latestStatus.updatedAt'),
  finished_date: timestamp(finishedAt),
  run_id: bigint(runOf),
}
/** Reads records in the shape of GraphQL. */
export const deployments = table(
  'deployments',
  'GithubDeployment',
  {
    github_id: bigint(repoId),
    id: key(string()),
    display_title: text((deployment) => firstLine(deployment.commit?.message)),
    url: text(({ repository, environment }) => `${repository.url}/deployments/${environment}`),
    database_id: bigint('databaseId'),
    commit_oid: string('commitOid'),
    description: string(),
    environment: string(),
    ...outcome,
    repository_id: string('repository.id'),
    repository_name: string('repository.name'),
    repository_url: string('repository.url'),
    ref_name: string('ref.name'),
    payload: text(),
    created_date: zeroTime(timestamp('createdAt')),
    updated_date: zeroTime(timestamp('updatedAt')),
  },
  WITH_NODE_IDS,
)
interface StatusContext {
  readonly input: { readonly Id: string; readonly DatabaseId: number }
}
const deploymentStatuses = table('deployment_statuses', 'GithubDeploymentStatus', {
  id: key(string((_node, { input }: StatusContext) => input.Id)),
  deployment_id: bigint((_node, { input }: StatusContext) => input.DatabaseId),
  repo_id: repoIdColumn(),
  ...outcome,
})

interface Status {
  readonly state: string
  readonly updatedAt: string
  readonly logUrl?: string | null
}
interface WithStatuses {
  readonly statuses?: { readonly nodes: readonly Status[] } | null
}

/** Finds the workflow run that made the deployment. The statuses of jobs with an environment contain the address of their log. */
function runOf({ statuses }: WithStatuses): number {
  const found = (statuses?.nodes ?? []).flatMap(({ logUrl }) => logUrl?.match(/\/actions\/runs\/(\d+)/)?.[1] ?? [])
  return Number(found[0] ?? 0)
}

/** Returns when it last became active. If it never did, returns when it last failed or was switched off, or null if neither has happened. */
function finishedAt({ statuses }: WithStatuses): string | null {
  const lastOf = (...states: string[]) =>
    (statuses?.nodes ?? [])
      .filter(({ state }) => states.includes(state))
      .map(({ updatedAt }) => updatedAt)
      .sort()
      .at(-1)
  return lastOf('SUCCESS') ?? lastOf('FAILURE', 'ERROR', 'INACTIVE', 'ACTIVE') ?? null
}

/** GraphQL leaves out the payload where REST has an empty one. */
function payloadOf(payload: unknown): string {
  if (typeof payload === 'string') return payload
  return payload && Object.keys(payload).length > 0 ? JSON.stringify(payload) : ''
}

const fromRest = (deployment: RawRecord, { html_url, name }: Repo) => ({
  ...deployment,
  id: deployment.node_id,
  databaseId: deployment.id,
  commitOid: deployment.sha,
  ref: { name: deployment.ref },
  repository: { name, url: html_url },
  payload: payloadOf(deployment.payload),
  createdAt: deployment.created_at,
  updatedAt: deployment.updated_at,
})

/** REST lists the newest first. GraphQL's ACTIVE is "success" in REST, as long as that is the latest status. */
interface RestStatus {
  readonly state: string
  readonly updated_at: string
  readonly log_url?: string | null
  readonly target_url?: string | null
}
function outcomeFromRest(statuses: readonly RestStatus[]) {
  const nodes: Status[] = statuses.map((status) => ({
    state: status.state.toUpperCase(),
    updatedAt: status.updated_at,
    logUrl: status.log_url || status.target_url || null,
  }))
  const latest = nodes[0]
  const state = latest?.state ?? 'PENDING'
  return { state: state === 'SUCCESS' ? 'ACTIVE' : state, latestStatus: latest, statuses: { nodes } }
}

const RESULT = { SUCCESS: ['SUCCESS', 'INACTIVE', 'ACTIVE'], FAILURE: ['ERROR', 'FAILURE'] }
const STATUS = {
  IN_PROGRESS: ['IN_PROGRESS', 'QUEUED', 'WAITING', 'PENDING'],
  DONE: [...RESULT.SUCCESS, ...RESULT.FAILURE],
}
/** A deployment may fail long after it succeeded, or be replaced by the next one. A new status changes the deployment. */
export const DAYS_OF_CHANGE = 90
export const UNFINISHED = { state: STATUS.IN_PROGRESS }

export default entity(deployments, {
  label: 'Deployments',
  domainTypes: ['CICD'],
  raw: 'github_api_deployments',
  collect: {
    request: ({ scope }) => ({ path: inRepo(scope, 'deployments') }),
    paging: REST_PAGE,
    incremental: { newestFirstBy: 'created_at', lookBack: { days: DAYS_OF_CHANGE, changedBy: 'updated_at' } },
  },
  extract: { rows: (deployment, { read, scope }) => [read(deployments, fromRest(deployment, scope))] },
  convert: {
    to: [cicdDeploymentCommits, cicdDeployments, deploymentRuns],
    joins: {
      outcome: leftJoin(deploymentStatuses, { connection_id: 'connection_id', id: 'id' }),
      commit: leftJoin(commits, { sha: 'commit_oid' }),
    },
    replaces: RAW,
    rows: ({ outcome, commit, ...deployment }, { idOf, scopeConfig }) => {
      const id = idOf(deployments, deployment.id)
      const repo = idOf(repos, deployment.github_id)
      const { state, finished_date, run_id } = outcome ?? deployment
      const finished = finished_date ?? deployment.updated_date
      const both = {
        id,
        cicd_scope_id: repo,
        name: deployment.commit_oid,
        display_title: deployment.display_title || firstLine(commit?.message),
        url: deployment.url,
        result: classify(state, RESULT, ''),
        status: classify(state, STATUS, 'OTHER'),
        original_status: state,
        environment: scopeConfig.isProduction(deployment.environment) ? 'PRODUCTION' : deployment.environment,
        original_environment: deployment.environment,
        created_date: deployment.created_date,
        started_date: deployment.created_date,
        finished_date: finished,
        duration_sec: (finished.getTime() - deployment.created_date.getTime()) / 1000,
      }
      return [
        cicdDeploymentCommits.row({
          ...both,
          cicd_deployment_id: id,
          commit_sha: deployment.commit_oid,
          ref_name: deployment.ref_name,
          repo_id: repo,
          repo_url: deployment.repository_url,
        }),
        cicdDeployments.row(both),
        ...(run_id
          ? [deploymentRuns.row({ deployment_id: id, pipeline_id: idOf(runs, deployment.github_id, run_id) })]
          : []),
      ]
    },
  },
})

const forEachDeployment = { table: deployments, changedBy: 'updated_date' }
const statusPath = (scope: Repo, databaseId: number) => ({
  path: inRepo(scope, `deployments/${databaseId}/statuses`),
  query: { per_page: 100 },
})

export const statuses = entity(deploymentStatuses, {
  label: 'Deployment Statuses',
  domainTypes: ['CICD'],
  raw: 'github_api_deployment_statuses',
  collect: {
    forEach: { ...forEachDeployment, input: ({ id, database_id }) => ({ Id: id, DatabaseId: database_id }) },
    request: ({ scope, input }) => statusPath(scope, input.DatabaseId),
    records: (statuses) => [statuses],
    incremental: {
      refetch: {
        where: UNFINISHED,
        request: ({ deployment_id }, { scope }) => statusPath(scope, deployment_id),
        input: ({ id, deployment_id }) => ({ Id: id, DatabaseId: deployment_id }),
      },
    },
    emptyOn: [404],
  },
  extract: { rows: (statuses, { read }) => [read(deploymentStatuses, outcomeFromRest(statuses))] },
})

/** Collects the commits of deployments, because the first line of a commit's message is the title of its deployment. */
export const deployedCommits = entity(commits, {
  label: 'Deployment Commits',
  domainTypes: ['CICD'],
  raw: 'github_api_deployment_commits',
  collect: {
    forEach: { ...forEachDeployment, input: ({ commit_oid }) => ({ Sha: commit_oid }) },
    request: ({ scope, input }) => ({ path: inRepo(scope, `commits/${input.Sha}`) }),
    records: (commit) => [commit],
    emptyOn: [404, 409, 422], // removed by a force push
  },
  extract: { writes: [repoAccounts], rows: commitRows },
})
