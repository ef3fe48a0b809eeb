import { sql } from 'kysely'
import type { Dialect } from '../database/dialect.ts'
import type { Sql } from './calculate/calculation.ts'
import { minutesBetween } from './calculate/lead-times.ts'
import { arrivalOf, type Counting } from './policy/rollouts.ts'

/** SQL for the stored times of pull requests. */
interface PullRequestTimes {
  /** The join, to be put after `pr`; its rows are `m`. */
  readonly join: Sql
  /** Returns a column of these rows. Times that end with the deployment end with the rollout that counts. */
  readonly column: (name: string) => Sql
}

/** Minutes of a pull request up to a moment, calculated as the stored times are. `m` holds the time of work before its creation. */
export const cycleTime = (dialect: Dialect, end: string): Sql =>
  sql`coalesce(m.pr_coding_time, 0) + coalesce(${minutesBetween(dialect, 'pr.created_date', 'pr.merged_date')}, 0)
    + coalesce(${minutesBetween(dialect, 'pr.merged_date', end)}, 0)`

export function pullRequestTimes(query: Counting & { readonly dialect: Dialect }): PullRequestTimes {
  const { dialect, project } = query
  const brought = sql`(select min(brought.cicd_deployment_id) from cicd_deployment_commits brought
    where brought.id = m.deployment_commit_id)`
  const arrival = arrivalOf(query, brought)
  const others = new Map<string, Sql>([
    ['pr_deployed_date', sql`rolled.arrived_date`],
    ['pr_deploy_time', minutesBetween(dialect, 'pr.merged_date', 'rolled.arrived_date')],
    ['pr_cycle_time', cycleTime(dialect, 'rolled.arrived_date')],
  ])
  return {
    join: sql`left join project_pr_metrics m on m.id = pr.id and m.project_name = ${project} ${arrival.join}`,
    column: (name) => arrival.or(sql.ref(`m.${name}`), others.get(name)),
  }
}
