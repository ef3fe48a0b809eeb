/** Records that could not be parsed, fitted or converted wait here; the run goes on, and they can be driven again. */
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { bigint, defineTable, indexed, key, type RowOf, string, text, written } from '../database/table.ts'
import { retrying, write } from '../database/write.ts'

export const quarantine = defineTable(
  '_weir_quarantine',
  {
    plugin: key(string(60)),
    subtask: key(string(120)),
    raw_table: key(string(120)),
    raw_id: key(bigint()),
    /** Key of the tool row that did not convert; empty while extracting. */
    record_key: key(string(255)),
    params: indexed(string(255)),
    entity: string(120),
    reason: text(),
    ...written,
  },
  { meaning: 'Records that could not be parsed, fitted or converted, and why.' },
)

export interface Place {
  readonly plugin: string
  readonly subtask: string
  readonly params: string
}
export type Rejected = Pick<RowOf<typeof quarantine>, 'raw_table' | 'raw_id' | 'record_key' | 'entity' | 'reason'>

export const putInQuarantine = (
  database: Database,
  place: Place,
  rejected: readonly Rejected[],
  stamp: Date,
): Promise<void> =>
  write(
    database,
    rejected.map((each) => quarantine.row({ ...place, ...each })),
    stamp,
  )

/** Forgets what this run did not reject again; `rawIds` narrows it to the records that were driven again. */
export async function releaseFromQuarantine(
  database: Database,
  place: Place,
  stamp: Date,
  rawIds?: readonly number[],
): Promise<void> {
  if (rawIds?.length === 0) return
  await retrying(database, () =>
    sql`delete from ${sql.table(quarantine.name)}
        where plugin = ${place.plugin} and subtask = ${place.subtask} and params = ${place.params} and updated_at <> ${stamp}
        ${rawIds ? sql`and raw_id in (${sql.join(rawIds)})` : sql``}`.execute(database.kysely),
  )
}

export async function quarantinedIds(database: Database, place: Place): Promise<number[]> {
  const { rows } = await sql<{ raw_id: number }>`select distinct raw_id from ${sql.table(quarantine.name)}
    where plugin = ${place.plugin} and subtask = ${place.subtask} and params = ${place.params}`.execute(database.kysely)
  return rows.map(({ raw_id }) => raw_id)
}
