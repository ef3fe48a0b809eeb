/** An id in a domain table joins its row, for every source. */
import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../src/database/database.ts'
import { migrate } from '../../src/database/migrate.ts'
import { allTables } from '../../src/tables.ts'
import type { VendorUnderTest } from '../convergence/support/vendor-under-test.ts'
import { argocdVendor } from '../convergence/vendors/argocd.ts'
import { azuredevopsVendor } from '../convergence/vendors/azuredevops.ts'
import { bambooVendor } from '../convergence/vendors/bamboo.ts'
import { bitbucketVendor } from '../convergence/vendors/bitbucket.ts'
import { bitbucketServerVendor } from '../convergence/vendors/bitbucket-server.ts'
import { circleciVendor } from '../convergence/vendors/circleci.ts'
import { githubGraphqlVendor, githubVendor } from '../convergence/vendors/github.ts'
import { gitlabVendor } from '../convergence/vendors/gitlab.ts'
import { jenkinsVendor } from '../convergence/vendors/jenkins.ts'
import { jiraVendor } from '../convergence/vendors/jira.ts'
import { opsgenieVendor } from '../convergence/vendors/opsgenie.ts'
import { pagerdutyVendor } from '../convergence/vendors/pagerduty.ts'
import { sonarqubeVendor } from '../convergence/vendors/sonarqube.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { collectVendor } from './collected.ts'
import { type IdColumn, idColumns } from './id-columns.ts'

const VENDORS: readonly VendorUnderTest[] = [
  ...[argocdVendor, azuredevopsVendor, bambooVendor, bitbucketVendor, bitbucketServerVendor, circleciVendor],
  ...[githubVendor, githubGraphqlVendor, gitlabVendor, jenkinsVendor, jiraVendor, opsgenieVendor, pagerdutyVendor],
  sonarqubeVendor,
]

/** Values of the column that name no row, a few of them. */
async function dangling({ kysely }: Database, { table, column, targets }: IdColumn): Promise<string[]> {
  const own = sql.ref(`own.${column}`)
  const isThere = targets.map(
    (each) =>
      sql`exists (select 1 from ${sql.table(each.table)} other where ${sql.ref(`other.${each.column}`)} = ${own})`,
  )
  const { rows } = await sql<{ value: string }>`select distinct ${own} as value from ${sql.table(table)} own
    where coalesce(${own}, '') <> '' and not (${sql.join(isThere, sql` or `)}) order by 1 limit 3`.execute(kysely)
  return rows.map(({ value }) => value)
}

describe.each(VENDORS)('$name', (vendor) => {
  describeEachDatabase('ids', (test) => {
    beforeAll(async () => {
      await migrate(test.database, allTables)
      await collectVendor(test.database, vendor)
    }, 120_000)

    it('of domain rows join their rows', async () => {
      const found: Record<string, string[]> = {}
      for (const each of idColumns()) {
        const values = await dangling(test.database, each)
        if (values.length > 0) found[`${each.table}.${each.column}`] = values
      }
      expect(found).toEqual({})
    })
  })
})
