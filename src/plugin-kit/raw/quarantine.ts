/** Stores records that could not be parsed, fitted or converted. The run continues, and they can be processed again later. */

import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { among, inPieces } from '../../database/pieces.ts'
import { bigint, defineTable, indexed, key, type RowOf, string, text, written } from '../../database/table.ts'
import { retrying, write } from '../../database/write.ts'
import type { SubtaskKey } from '../spec/subtask.ts'
import { isRawTable } from './raw-table.ts'

export const quarantine = defineTable(
  '_weir_quarantine',
  {
    plugin: key(string(60)),
    subtask: key(string(120)),
    raw_table: key(string(120)),
    raw_id: key(bigint()),
    /** Key of the tool row that could not be converted; empty for an extraction. */
    record_key: key(string(255)),
    params: indexed(string(255)),
    entity: string(120),
    reason: text(),
    ...written,
  },
  { meaning: 'Records that could not be parsed, stored or converted, and why.' },
)

export type RejectedRecord = Pick<RowOf<typeof quarantine>, 'raw_table' | 'raw_id' | 'record_key' | 'entity' | 'reason'>

export const putInQuarantine = (
  database: Database,
  subtaskKey: SubtaskKey,
  rejected: readonly RejectedRecord[],
  stamp: Date,
): Promise<void> =>
  write(
    database,
    rejected.map((each) => quarantine.row({ ...subtaskKey, ...each })),
    stamp,
  )

/**
 * The records of a pass: all, the new ones, or some that were processed again; 'none': there was no record in quarantine before.
 */
export type ReleaseFrom = 'all' | 'new' | 'none' | readonly number[]

/** Removes records that this run did not reject again, and records that a newer version has replaced. */
export async function releaseFromQuarantine(
  database: Database,
  { plugin, subtask, params }: SubtaskKey,
  stamp: Date,
  released: ReleaseFrom,
): Promise<void> {
  if (released === 'none') return
  const own = sql`plugin = ${plugin} and subtask = ${subtask} and params = ${params} and updated_at <> ${stamp}`
  const release = (condition: RawBuilder<unknown>) =>
    retrying(database, () =>
      sql`delete from ${sql.table(quarantine.name)} where ${own} and ${condition}`.execute(database.kysely),
    )
  if (released === 'all') await release(sql`1 = 1`)
  else if (released === 'new') {
    const { rows } = await sql<{ raw_table: string }>`select distinct raw_table from ${sql.table(quarantine.name)}
      where ${own}`.execute(database.kysely)
    for (const { raw_table } of rows) {
      if (!isRawTable(raw_table)) continue
      await release(sql`raw_table = ${raw_table} and not exists (
        select 1 from ${sql.table(raw_table)} as record where record.id = ${sql.ref(`${quarantine.name}.raw_id`)})`)
    }
  } else {
    for (const piece of inPieces(released)) await release(among(sql`raw_id`, piece))
  }
}

export async function quarantinedIds(database: Database, subtaskKey: SubtaskKey): Promise<number[]> {
  const { rows } = await sql<{ raw_id: number }>`select distinct raw_id from ${sql.table(quarantine.name)}
    where plugin = ${subtaskKey.plugin} and subtask = ${subtaskKey.subtask} and params = ${subtaskKey.params}`.execute(
    database.kysely,
  )
  return rows.map(({ raw_id }) => raw_id)
}
