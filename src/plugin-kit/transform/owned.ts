import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { among, inPieces } from '../../database/pieces.ts'
import type { AnyTable, TableRow } from '../../database/table.ts'
import { retrying } from '../../database/write.ts'
import type { Owned } from '../spec/entity.ts'

/** Deletes rows that their owners no longer have, in a partial pass. A full pass deletes them in its sweep at the end. */
export async function replaceOwned(
  database: Database,
  owner: AnyTable,
  owned: readonly Owned[],
  rows: readonly TableRow[],
  stamp: Date,
) {
  const owners = rows.filter(({ table }) => table === owner)
  if (owners.length === 0) return
  for (const { table, by, where = {} } of owned) {
    const columns = Object.keys(by)
    const positions = Object.values(by).map((name) => owner.names.indexOf(name))
    const conditions = Object.entries(where).map(([name, value]) => sql`and ${sql.ref(name)} = ${value}`)
    const key = sql`(${sql.join(columns.map((name) => sql.ref(name)))})`
    const keyOf = ({ cells }: TableRow) => sql`(${sql.join(positions.map((position) => cells[position]))})`
    for (const piece of inPieces(owners, columns.length)) {
      await retrying(database, () =>
        sql`delete from ${sql.table(table.name)} where ${among(key, piece, keyOf)}
          and updated_at <> ${stamp} ${sql.join(conditions, sql` `)}`.execute(database.kysely),
      )
    }
  }
}

/**
 * Rows of one table can own each other, such as the commits of a pull request. They are replaced when all of them are made
 * again. If only one of them is processed again, the others must stay.
 */
export const withoutOwner = (owned: readonly Owned[], owner: AnyTable): Owned[] =>
  owned.filter(({ table }) => table !== owner)
