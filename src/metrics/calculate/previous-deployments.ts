import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { cicdDeploymentCommits } from '../../domain/devops.ts'
import { type Calculation, type Sql, scopesOf } from './calculation.ts'
import { inTurn } from './results.ts'

/**
 * Chains the successful deployments of each scope, repository and environment. Rows that are already right are not touched. A
 * deployment that belongs to no chain, such as a success that failed later, has no predecessor.
 */
export async function chainDeployments({ kysely, dialect }: Database, scopes: Sql): Promise<number> {
  const isLink = sql`result = 'SUCCESS' and finished_date is not null and environment <> '' and repo_url <> ''`
  const chain = sql`select id, commit_sha, coalesce(lag(id) over (
      partition by cicd_scope_id, repo_url, environment order by finished_date, id, commit_sha), '') as previous
    from cicd_deployment_commits where cicd_scope_id in (${scopes}) and ${isLink}
    union all
    select id, commit_sha, '' from cicd_deployment_commits where cicd_scope_id in (${scopes})
      and prev_success_deployment_commit_id <> '' and not coalesce(${isLink}, 1 = 0)`
  const { numAffectedRows } = await dialect
    .updateFrom({
      table: cicdDeploymentCommits.name,
      source: chain,
      on: `target.id = source.id and target.commit_sha = source.commit_sha
        and coalesce(target.prev_success_deployment_commit_id, '') <> source.previous`,
      column: 'prev_success_deployment_commit_id',
      value: 'source.previous',
    })
    .execute(kysely)
  return Number(numAffectedRows ?? 0)
}

export async function unchainDeployments({ kysely }: Database, scopes: Sql): Promise<number> {
  const { numAffectedRows } = await sql`update ${sql.table(cicdDeploymentCommits.name)}
    set prev_success_deployment_commit_id = '' where cicd_scope_id in (${scopes})
      and prev_success_deployment_commit_id <> ''`.execute(kysely)
  return Number(numAffectedRows ?? 0)
}

export const enrichPrevSuccessDeploymentCommits: Calculation = ({ database, options }) =>
  inTurn(database, cicdDeploymentCommits.name, (inside) => chainDeployments(inside, scopesOf(options)))
