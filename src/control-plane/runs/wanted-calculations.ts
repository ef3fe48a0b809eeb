/**
 * Data that tools send to a project changes its numbers without a run. The request to calculate is a row that is stored
 * together with the data: a crash in between loses nothing, and messages that arrive close together share one calculation.
 */
import type { Database } from '../../database/database.ts'
import { write } from '../../database/write.ts'
import { wantedCalculations } from '../../system/runs.ts'
import { blueprintsUsing, type Used } from '../guards.ts'
import { findRow, type Queries, selectRows, updateRows } from '../store.ts'

/** Requests a calculation for every project that collects from `used`. Must be called in the transaction of the message. */
export async function wantCalculations(database: Database, used: Used): Promise<void> {
  for (const { id, enable } of await blueprintsUsing(database.kysely, used)) {
    if (enable) await wantCalculation(database, id)
  }
}

/**
 * The start of the calculation waits for the lock on this row, and so for the transactions of messages that hold it. It then
 * reads all their data. The first of several messages decides when the calculation starts.
 */
export async function wantCalculation(database: Database, blueprint_id: number): Promise<void> {
  const { kysely } = database
  const [row] = await selectRows(kysely, wantedCalculations, (query) =>
    query.where('blueprint_id', '=', blueprint_id).forUpdate(),
  )
  const wanted_at = new Date()
  if (!row) await write(database, [wantedCalculations.row({ blueprint_id, wanted_at, pipeline_id: 0 })])
  else if (!row.wanted_at) await updateRows(kysely, wantedCalculations, { blueprint_id }, { wanted_at })
}

/** Returns the blueprint of a run, also of one that only calculates; 0 when it has none. */
export async function blueprintOfRun(
  queries: Queries,
  { id, blueprint_id }: { readonly id: number; readonly blueprint_id: number },
): Promise<number> {
  if (blueprint_id > 0) return blueprint_id
  return (await findRow(queries, wantedCalculations, { pipeline_id: id }))?.blueprint_id ?? 0
}
