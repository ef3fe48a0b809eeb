import { type RawBuilder, sql } from 'kysely'
import { among, inPieces } from '../../database/pieces.ts'
import { retrying } from '../../database/write.ts'
import { descendantsOf } from '../raw/descendants.ts'
import { inputsUpTo, ofInputs, removeElsewhere, removeRecords } from '../raw/raw-mirror.ts'
import type { RawTable } from '../raw/raw-table.ts'
import { hasOwnInputs, isAppending } from '../spec/collect.ts'
import type { SourceTask } from '../spec/plugin.ts'
import { NAMED } from './before.ts'
import type { Collection, Tally } from './collection.ts'
import { strangersIn } from './identity.ts'

/** Deletes records that did not come again. Called when everything that had to be asked for was asked for. */
export async function dropGone(collection: Collection): Promise<void> {
  const { entity, spec, task, raw, run, tally } = collection
  const { database, params, plugin } = task
  const records = { database, raw, params }
  const descendants = descendantsOf(plugin, entity)
  const remove = (condition: RawBuilder<unknown>) => removeRecords(records, descendants, condition)
  if (spec.isForAll && tally.refused.size === 0) {
    const mark = tally.isUnchanged ? 0 : run.rawMark
    await retrying(database, () => removeElsewhere(records, descendants, mark))
  }
  if (spec.forgets && !tally.isUnchanged) {
    for (const ids of inPieces(await goneFrom(collection, spec.forgets))) await remove(among(sql.ref('id'), ids))
  } else if ((run.isFull || !isAppending(spec)) && !tally.isUnchanged) {
    const stays = refusedOf(tally)
    const remaining = await countRaw(task, raw, sql`${NAMED} and id <= ${run.rawMark}`)
    tally.remarks.push(...strangersIn(collection, { before: run.olderCount, remaining }))
    if (stays) await remove(sql`id <= ${run.rawMark} ${stays}`)
  } else if (hasOwnInputs(spec)) {
    const isAll = !spec.forEach?.changedBy
    const stored = isAll || tally.unwanted.size > 0 ? await inputsUpTo(records, run.rawMark) : []
    const gone = stored.filter((key) => key !== '' && (isAll ? !tally.asked.has(key) : tally.unwanted.has(key)))
    for (const some of inPieces(gone)) await remove(sql`id <= ${run.rawMark} and ${ofInputs(some)}`)
  }
  for (const id of await missingIn(collection)) tally.gone.add(id)
  for (const ids of inPieces(tally.gone)) await remove(among(sql.ref('id'), ids))
}

/** For a source that forgets old records: finds records that did not come again although the source would still list them. */
async function goneFrom({ task, raw, run }: Collection, forgets: (key: string) => boolean): Promise<number[]> {
  const { rows } = await sql<{
    id: number
    record_key: string | null
  }>`select id, record_key from ${sql.table(raw.name)}
    where params = ${task.params} and id <= ${run.rawMark}`.execute(task.database.kysely)
  return rows.flatMap(({ id, record_key }) => (forgets(record_key ?? '') ? [] : [id]))
}

/** Finds stored records that did not come from a time range that was read completely. A resumed run has not seen them all. */
async function missingIn({ entity, spec, task, raw, run, tally }: Collection): Promise<number[]> {
  const { range } = tally
  const isSeen = tally.gaps.length === 0 && tally.refused.size === 0 && run.checkpoints.size === 0
  if (!isSeen || run.isFull || !range || !spec.windows?.by) return []
  const time = sql.ref(`made.${spec.windows.by}`)
  const { rows } = await sql<{ id: number; record_key: string | null }>`select record.id, record.record_key
    from ${sql.table(raw.name)} as record inner join ${sql.table(entity.table.name)} as made
      on made._raw_data_id = record.id and made._raw_data_table = ${raw.name} and made._raw_data_params = ${task.params}
    where record.params = ${task.params} and record.id <= ${run.rawMark}
      and ${time} >= ${range.from} and ${time} <= ${range.to}`.execute(task.database.kysely)
  return rows.flatMap(({ id, record_key }) => (record_key && !tally.known.has(record_key) ? [id] : []))
}

/** A condition that keeps the records of refused lists; undefined: they cannot be told from the others. */
function refusedOf({ refused }: Tally): RawBuilder<unknown> | undefined {
  if (refused.size === 0) return sql``
  const [groups, ...more] = inPieces([...refused] as string[])
  return refused.has(undefined) || !groups || more.length > 0 ? undefined : sql`and not ${ofInputs(groups)}`
}

export async function countRaw({ database, params }: SourceTask, raw: RawTable, only = sql`1 = 1`): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(raw.name)}
    where params = ${params} and ${only}`.execute(database.kysely)
  return rows[0]?.count ?? 0
}
