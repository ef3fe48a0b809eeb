/** The rows that the four keys are read from, as a run leaves them: many projects, each with pull requests, deployments and incidents. */
import type { Database } from '../../src/database/database.ts'
import { write } from '../../src/database/write.ts'
import { repos } from '../../src/domain/code.ts'
import {
  projectIncidentDeploymentRelationships,
  projectMapping,
  projectPrMetrics,
} from '../../src/domain/crossdomain.ts'
import { cicdDeploymentCommits } from '../../src/domain/devops.ts'
import { pullRequests } from '../../src/domain/pull-requests.ts'
import { incidents } from '../../src/domain/ticket.ts'
import { projects as projectTable } from '../../src/system/projects.ts'

export const FROM = new Date(Date.UTC(2025, 0, 1))
export const TO = new Date(Date.UTC(2026, 0, 1))
const YEAR = TO.getTime() - FROM.getTime()
export const SIZES = { pullRequests: 1000, deployments: 200, incidents: 20 }
const AT_ONCE = 20

export const nameOf = (project: number) => `project ${project}`

export async function plantRows(database: Database, projects: number): Promise<void> {
  for (let first = 0; first < projects; first += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, projects - first) }, (_, index) => first + index)
    await write(database, some.flatMap(rowsOf))
  }
}

function rowsOf(project: number) {
  const project_name = nameOf(project)
  const [repo, scope, board] = ['repo', 'scope', 'board'].map((kind) => `bench:${kind}:${project}`) as [
    string,
    string,
    string,
  ]
  const at = (share: number) => new Date(FROM.getTime() + share * YEAR)
  const deploymentId = (index: number) => `bench:deployment:${project}:${index}`
  const rows: any[] = [
    projectTable.row({ name: project_name, description: '' }),
    repos.row({ id: repo, name: `repo ${project}` }),
    projectMapping.row({ project_name, table: 'repos', row_id: repo }),
    projectMapping.row({ project_name, table: 'cicd_scopes', row_id: scope }),
    projectMapping.row({ project_name, table: 'boards', row_id: board }),
  ]
  for (let index = 0; index < SIZES.deployments; index++) {
    const date = at((index + 0.5) / SIZES.deployments)
    rows.push(
      cicdDeploymentCommits.row({
        id: `${deploymentId(index)}:commit`,
        cicd_scope_id: scope,
        cicd_deployment_id: deploymentId(index),
        name: `deploy ${index}`,
        result: 'SUCCESS',
        status: 'DONE',
        environment: 'PRODUCTION',
        repo_id: repo,
        repo_url: '',
        created_date: date,
        started_date: date,
        finished_date: date,
        commit_sha: `${project}-${index}`,
      }),
    )
  }
  for (let index = 0; index < SIZES.pullRequests; index++) {
    const id = `bench:pull-request:${project}:${index}`
    const date = at((index + 0.25) / SIZES.pullRequests)
    rows.push(
      pullRequests.row({
        id,
        base_repo_id: repo,
        pull_request_key: index,
        title: `Change ${index}`,
        status: 'MERGED',
        author_name: 'somebody',
        created_date: date,
        merged_date: date,
        merge_commit_sha: `${project}-${index}`,
      }),
      projectPrMetrics.row({
        id,
        project_name,
        pr_cycle_time: (index * 7919) % 20_000,
        pr_coding_time: index % 500,
        pr_deployed_date: date,
        deployment_commit_id: `${deploymentId(index % SIZES.deployments)}:commit`,
      }),
    )
  }
  for (let index = 0; index < SIZES.incidents; index++) {
    const id = `bench:incident:${project}:${index}`
    const deployment = Math.floor((index * SIZES.deployments) / SIZES.incidents)
    const begun = at((deployment + 0.6) / SIZES.deployments)
    rows.push(
      incidents.row({
        id,
        table: 'boards',
        scope_id: board,
        title: `Outage ${index}`,
        status: 'DONE',
        lead_time_minutes: index * 30,
        created_date: begun,
        resolution_date: new Date(begun.getTime() + index * 1_800_000),
      }),
      projectIncidentDeploymentRelationships.row({ id, project_name, deployment_id: deploymentId(deployment) }),
    )
  }
  return rows
}
