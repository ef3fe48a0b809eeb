import { sql } from 'kysely'
import { type Calculation, scopesOf, swap } from './calculation.ts'

/** Chains the successful deployments of each scope, repository and environment; rows that stay the same are left alone. */
export const enrichPrevSuccessDeploymentCommits: Calculation = ({ database, options }) =>
  swap(database, async ({ kysely, dialect }) => {
    const chain = sql`select id, commit_sha, coalesce(lag(id) over (
        partition by cicd_scope_id, repo_url, environment order by finished_date, id, commit_sha), '') as previous
      from cicd_deployment_commits
      where cicd_scope_id in (${scopesOf(options)}) and result = 'SUCCESS' and finished_date is not null
        and environment <> '' and repo_url <> ''`
    const { numAffectedRows } = await dialect
      .updateFrom({
        table: 'cicd_deployment_commits',
        source: chain,
        on: `target.id = source.id and target.commit_sha = source.commit_sha
          and coalesce(target.prev_success_deployment_commit_id, '') <> source.previous`,
        column: 'prev_success_deployment_commit_id',
        value: 'source.previous',
      })
      .execute(kysely)
    return Number(numAffectedRows ?? 0)
  })
