/** Every domain table, by area. A module named here exports tables and nothing else. */
import type { AnyTable, SchemaOf } from '../database/table.ts'
import * as code from './code.ts'
import * as crossdomain from './crossdomain.ts'
import * as devops from './devops.ts'
import * as people from './people.ts'
import * as pullRequests from './pull-requests.ts'
import * as qa from './qa.ts'
import * as quality from './quality.ts'
import * as rollouts from './rollouts.ts'
import * as ticket from './ticket.ts'

export const domainAreas = {
  code: Object.values(code),
  'pull requests': Object.values(pullRequests),
  'issues and boards': Object.values(ticket),
  'builds and deployments': Object.values(devops),
  rollouts: Object.values(rollouts),
  'code quality': Object.values(quality),
  tests: Object.values(qa),
  people: Object.values(people),
  'projects, and links between areas': Object.values(crossdomain),
} satisfies Record<string, readonly AnyTable[]>

declare module '../database/kysely.ts' {
  interface Schema extends SchemaOf<(typeof domainAreas)[keyof typeof domainAreas][number]> {}
}

export const domainTables: readonly AnyTable[] = Object.values(domainAreas).flat()
