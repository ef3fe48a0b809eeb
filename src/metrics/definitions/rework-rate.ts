import { sql } from 'kysely'
import type { Metric, MetricQuery } from '../metric.ts'
import { arrivalOf } from '../policy/rollouts.ts'
import { deploymentItems } from './deployment-items.ts'

/** Finds deployments that brought a revert, a hotfix, or a pull request that names a bug or an incident. */
function reworked(query: MetricQuery) {
  const arrival = arrivalOf(query, sql`c.cicd_deployment_id`)
  return sql`select ${arrival.or(sql`c.cicd_deployment_id`, sql`rolled.arrived_id`)} as id
  from project_pr_metrics m inner join pull_requests pr on pr.id = m.id
  inner join cicd_deployment_commits c on c.id = m.deployment_commit_id ${arrival.join}
  where m.project_name = ${query.project} and m.deployment_commit_id <> '' and (
    pr.title like 'Revert %' or pr.head_ref like 'hotfix%' or exists (
      select 1 from pull_request_issues l inner join issues i on i.id = l.issue_id
      where l.pull_request_id = pr.id and i.type in ('BUG', 'INCIDENT')))`
}

export const reworkRate: Metric = {
  name: 'rework-rate',
  title: 'Rework rate',
  definition:
    'Share of the successful deployments to production that were unplanned repairs: they brought a revert, a branch ' +
    'named hotfix, or a pull request that names a bug or an incident.',
  unit: 'share',
  better: 'lower',
  summary: 'mean',
  madeOf: ['deployments', 'pull requests', 'history'],
  items: (query) => deploymentItems(query, { marks: reworked(query) }),
}
