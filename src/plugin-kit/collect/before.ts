/** What is known when a collection begins, in one statement. */
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { readTogether } from '../../database/read.ts'
import type { RowOf } from '../../database/table.ts'
import { collectorLatestState } from '../../system/state.ts'
import { collectRuns, collectStates, earlyRecords } from '../raw/collect-tables.ts'
import { gaps } from '../raw/gaps.ts'
import type { RawTable } from '../raw/raw-table.ts'

export interface Before {
  /** What the last success left, for DevLake and for us. */
  readonly latest: RowOf<typeof collectorLatestState> | undefined
  readonly own: RowOf<typeof collectStates> | undefined
  /** A run that was interrupted. */
  readonly open: RowOf<typeof collectRuns> | undefined
  /** What earlier runs did not get. */
  readonly hasGaps: boolean
  /** Records of this scope, of any kind, that deliveries brought and nobody has confirmed. */
  readonly hasEarly: boolean
  /** The last raw record of any scope, and of this one; 0: there is none. */
  readonly lastRawId: number
  readonly lastOwnId: number
  /** Raw records of this scope that have an id. */
  readonly olderCount: number
}

/** Records without an id are stored anew each time, so that none of them ever comes again. */
export const NAMED = sql`record_key <> ''`

export async function readBefore(database: Database, raw: RawTable, params: string): Promise<Before> {
  const where = { raw_table: raw.name, params }
  const table = sql.table(raw.name)
  const { rows, values } = await readTogether(database, {
    rows: [
      { table: collectorLatestState, where: { raw_data_table: raw.name, raw_data_params: params } },
      { table: collectStates, where },
      { table: collectRuns, where },
    ],
    values: [
      sql<unknown>`exists (select 1 from ${sql.table(gaps.name)}
        where raw_table = ${raw.name} and params = ${params})`,
      sql<unknown>`exists (select 1 from ${sql.table(earlyRecords.name)} where params = ${params})`,
      sql<number | null>`(select max(id) from ${table})`,
      sql<number | null>`(select max(id) from ${table} where params = ${params})`,
      sql<number>`(select count(*) from ${table} where params = ${params} and ${NAMED})`,
    ],
  })
  const [latest, own, open] = rows
  const [hasGaps, hasEarly, lastRawId, lastOwnId, olderCount] = values
  return {
    ...{ latest, own, open, hasGaps: Boolean(hasGaps), hasEarly: Boolean(hasEarly) },
    ...{ lastRawId: lastRawId ?? 0, lastOwnId: lastOwnId ?? 0, olderCount },
  }
}
