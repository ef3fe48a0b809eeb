/** Every domain table, by area. A module named here exports tables and nothing else. */
import type { Table } from '../database/table.ts'
import * as code from './code.ts'
import * as crossdomain from './crossdomain.ts'
import * as devops from './devops.ts'
import * as people from './people.ts'
import * as pullRequests from './pull-requests.ts'
import * as qa from './qa.ts'
import * as quality from './quality.ts'
import * as ticket from './ticket.ts'

export const domainAreas = {
  code: Object.values(code),
  'pull requests': Object.values(pullRequests),
  ticket: Object.values(ticket),
  devops: Object.values(devops),
  quality: Object.values(quality),
  qa: Object.values(qa),
  people: Object.values(people),
  crossdomain: Object.values(crossdomain),
} satisfies Record<string, readonly Table<any>[]>

export const domainTables: readonly Table<any>[] = Object.values(domainAreas).flat()
