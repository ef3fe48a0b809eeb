import { sql } from 'kysely'
import { parseExactBytes } from '../../database/exact-json.ts'
import { retrying } from '../../database/write.ts'
import { keepNewest } from '../raw/raw-mirror.ts'
import { type RawTable, rawTable } from '../raw/raw-table.ts'
import type { AnyCollectSpec } from '../spec/collect.ts'
import { groupOf, hasOwnInputs, recordKey } from '../spec/collect.ts'
import type { Entity, EntityTask } from '../spec/entity.ts'
import { oncePerTask } from './known-of-task.ts'

interface Unnamed {
  readonly id: number
  readonly data: Buffer | null
  readonly input: unknown
}

const PIECE = 500

/**
 * Gives keys to raw records that were stored without them: by DevLake, or by a version of Weir that had no keys. If several
 * turn out to be versions of one record, only the newest stays.
 */
export async function nameRecords({ spec }: Entity, task: EntityTask): Promise<void> {
  const { collect } = spec
  const raw = rawTable(spec.raw as string)
  // Records that come later have their keys from the beginning.
  if (collect) await oncePerTask(task, `names in ${raw.name} of ${task.params}`, () => nameAll(collect, raw, task))
}

async function nameAll(collect: AnyCollectSpec, raw: RawTable, { database, params }: EntityTask): Promise<void> {
  const name = (data: Buffer | null, input: unknown) => {
    const input_key = input !== null && hasOwnInputs(collect) ? groupOf(collect, input) : ''
    try {
      return { input_key, record_key: recordKey(collect, parseExactBytes(data ?? new Uint8Array())) }
    } catch {
      // The extraction puts records that are not JSON into quarantine.
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
