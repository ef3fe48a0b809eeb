/** Small rows of boards, pipelines and pull requests, and the tables that calculations fill from them. */
import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'
import type { TableRow } from '../../src/database/table.ts'
import { write } from '../../src/database/write.ts'
import { projectMapping } from '../../src/domain/crossdomain.ts'
import { cicdPipelineCommits, cicdPipelines } from '../../src/domain/devops.ts'
import { pullRequests } from '../../src/domain/pull-requests.ts'
import { boardIssues, issues } from '../../src/domain/ticket.ts'
import { plugins } from '../../src/plugins/index.ts'
import { allTables } from '../../src/tables.ts'
import { calculate } from './calculate.ts'

export const at = (day: number, hour = 0) => new Date(Date.UTC(2024, 0, day, hour))
export const map = (project_name: string, table: string, row_id: string) =>
  projectMapping.row({ project_name, table, row_id })
export const incident = (id: string, more = {}) =>
  issues.row({
    id,
    issue_key: id.slice(1),
    type: 'INCIDENT',
    created_date: at(11),
    resolution_date: at(12),
    lead_time_minutes: 1440,
    _raw_data_table: '_raw_tracker_issues',
    _raw_data_params: 'tracker',
    ...more,
  })
export const onBoard = (board_id: string, issue_id: string) => boardIssues.row({ board_id, issue_id })
export const pipeline = (id: string, commit_sha: string, day: number, scope = 's', more = {}) => [
  cicdPipelines.row({
    id,
    cicd_scope_id: scope,
    type: 'DEPLOYMENT',
    environment: 'PRODUCTION',
    result: 'SUCCESS',
    name: id,
    created_date: at(day),
    started_date: at(day),
    finished_date: at(day, 1),
    ...more,
  }),
  cicdPipelineCommits.row({ pipeline_id: id, commit_sha, repo_url: 'u', repo_id: 'r', branch: 'main' }),
]
export const request = (id: string, key: number, more = {}) =>
  pullRequests.row({ id, base_repo_id: 'r', pull_request_key: key, created_date: at(6), merged_date: at(7), ...more })

export const RESULTS = [
  'cicd_deployments',
  'cicd_deployment_commits',
  'commits_diffs',
  '_tool_refdiff_finished_commits_diffs',
  'project_pr_metrics',
  'incidents',
  'incident_assignees',
  'project_incident_deployment_relationships',
  'pull_request_issues',
  'issue_status_history',
  'issue_assignee_history',
  'user_accounts',
]
/** An open status lasts until now. */
export const UNTIL_NOW = ['end_date', 'status_time_minutes']
export const INPUTS = [
  'project_mapping',
  'repo_commits',
  'commit_parents',
  'pull_requests',
  'cicd_pipelines',
  'cicd_pipeline_commits',
  'issues',
  'board_issues',
  'issue_assignees',
  'issue_changelogs',
  'accounts',
  'users',
]
export const KEPT = allTables
  .map(({ name }) => name)
  .filter((name) => /^_weir_(calc|linked|wanted|connected|traced)/.test(name))
export const LASTING = RESULTS.filter((name) => !name.endsWith('_history'))
export const STAMPS = ['created_at', 'updated_at']

/** Functions for tests with such rows. The database is known only when the tests run. */
export function workbench(database: () => Database) {
  const plant = (...rows: TableRow[]) => write(database(), rows)
  const execute = async (query: RawBuilder<any>) => (await query.execute(database().kysely)).rows
  const run = (name: string, options: Record<string, unknown>) =>
    plugins
      .flatMap(({ subtasks }) => subtasks)
      .find((each) => each.name === name)!
      .run({
        database: database(),
        options,
        fullSync: false,
        signal: new AbortController().signal,
        progress: () => {},
      })
  /** Runs all calculations of a run of the project. */
  const runProject = async (projectName: string, prToIssueRegexp = '#\\d+') => {
    await run('LinkPrToIssue', { projectName, prToIssueRegexp })
    await run('ConvertIssueStatusHistory', { projectName })
    await run('ConvertIssueAssigneeHistory', { projectName })
    await run('connectUserAccountsExact', {})
    await calculate(database(), projectName)
  }
  const results = async (without: readonly string[] = [...STAMPS, ...UNTIL_NOW], tables = RESULTS) => {
    const found: Record<string, unknown[]> = {}
    for (const name of tables) {
      const rows = await execute(sql`select * from ${sql.table(name)}`)
      const texts = rows.map((row: Record<string, unknown>) =>
        JSON.stringify(Object.fromEntries(Object.entries(row).filter(([column]) => !without.includes(column)))),
      )
      found[name] = texts.sort()
    }
    return found
  }
  const empty = async (...lists: readonly (readonly string[])[]) => {
    for (const name of lists.flat()) await execute(sql`delete from ${sql.table(name)}`)
  }
  return { plant, execute, run, runProject, results, empty }
}
