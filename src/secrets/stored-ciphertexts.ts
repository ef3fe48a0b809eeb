/** Finds all stored ciphertexts. Columns that may hold ciphertext are marked as such. */
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { readRows } from '../database/read.ts'
import type { AnyTable, Column } from '../database/table.ts'
import { encryptionKeys } from '../system/access.ts'
import { allTables } from '../tables.ts'
import { CIPHERTEXTS } from './secrets.ts'

export interface SealedColumn {
  readonly table: AnyTable
  readonly column: string
}
export interface StoredCiphertext {
  readonly ciphertext: string
  /** The key of the row. */
  readonly key: Readonly<Record<string, unknown>>
}

/** All columns with ciphertext, except in the table about the encryption key itself. */
export const sealedColumns: readonly SealedColumn[] = allTables
  .filter((table) => table !== encryptionKeys)
  .flatMap((table) =>
    table.names.flatMap((column) => ((table.columns[column] as Column).isSealed ? [{ table, column }] : [])),
  )

export async function* ciphertextsOf(
  database: Database,
  { table, column }: SealedColumn,
): AsyncGenerator<StoredCiphertext> {
  const isCiphertext = CIPHERTEXTS.map((prefix) => sql`${sql.ref(`t.${column}`)} like ${`${prefix}%`}`)
  const keyNames = table.keys.map((position) => table.names[position] as string)
  for await (const row of readRows(database, { table, condition: sql.join(isCiphertext, sql` or `) })) {
    const values = row as Record<string, unknown>
    const key = Object.fromEntries(keyNames.map((name) => [name, values[name]]))
    yield { ciphertext: String(values[column]), key }
  }
}
