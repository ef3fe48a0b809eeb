/** Reads in one statement everything that is known when a collection begins. */
import { sql } from 'kysely'
import type { Database } from '../../../database/database.ts'
import { readTogether } from '../../../database/read.ts'
import type { RowOf } from '../../../database/table.ts'
import { collectorLatestState } from '../../../system/state.ts'
import { collectRuns, collectStates, earlyRecords } from '../../raw/collect-tables.ts'
import { gaps } from '../../raw/gaps.ts'
import type { RawTable } from '../../raw/raw-table.ts'

export interface Before {
  /** State of the last successful run: `latest` in DevLake's table, `own` in Weir's. */
  readonly latest: RowOf<typeof collectorLatestState> | undefined
  readonly own: RowOf<typeof collectStates> | undefined
  /** The interrupted run, if there is one. */
  readonly open: RowOf<typeof collectRuns> | undefined
  /** There are gaps: data that earlier runs did not get. */
  readonly hasGaps: boolean
  /** Deliveries brought records of this scope, of any kind, that no collection has confirmed. */
  readonly hasEarly: boolean
  /** Ids of the last raw record of any scope, and of this scope; 0: there is none. */
  readonly lastRawId: number
  readonly lastOwnId: number
  /** Number of raw records of this scope that have a record key. */
  readonly olderCount: number
}

/** Records with a key. Those without one are stored again each time, so that none of them can be recognised when it comes again. */
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
    latest,
    own,
    open,
    hasGaps: Boolean(hasGaps),
    hasEarly: Boolean(hasEarly),
    lastRawId: lastRawId ?? 0,
    lastOwnId: lastOwnId ?? 0,
    olderCount,
  }
}
