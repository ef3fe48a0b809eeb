/** Plants domain rows with known figures, and reads the four keys from them, from tables of Weir or of DevLake. */

import type { Database } from '../../../src/database/database.ts'
import { write } from '../../../src/database/write.ts'
import { domainTables } from '../../../src/domain/index.ts'
import { fourKeys } from '../../../src/metrics/index.ts'
import { REFERENCE } from '../../../src/metrics/policy/policy.ts'
import { readManySeries } from '../../../src/metrics/read/read.ts'
import { prepareDatabase } from '../../../src/start/prepare-database.ts'
import { calculate } from '../../metrics/calculate.ts'
import { DAY, plantOrganisation, START } from '../../metrics/organisation.ts'
import { anyTable } from '../../support/any-table.ts'
import { insertRows } from './devlake-database.ts'

const STEPS = 12
const filter = {
  project: 'project 0',
  environment: 'PRODUCTION',
  policy: REFERENCE,
  from: new Date(START - 10 * DAY),
  to: new Date(START + (STEPS + 10) * DAY),
}

/** Reads the keys per month and without grades, which would also need tables that only Weir has. */
export const keysOf = async (database: Database) =>
  Promise.all(
    fourKeys.map(async (metric) => {
      const [points = []] = await readManySeries(database, metric, [filter], 'month')
      return [metric.name, points.map(({ value }) => value)]
    }),
  )

/** Calculates in a database of Weir, then copies the rows into DevLake's tables. */
export async function plantDomain(own: Database, devLake: Database): Promise<void> {
  await prepareDatabase(own)
  await write(own, plantOrganisation(1, STEPS).rows)
  await calculate(own, 'project 0')
  for (const table of domainTables) {
    // DevLake does not have Weir's tables.
    if (table.name.startsWith('_weir_')) continue
    const rows = await anyTable(own.kysely).selectFrom(table.name).selectAll().execute()
    await insertRows(
      devLake,
      rows.map((row) => table.row(row as never)),
    )
  }
}
