/** A project that deploys every day at noon. Each deployment of days 40 to 80 causes an incident of three hours. */
import type { Database } from '../../src/database/database.ts'
import { write } from '../../src/database/write.ts'
import { projectIncidentDeploymentRelationships, projectMapping } from '../../src/domain/crossdomain.ts'
import { cicdDeploymentCommits, cicdScopes } from '../../src/domain/devops.ts'
import { boards, incidents } from '../../src/domain/ticket.ts'

const DAY = 86_400_000
const HOUR = 3_600_000
const START = Date.UTC(2026, 0, 5)
const DAYS = 120
export const day = (number: number, hour = 0) => new Date(START + number * DAY + hour * HOUR)

export async function plantShop(database: Database, project_name = 'shop'): Promise<void> {
  const scope = `${project_name}:scope`
  const board = `${project_name}:board`
  const rows = [
    cicdScopes.row({ id: scope, name: 'shop' }),
    boards.row({ id: board, name: 'incidents' }),
    projectMapping.row({ project_name, table: 'cicd_scopes', row_id: scope }),
    projectMapping.row({ project_name, table: 'boards', row_id: board }),
  ]
  const more = Array.from({ length: DAYS }, (_, number) => {
    const id = `${project_name}:d${number}`
    const finished_date = day(number, 12)
    const deployment = cicdDeploymentCommits.row({
      id,
      cicd_deployment_id: id,
      cicd_scope_id: scope,
      name: `release ${number}`,
      commit_sha: id,
      repo_url: 'https://code.test/shop',
      result: 'SUCCESS',
      status: 'DONE',
      environment: 'PRODUCTION',
      created_date: finished_date,
      finished_date,
    })
    if (number < 40 || number >= 80) return [deployment]
    const incident = `${project_name}:i${number}`
    const resolution_date = day(number, 15)
    return [
      deployment,
      incidents.row({
        id: incident,
        table: 'boards',
        scope_id: board,
        title: `outage ${number}`,
        status: 'DONE',
        created_date: day(number, 13),
        resolution_date,
      }),
      projectIncidentDeploymentRelationships.row({ project_name, id: incident, deployment_id: id }),
    ]
  })
  await write(database, [...rows, ...more.flat()])
}
