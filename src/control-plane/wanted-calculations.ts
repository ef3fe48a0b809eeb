/**
 * What is sent to a project changes its numbers without a run of its own. The wish to calculate is a row, stored together with what
 * was sent: a kill in between loses nothing, and messages that come close together share one calculation.
 */
import type { Database } from '../database/database.ts'
import { write } from '../database/write.ts'
import { wantedCalculations } from '../system/runs.ts'
import { blueprintsUsing, type Used } from './guards.ts'
import { findRow, type Queries, selectRows, updateRows } from './store.ts'

/** For every project that collects what `used` names. Within the transaction of the message. */
export async function wantCalculations(database: Database, used: Used): Promise<void> {
  for (const { id, enable } of await blueprintsUsing(database.kysely, used)) {
    if (enable) await wantCalculation(database, id)
  }
}

/**
 * Whoever starts the calculation waits for the lock on the row, and so for the messages that hold it: what it then reads has them
 * all. The first message of several decides when.
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

/** Of a run, also of one that only calculates; 0: of none. */
export async function blueprintOfRun(
  queries: Queries,
  { id, blueprint_id }: { readonly id: number; readonly blueprint_id: number },
): Promise<number> {
  if (blueprint_id > 0) return blueprint_id
  return (await findRow(queries, wantedCalculations, { pipeline_id: id }))?.blueprint_id ?? 0
}
