/** Finds the rows of a project that report the same rollout, and which of them represents it. */
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { deploymentRuns, rollouts } from '../../domain/rollouts.ts'
import { type Policy, policyOf } from '../policy/policy.ts'
import { type CalculationRun, mapped, projectOf } from './calculation.ts'
import { joinRollouts, type SeenDeployment } from './join-rollouts.ts'
import { inTurn, replaceRows, writeInto } from './results.ts'

/** `metric` is the plugin whose option holds the policy of a project. */
export async function calculateRollouts({ database, options }: CalculationRun, metric: string): Promise<number> {
  const project = projectOf(options)
  return writeRollouts(database, project, await storedPolicy(database, project, metric))
}

export const writeRollouts = (database: Database, project: string, policy: Policy): Promise<number> =>
  inTurn(database, `${rollouts.name} ${project}`, async (inside) => {
    const deployments = await seenDeployments(inside, project)
    const runs = await runsOf(inside, project)
    const joined = joinRollouts({ deployments, runs, rules: policy.rolloutRules ?? [] })
    const rows = joined.map(({ id, rollout, reason, arrived }) =>
      rollouts.row({
        project_name: project,
        deployment_id: id,
        rollout_id: rollout,
        is_counted: id === rollout || policy.rollouts === 'every-row',
        reason,
        arrived_id: arrived?.id ?? '',
        arrived_date: arrived?.finished == null ? null : new Date(arrived.finished),
      }),
    )
    return replaceRows(inside, rollouts, [sql`project_name = ${project}`], (table) => writeInto(inside, table, rows))
  })

/** Reads the policy from the table in which the control plane stores it. This module must not know the control plane. */
export async function storedPolicy({ kysely }: Database, project: string, metric: string): Promise<Policy> {
  const { rows } = await sql<{ plugin_option: unknown }>`select plugin_option from project_metric_settings
    where project_name = ${project} and plugin_name = ${metric}`.execute(kysely)
  const stored = rows[0]?.plugin_option
  const option = typeof stored === 'string' && stored !== '' ? JSON.parse(stored) : stored
  return policyOf(option?.policy ?? {})
}

interface SeenRow {
  readonly id: string
  readonly commit_sha: string
  readonly deployment: string
  readonly scope: string
  readonly subtask: string
  readonly origin: string
  readonly environment: string
  readonly result: string
  readonly started: Date | null
  readonly finished: Date | null
  readonly repo_id: string
  readonly repo_url: string
}

const PAGE = 20_000

/** Reads one deployment for each id, whatever the number of its commits. */
async function seenDeployments({ kysely }: Database, project: string): Promise<SeenDeployment[]> {
  const found = new Map<string, Seen>()
  for (let [id, commit] = ['', '']; ; ) {
    const { rows } = await sql<SeenRow>`select c.id, c.commit_sha, c.cicd_deployment_id as deployment,
        c.cicd_scope_id as scope, coalesce(c.subtask_name, '') as subtask, coalesce(c._raw_data_table, '') as origin,
        coalesce(c.environment, '') as environment, coalesce(c.result, '') as result,
        coalesce(c.started_date, c.created_date) as started, c.finished_date as finished,
        coalesce(c.repo_id, '') as repo_id, coalesce(c.repo_url, '') as repo_url
      from cicd_deployment_commits c where c.cicd_scope_id in (${mapped('cicd_scopes', project)})
        and c.id >= ${id} and (c.id > ${id} or c.commit_sha > ${commit})
      order by c.id, c.commit_sha limit ${sql.lit(PAGE)}`.execute(kysely)
    for (const row of rows) addTo(found, row)
    const last = rows.at(-1)
    if (!last || rows.length < PAGE) return [...found.values()]
    id = last.id
    commit = last.commit_sha
  }
}

interface Seen extends SeenDeployment {
  environment: string
  result: string
  started: number | null
  finished: number | null
  readonly repositories: Set<string>
  readonly commits: Set<string>
}

/** Preferred values: a deployment of several commits takes them from one of its commits, if one has them. */
const ENVIRONMENT = 'PRODUCTION'
const RESULTS = ['SUCCESS', 'FAILURE']
const later = (one: number | null, other: Date | null) => (other ? Math.max(one ?? 0, other.getTime()) : one)
const earlier = (one: number | null, other: Date | null) =>
  other ? Math.min(one ?? Number.POSITIVE_INFINITY, other.getTime()) : one

function addTo(found: Map<string, Seen>, row: SeenRow): void {
  const known = found.get(row.deployment)
  const seen = known ?? {
    id: row.deployment,
    scope: row.scope,
    view: `${toolOf(row.scope)} ${row.subtask || row.origin}`,
    isNative: row.subtask === '',
    environment: row.environment,
    result: row.result,
    started: null,
    finished: null,
    repositories: new Set<string>(),
    commits: new Set<string>(),
  }
  if (!known) found.set(row.deployment, seen)
  if (row.environment === ENVIRONMENT || seen.environment === '') seen.environment = row.environment
  const better = RESULTS.find((word) => word === row.result || word === seen.result)
  if (better) seen.result = better
  seen.started = earlier(seen.started, row.started)
  seen.finished = later(seen.finished, row.finished)
  for (const name of [row.repo_id, addressOf(row.repo_url)]) if (name) seen.repositories.add(name)
  if (row.commit_sha) seen.commits.add(row.commit_sha)
}

/** The connection that a scope belongs to, by the first parts of its id: `github:GithubRepo:1`. */
const toolOf = (scope: string) => scope.split(':').slice(0, 3).join(':')

/** Brings the many spellings of the address of a repository into one: `host/path`. */
export function addressOf(url: string): string {
  const plain = url
    .trim()
    .toLowerCase()
    .replace(/^[a-z+]+:\/\//, '')
    .replace(/^[^/@]*@/, '')
  return plain
    .replace(/^([^/:]+):(\d+\/)?/, '$1/')
    .replace(/\/$/, '')
    .replace(/\.git$/, '')
}

async function runsOf({ kysely }: Database, project: string): Promise<Map<string, Set<string>>> {
  const { rows } = await sql<{
    deployment_id: string
    pipeline_id: string
  }>`select distinct r.deployment_id, r.pipeline_id
    from ${sql.table(deploymentRuns.name)} r inner join cicd_deployment_commits c on c.cicd_deployment_id = r.deployment_id
    where c.cicd_scope_id in (${mapped('cicd_scopes', project)})`.execute(kysely)
  const runs = new Map<string, Set<string>>()
  for (const { deployment_id, pipeline_id } of rows) {
    runs.set(deployment_id, (runs.get(deployment_id) ?? new Set()).add(pipeline_id))
  }
  return runs
}
