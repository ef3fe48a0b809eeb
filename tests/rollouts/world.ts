/** A project whose rollouts a tool reports twice: as a deployment, and as the run that made it. */
import type { TableRow } from '../../src/database/table.ts'
import { commitParents, commits, repoCommits, repos } from '../../src/domain/code.ts'
import { projectMapping } from '../../src/domain/crossdomain.ts'
import { cicdDeploymentCommits, cicdPipelineCommits, cicdPipelines, cicdScopes } from '../../src/domain/devops.ts'
import { pullRequests } from '../../src/domain/pull-requests.ts'
import { deploymentRuns } from '../../src/domain/rollouts.ts'
import { boardIssues, issues } from '../../src/domain/ticket.ts'

/** In the previous month, within the six months that an update compares. */
const START = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() - 1, 1))
export const at = (day: number, hour = 0, minute = 0) =>
  new Date(START.getTime() + ((day - 1) * 24 + hour) * 3_600_000 + minute * 60_000)
const URL = 'https://code.example/web'
export const RANGE = `project=shop&from=${at(1).toISOString()}&to=${at(27).toISOString()}`

/** The tool's deployment ends at 10:20, and its run at 10:10. */
function rollout(day: number, environment = 'PRODUCTION'): TableRow[] {
  const id = `n${day}`
  const shared = { cicd_scope_id: 'host:Repo:1:web', result: 'SUCCESS', created_date: at(day, 10) }
  return [
    cicdDeploymentCommits.row({
      id,
      cicd_deployment_id: id,
      name: id,
      commit_sha: `c${day}`,
      repo_url: URL,
      repo_id: 'web',
      environment,
      ...shared,
      started_date: at(day, 10),
      finished_date: at(day, 10, 20),
    }),
    cicdPipelines.row({
      id: `p${day}`,
      name: `run ${day}`,
      type: 'DEPLOYMENT',
      environment: 'PRODUCTION',
      duration_sec: 600,
      ...shared,
      started_date: at(day, 10),
      finished_date: at(day, 10, 10),
    }),
    cicdPipelineCommits.row({ pipeline_id: `p${day}`, commit_sha: `c${day}`, repo_url: URL, repo_id: 'web' }),
    deploymentRuns.row({ deployment_id: id, pipeline_id: `p${day}` }),
  ]
}
const change = (day: number) =>
  pullRequests.row({
    id: `pr${day}`,
    base_repo_id: 'web',
    pull_request_key: day,
    merge_commit_sha: `c${day}`,
    title: `Change ${day}`,
    created_date: at(day, 8),
    merged_date: at(day, 9),
  })
const incident = (day: number) => [
  issues.row({
    id: `i${day}`,
    issue_key: `i${day}`,
    type: 'INCIDENT',
    title: `Outage ${day}`,
    created_date: at(day, 12),
    resolution_date: at(day, 14),
    lead_time_minutes: 120,
  }),
  boardIssues.row({ board_id: 'board', issue_id: `i${day}` }),
]

/** Production on days 1, 3, 5 and 8. On day 6 to staging, although no rule says so. Incidents on days 3 and 7. */
export const WORLD: readonly TableRow[] = [
  repos.row({ id: 'web', name: 'web', url: URL }),
  cicdScopes.row({ id: 'host:Repo:1:web', name: 'acme/web' }),
  ...(
    [
      ['repos', 'web'],
      ['boards', 'board'],
      ['cicd_scopes', 'host:Repo:1:web'],
      ['cicd_scopes', 'hook:1'],
    ] as const
  ).map(([table, row_id]) => projectMapping.row({ project_name: 'shop', table, row_id })),
  ...[1, 3, 5, 6, 8].flatMap((day, index, days) => [
    commits.row({ sha: `c${day}`, authored_date: at(day, 8), message: '' }),
    repoCommits.row({ repo_id: 'web', commit_sha: `c${day}` }),
    ...(index > 0 ? [commitParents.row({ commit_sha: `c${day}`, parent_commit_sha: `c${days[index - 1]}` })] : []),
    change(day),
    ...rollout(day, day === 6 ? 'STAGING' : 'PRODUCTION'),
  ]),
  ...[3, 7].flatMap(incident),
  cicdDeploymentCommits.row({
    id: 'other',
    cicd_deployment_id: 'other',
    cicd_scope_id: 'hook:1',
    commit_sha: 'x',
    environment: 'PRODUCTION',
    name: 'other',
    repo_url: 'https://code.example/other',
    result: 'SUCCESS',
    finished_date: at(12, 10),
  }),
]
