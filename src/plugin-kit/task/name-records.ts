import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { parseExactBytes } from '../../database/exact-json.ts'
import { retrying } from '../../database/write.ts'
import { groupOf, hasOwnInputs, recordKey } from '../spec/collect.ts'
import type { Entity } from '../spec/entity.ts'
import { keepNewest } from './raw-mirror.ts'
import { rawTable } from './raw-table.ts'

interface Unnamed {
  readonly id: number
  readonly data: Buffer | null
  readonly input: unknown
}

const PIECE = 500

/**
 * Gives identities to raw records that were stored without: by DevLake, or by a Weir that did not know them. Of
 * those that turn out to be versions of one record the newest stays.
 */
export async function nameRecords(
  { spec }: Entity,
  { database, params }: { readonly database: Database; readonly params: string },
): Promise<void> {
  const { collect } = spec
  if (!collect) return
  const raw = rawTable(spec.raw as string)
  const name = (data: Buffer | null, input: unknown) => {
    const input_key = input !== null && hasOwnInputs(collect) ? groupOf(collect, input) : ''
    try {
      return { input_key, record_key: recordKey(collect, parseExactBytes(data ?? new Uint8Array())) }
    } catch {
      // What is no JSON is put aside by the extraction.
      return { input_key, record_key: '' }
    }
  }
  for (let isFirst = true; ; isFirst = false) {
    const { rows } = await sql<Unnamed>`select id, data, input from ${sql.table(raw.name)}
      where input_key is null and params = ${params} order by id limit ${sql.lit(PIECE)}`.execute(database.kysely)
    if (rows.length === 0) {
      if (!isFirst) await keepNewest({ database, raw, params }, 0)
      return
    }
    const named = rows.map(({ id, data, input }) => ({ id, ...name(data, input) }))
    const cases = (column: 'input_key' | 'record_key') =>
      sql`case id ${sql.join(
        named.map((each) => sql`when ${each.id} then ${each[column]}`),
        sql` `,
      )} end`
    await retrying(database, () =>
      sql`update ${sql.table(raw.name)} set input_key = ${cases('input_key')}, record_key = ${cases('record_key')}
        where id in (${sql.join(named.map(({ id }) => id))})`.execute(database.kysely),
    )
  }
}
