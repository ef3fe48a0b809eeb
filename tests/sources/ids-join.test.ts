/** For every source, an id in a domain table joins its row. */
import { sql } from 'kysely'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Database } from '../../src/database/database.ts'
import { plugins } from '../../src/plugins/index.ts'
import { VENDORS } from '../convergence/vendors/index.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { collectVendor } from './collected.ts'
import { type IdColumn, idColumns } from './id-columns.ts'
import { ID_EXCEPTIONS, type IdException } from './id-exceptions.ts'
import { readHistory, tellWebhook } from './told.ts'

/** Returns values of the column that name no row. */
async function dangling({ kysely }: Database, { table, column, targets }: IdColumn): Promise<string[]> {
  const own = sql.ref(`own.${column}`)
  const isThere = targets.map(
    (each) =>
      sql`exists (select 1 from ${sql.table(each.table)} other where ${sql.ref(`other.${each.column}`)} = ${own})`,
  )
  const { rows } = await sql<{ value: string }>`select distinct ${own} as value from ${sql.table(table)} own
    where coalesce(${own}, '') <> '' and not (${sql.join(isThere, sql` or `)}) order by 1`.execute(kysely)
  return rows.map(({ value }) => value)
}

const isListed = ({ columns, values }: IdException, place: string, value: string): boolean =>
  columns.includes(place) && values.test(value)

/** Functions that fill the domain tables, by the name of the source. */
const SOURCES: readonly { readonly name: string; readonly fill: (database: Database) => Promise<void> }[] = [
  ...VENDORS.map((vendor) => ({
    name: vendor.name,
    fill: (database: Database) => collectVendor(database, vendor),
  })),
  { name: 'webhook', fill: tellWebhook },
  { name: 'gitextractor', fill: readHistory },
]

it('are walked for every source', () => {
  const walked = new Set(SOURCES.map(({ name }) => name))
  const filling = plugins.filter(({ source, name }) => source !== undefined || name === 'gitextractor')
  expect(filling.map(({ name }) => name).filter((name) => !walked.has(name))).toEqual([])
})

describe.each(SOURCES)('$name', ({ name, fill }) => {
  const exceptions = ID_EXCEPTIONS[name] ?? []

  describeOneWithTables(`ids of domain rows of ${name}`, (test) => {
    beforeAll(async () => {
      await fill(test.database)
    }, 300_000)

    const filledRows = async (table: string, column: string): Promise<number> => {
      const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}
        where coalesce(${sql.ref(column)}, '') <> ''`.execute(test.database.kysely)
      return Number(rows[0]?.count)
    }

    it('join their rows, or are listed', async () => {
      const found: string[] = []
      const needed = new Set<IdException>()
      let checked = 0
      for (const each of idColumns()) {
        const place = `${each.table}.${each.column}`
        checked += await filledRows(each.table, each.column)
        for (const value of await dangling(test.database, each)) {
          const exception = exceptions.find((one) => isListed(one, place, value))
          if (exception) needed.add(exception)
          else found.push(`${place}: ${value}`)
        }
      }
      expect(found).toEqual([])
      expect(checked).toBeGreaterThan(5)
      const stale = exceptions.filter((each) => !needed.has(each)).map(({ columns, why }) => ({ columns, why }))
      expect(stale, 'exceptions that no row needs any more').toEqual([])
    })

    it('are never empty in rows that link two things', async () => {
      const empty: string[] = []
      for (const { table, column } of idColumns().filter(({ isKey }) => isKey)) {
        const { rows } =
          await sql`select 1 from ${sql.table(table)} where coalesce(${sql.ref(column)}, '') = '' limit 1`.execute(
            test.database.kysely,
          )
        if (rows.length > 0) empty.push(`${table}.${column}`)
      }
      expect(empty).toEqual([])
    })
  })
})
