/**
 * Records that a delivery (webhook) brought, until a collection has confirmed them. If the collection does not bring a record
 * again, the source has deleted it, and it is deleted here too.
 */
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { among, inPieces } from '../../database/pieces.ts'
import { readAll } from '../../database/read.ts'
import type { RowOf } from '../../database/table.ts'
import { write } from '../../database/write.ts'
import { earlyRecords } from '../raw/collect-tables.ts'
import { descendantsOf, extractedTables } from '../raw/descendants.ts'
import { removeRecords } from '../raw/raw-mirror.ts'
import { rawTable } from '../raw/raw-table.ts'
import { lookBackOf, reachOf } from '../spec/collect.ts'
import type { PluginSpec } from '../spec/plugin.ts'
import type { Collection, Missing } from './collection.ts'
import { inputKey } from './run.ts'

type EarlyRecord = RowOf<typeof earlyRecords>

export const noteEarly = (database: Database, record: Omit<EarlyRecord, 'created_at' | 'updated_at'>): Promise<void> =>
  write(database, [earlyRecords.row(record)])

/** Inputs that are asked for again, as those of gaps are, so that records from deliveries get confirmed. */
export async function earlyInputs(
  database: Database,
  { raw_table, params }: { readonly raw_table: string; readonly params: string },
): Promise<Missing[]> {
  const notes = await readAll(database, { table: earlyRecords, where: { raw_table, params } })
  return notes
    .filter(({ input }) => input !== null)
    .map(({ input }) => ({ kind: 'count', list: inputKey(input), input, since: null }))
}

/** True if no collector of this plugin fills the raw table: the records have the form that a related plugin collects. */
export const isForeign = ({ entities }: PluginSpec, raw: string): boolean =>
  !entities.some(({ spec }) => spec.collect && spec.raw && rawTable(spec.raw).name === raw)

/**
 * Deletes records that deliveries brought and the collection did not, and marks the others as confirmed. Called at the end of a
 * collection that began after they came.
 */
export async function confirmEarly({ entity, spec, task, raw, before, run, tally }: Collection): Promise<void> {
  if (!before.hasEarly) return
  const { database, params, plugin, context } = task
  const made = new Set(extractedTables(entity).map(({ name }) => name))
  const notes = (await readAll(database, { table: earlyRecords, where: { params } })).filter(
    ({ raw_table, tool_table }) => raw_table === raw.name || (made.has(tool_table) && isForeign(plugin, raw_table)),
  )
  if (notes.length === 0 || tally.gaps.length > 0 || tally.refused.size > 0) return
  const from = run.isFull || !run.since ? undefined : reachOf(lookBackOf(spec, run), run.since)
  // The collection only proves that a record is gone if it looked that far back.
  const isLookedFor = ({ listed_at }: EarlyRecord) => !from || (listed_at !== null && listed_at >= from)
  const descendants = descendantsOf(plugin, entity, context.scope)
  for (const [name, some] of Map.groupBy(notes.filter(isLookedFor), ({ raw_table }) => raw_table)) {
    const place = { database, raw: rawTable(name.slice('_raw_'.length)), params }
    const own = name === raw.name ? descendants : { ...descendants, related: [] }
    for (const ids of inPieces(some.map(({ raw_id }) => raw_id)))
      await removeRecords(place, own, among(sql.ref('id'), ids))
  }
  for (const [name, some] of Map.groupBy(notes, ({ raw_table }) => raw_table)) {
    for (const ids of inPieces(some.map(({ raw_id }) => raw_id))) {
      await sql`delete from ${sql.table(earlyRecords.name)} where raw_table = ${name} and params = ${params}
        and ${among(sql.ref('raw_id'), ids)}`.execute(database.kysely)
    }
  }
}
