/** Projects with changes, deployments and incidents as calculations leave them, so that reading alone can be measured. */
import type { TableRow } from '../../src/database/table.ts'
import { repos } from '../../src/domain/code.ts'
import { projectMapping, projectPrMetrics } from '../../src/domain/crossdomain.ts'
import { cicdDeploymentCommits, cicdScopes } from '../../src/domain/devops.ts'
import { pullRequests } from '../../src/domain/pull-requests.ts'
import { boards, incidents } from '../../src/domain/ticket.ts'

export interface ProjectSize {
  /** In a year. */
  readonly changes: number
  readonly deployments: number
  readonly incidents: number
}

const START = Date.UTC(2025, 0, 1)
const YEAR = 365 * 86_400_000
const HOUR = 3_600_000
export const RANGE = { from: new Date(START + YEAR / 2), to: new Date(START + YEAR - 1) }

export const projectName = (index: number): string => `project-${index}`

/** Lead times of which few are long, the same ones at each run. */
const hoursOf = (number: number): number => 4 + ((number * 7919) % 97) ** 2 / 20

export function* rowsOf(project: number, size: ProjectSize): Generator<TableRow> {
  const project_name = projectName(project)
  const scope = `bench:Scope:${project}`
  const at = (place: number, of: number) => new Date(START + Math.floor((YEAR * place) / of))
  yield repos.row({ id: scope, name: `repo ${project}` })
  yield cicdScopes.row({ id: scope, name: `scope ${project}` })
  yield boards.row({ id: scope, name: `board ${project}` })
  for (const table of ['repos', 'boards', 'cicd_scopes']) {
    yield projectMapping.row({ project_name, table, row_id: scope })
  }
  for (let place = 0; place < size.deployments; place++) {
    const finished_date = at(place, size.deployments)
    const id = `${scope}:d${place}`
    const repository = { repo_id: scope, repo_url: scope, cicd_scope_id: scope }
    const outcome = { result: 'SUCCESS', status: 'DONE', environment: 'PRODUCTION' }
    const when = { created_date: finished_date, started_date: finished_date, finished_date }
    yield cicdDeploymentCommits.row({
      id,
      cicd_deployment_id: id,
      name: id,
      commit_sha: id,
      ...repository,
      ...outcome,
      ...when,
    })
  }
  for (let place = 0; place < size.changes; place++) {
    const deployed = at(place, size.changes)
    const hours = hoursOf(place + project)
    const merged_date = new Date(deployed.getTime() - (hours / 2) * HOUR)
    const created_date = new Date(merged_date.getTime() - (hours / 4) * HOUR)
    const id = `${scope}:p${place}`
    const deployment = Math.floor((place * size.deployments) / size.changes)
    yield pullRequests.row({ id, base_repo_id: scope, title: `Change ${place}`, created_date, merged_date })
    yield projectPrMetrics.row({
      id,
      project_name,
      deployment_commit_id: `${scope}:d${deployment}`,
      pr_coding_time: Math.ceil(hours * 15),
      pr_pickup_time: Math.ceil(hours * 5),
      pr_deploy_time: Math.ceil(hours * 30),
      pr_cycle_time: Math.ceil(hours * 60),
      pr_deployed_date: deployed,
    })
  }
  for (let place = 0; place < size.incidents; place++) {
    const created_date = new Date(at(place, size.incidents).getTime() + HOUR)
    const resolution_date = new Date(created_date.getTime() + hoursOf(place) * HOUR)
    const id = `${scope}:i${place}`
    yield incidents.row({ id, table: 'boards', scope_id: scope, title: 'Down', created_date, resolution_date })
  }
}
