/** Writes results into their tables: one run at a time, all rows at once, and without touching rows that are already right. */

import { sql } from 'kysely'
import { byName } from '../../basics/by-name.ts'
import type { Database } from '../../database/database.ts'
import { quoteAll, updatedNames } from '../../database/dialect.ts'
import type { AnyTable } from '../../database/table.ts'
import { defineTable, key, string, type TableRow, timestamp } from '../../database/table.ts'
import { retrying, write } from '../../database/write.ts'
import { raw, type Sql } from './calculation.ts'

interface Filling {
  readonly table: AnyTable
  /** An expression for each column. */
  readonly columns: Readonly<Record<string, Sql>>
  /** `from … where …`, joined in this order. The `where` is required, because the text after it would be ambiguous without it. */
  readonly from: Sql
  readonly with?: Sql
}

/** Fills a table from others inside the database. A row whose key exists replaces the old one. */
export async function fill({ kysely, dialect }: Database, filling: Filling): Promise<number> {
  const { table, columns, from } = filling
  const stamp = new Date()
  const all: Record<string, Sql> = byName({ ...columns })
  for (const name of ['created_at', 'updated_at']) if (name in table.columns) all[name] = sql`${stamp}`
  const names = Object.keys(all)
  const selected = names.map((name) => sql`${all[name]} as ${sql.id(name)}`)
  const result = await sql`insert into ${sql.table(table.name)} (${sql.join(names.map((name) => sql.id(name)))})
    ${filling.with ?? sql``} select ${raw(dialect.joinAsWritten)} ${sql.join(selected)} ${from}
    ${raw(dialect.onExistingKey(table, names))}`.execute(kysely)
  return Number(result.numAffectedRows ?? 0)
}

/** The rows that a calculation is responsible for. Those that it does not make again are removed. */
interface Replacing extends Filling {
  /** Conditions on the columns of the table, of which one holds. They are separate, because database engines plan "or" badly. */
  readonly within: readonly Sql[]
}

/** Replaces the rows within a condition with those of a query. Rows that are already right are not touched, whoever made them. */
export const replace = (inside: Database, { within, ...filling }: Replacing): Promise<number> =>
  replaceRows(inside, filling.table, within, (table) => fill(inside, { ...filling, table }))

/** Does the same for rows from elsewhere: `make` puts them into the table that it is given. */
export async function replaceRows(
  inside: Database,
  table: AnyTable,
  within: readonly Sql[],
  make: (table: AnyTable) => Promise<number>,
): Promise<number> {
  const { kysely, dialect } = inside
  const target = sql.table(table.name)
  if (!(await hasRows(inside, table, within))) return make(table)
  const made: AnyTable = { ...table, name: `_made_${table.name}` }
  const { create, drop } = dialect.temporary
  await raw(drop(made.name)).execute(kysely)
  await raw(create(made)).execute(kysely)
  const count = await make(made)
  const keys = table.keys.map((position) => table.names[position] as string)
  const isSame = sql.join(
    keys.map((name) => sql`made.${sql.id(name)} = ${target}.${sql.id(name)}`),
    sql` and `,
  )
  for (const condition of within) {
    await sql`delete from ${target} where ${condition}
      and not exists (select 1 from ${sql.table(made.name)} made where ${isSame})`.execute(kysely)
  }
  const differing = updatedNames(table, table.names)
    .filter((name) => name !== 'updated_at')
    .map((name) =>
      dialect.isDistinct(`made.${dialect.quote(name)}`, `${dialect.quote(table.name)}.${dialect.quote(name)}`),
    )
  const isNew = sql`${target}.${sql.id(keys[0] as string)} is null`
  const names = table.names.map((name) => sql`made.${sql.id(name)}`)
  await sql`insert into ${target} (${raw(quoteAll(dialect, table.names))}) select ${sql.join(names)}
    from ${sql.table(made.name)} made left join ${target} on ${isSame}
    where ${isNew} ${raw(differing.map((each) => `or ${each}`).join(' '))}
    ${raw(dialect.onExistingKey(table, table.names))}`.execute(kysely)
  await raw(drop(made.name)).execute(kysely)
  return count
}

export async function remove({ kysely }: Database, table: AnyTable, condition: Sql): Promise<number> {
  const { numAffectedRows } = await sql`delete from ${sql.table(table.name)} where ${condition}`.execute(kysely)
  return Number(numAffectedRows ?? 0)
}

async function hasRows({ kysely }: Database, table: AnyTable, within: readonly Sql[]): Promise<boolean> {
  for (const condition of within) {
    const { rows } = await sql`select 1 from ${sql.table(table.name)} where ${condition} limit 1`.execute(kysely)
    if (rows.length > 0) return true
  }
  return false
}

/** Writes rows into their table, or into the temporary one that replaces it. */
export async function writeInto(inside: Database, table: AnyTable, rows: readonly TableRow[]): Promise<number> {
  await write(
    inside,
    rows.map(({ cells }) => ({ table, cells })),
  )
  return rows.length
}

export const calculations = defineTable(
  '_weir_calculations',
  { name: key(string(500)), taken_at: timestamp() },
  { meaning: 'Results that are calculated one run at a time: who makes one holds its row.' },
)

/**
 * Runs in one transaction, so that a reader sees either the old rows or the new ones. Calculations of the same result run one
 * after the other: projects share scopes, and the later run must see what the earlier one has written.
 */
export const inTurn = (
  database: Database,
  result: string,
  body: (database: Database) => Promise<number>,
): Promise<number> =>
  retrying(database, () =>
    database.transaction(async (inside) => {
      const { kysely, dialect } = inside
      // Locks the row until the end of the transaction, whether it existed or not.
      await sql`insert into ${sql.table(calculations.name)} (name, taken_at) values (${result}, ${new Date()})
        ${raw(dialect.onExistingKey(calculations, calculations.names))} ${raw(dialect.preferIndexes ?? '')}`.execute(
        kysely,
      )
      return body(inside)
    }),
  )
