/** Chooses the rows of a panel: those of the chosen project, or those of one source. */
import { sql } from 'kysely'
import type { Sql } from '../metrics/calculate/calculation.ts'
import { stands, standsWithin } from '../metrics/policy/rollouts.ts'
import { buildsOf, deploymentCommitsOf, incidentsOf, issuesOf, pullRequestsOf } from '../metrics/sources.ts'
import type { PanelQuery, Variable } from './dashboard.ts'
import { isChosen, metricQueryOf } from './statements.ts'

/** Returns `from …` and the condition for its rows. */
export type Population = (query: PanelQuery) => { readonly from: Sql; readonly where: Sql }

/** Pull requests, `pr`. */
export const projectPullRequests: Population = (query) => pullRequestsOf(metricQueryOf(query))
/** Issues, `i`. */
export const projectIssues: Population = (query) => issuesOf(metricQueryOf(query))
/** Incidents, `i`. */
export const projectIncidents: Population = (query) => incidentsOf(metricQueryOf(query))
/** Builds, `p`. */
export const projectBuilds: Population = (query) => buildsOf(metricQueryOf(query))
/** Deployed commits, `c`: one row for each, including all rows that report the same rollout. */
export const projectDeployedCommits: Population = (query) => deploymentCommitsOf(metricQueryOf(query))
/** Deployed commits, `c`, only of the rows that represent their rollout. */
export const projectDeployments: Population = (query) => {
  const own = metricQueryOf(query)
  const { from, where } = deploymentCommitsOf(own)
  return { from, where: sql`${where} and ${stands(own, sql`c.cicd_deployment_id`)}` }
}

export const narrowed =
  (population: Population, variable: string, column: Sql): Population =>
  (query) => {
    const { from, where } = population(query)
    return { from, where: sql`${where} and ${isChosen(query, variable, column)}` }
  }

/** Ids begin with the name of the plugin that brought the row. */
const isOf = (plugin: string, column: Sql): Sql => sql`${column} like ${sql.lit(`${plugin}:%`)}`
const isOwn = (query: PanelQuery, plugin: string, variable: string, column: Sql): Sql =>
  sql`${isOf(plugin, column)} and ${isChosen(query, variable, column)}`

export const sourcePullRequests =
  (plugin: string, variable: string): Population =>
  (query) => ({ from: sql`from pull_requests pr`, where: isOwn(query, plugin, variable, sql`pr.base_repo_id`) })

export const sourceIssues =
  (plugin: string, variable: string): Population =>
  (query) => ({
    from: sql`from (select distinct b.issue_id from board_issues b where ${isOwn(query, plugin, variable, sql`b.board_id`)}) own
      inner join issues i on i.id = own.issue_id`,
    where: sql`1 = 1`,
  })

/** Issues, `i`, for each board (`b`, with its name in `service`): one row for every board that shows the issue. */
export const sourceIssuesByBoard =
  (plugin: string, variable: string): Population =>
  (query) => ({
    from: sql`from board_issues b inner join issues i on i.id = b.issue_id left join boards service on service.id = b.board_id`,
    where: isOwn(query, plugin, variable, sql`b.board_id`),
  })

export const sourceIncidents =
  (plugin: string, variable: string): Population =>
  (query) => ({ from: sql`from incidents i`, where: isOwn(query, plugin, variable, sql`i.scope_id`) })

export const sourceBuilds =
  (plugin: string, variable: string): Population =>
  (query) => ({ from: sql`from cicd_pipelines p`, where: isOwn(query, plugin, variable, sql`p.cicd_scope_id`) })

/** Deployed commits, `c`, of the rows that represent their rollout among the rows of the source. */
export const sourceDeployments =
  (plugin: string, variable: string): Population =>
  (query) => ({
    from: sql`from cicd_deployment_commits c`,
    where: sql`${isOwn(query, plugin, variable, sql`c.cicd_scope_id`)}
      and ${standsWithin(plugin, sql`c.cicd_deployment_id`)}`,
  })

/** Findings, `f`. */
export const sourceFindings =
  (plugin: string, variable: string): Population =>
  (query) => ({ from: sql`from cq_issues f`, where: isOwn(query, plugin, variable, sql`f.project_key`) })

/** Measures of files, `m`. */
export const sourceFiles =
  (plugin: string, variable: string): Population =>
  (query) => ({ from: sql`from cq_file_metrics m`, where: isOwn(query, plugin, variable, sql`m.project_key`) })

/** A variable for scopes of a plugin, with choices from a table of scopes. */
export const scopesVariable = (
  plugin: string,
  table: 'repos' | 'boards' | 'cicd_scopes' | 'cq_projects',
  own: Pick<Variable, 'name' | 'title' | 'remedy'>,
): Variable => ({
  ...own,
  isList: true,
  statement: () => sql`select id as value, name as label from ${sql.table(table)} scope
    where ${isOf(plugin, sql`scope.id`)} order by name, id`,
})
