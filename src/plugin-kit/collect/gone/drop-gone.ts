import { type RawBuilder, sql } from 'kysely'
import { among, inPieces } from '../../../database/pieces.ts'
import { retrying } from '../../../database/write.ts'
import { inputsUpTo, ofInputs, removeElsewhere, removeRecords } from '../../raw/raw-mirror.ts'
import type { RawTable } from '../../raw/raw-table.ts'
import { hasOwnInputs, isAppending } from '../../spec/collect.ts'
import type { SourceTask } from '../../spec/plugin.ts'
import type { Collection, Tally } from '../collection.ts'
import { strangersIn } from '../pages/identity.ts'
import { NAMED } from '../run/before.ts'

/** Deletes records that did not come again. Called when everything that had to be asked for was asked for. */
export async function dropGone(collection: Collection): Promise<void> {
  const { spec, way, task, raw, records, descendants, run, tally, inputs, gone } = collection
  const remove = (condition: RawBuilder<unknown>) => removeRecords(records, descendants, condition)
  if (spec.isForAll && tally.refused.size === 0) {
    const mark = tally.isUnchanged ? 0 : run.rawMark
    await retrying(task.database, () => removeElsewhere(records, descendants, mark))
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
    const stored = isAll || inputs.unwanted.size > 0 ? await inputsUpTo(records, run.rawMark) : []
    const isGone = (key: string) => (isAll ? !inputs.asked.has(key) : inputs.unwanted.has(key))
    for (const some of inPieces(stored.filter((key) => key !== '' && isGone(key))))
      await remove(sql`id <= ${run.rawMark} and ${ofInputs(some)}`)
  }
  for (const id of (await way.missing?.(collection)) ?? []) gone.add(id)
  for (const ids of inPieces(gone)) await remove(among(sql.ref('id'), ids))
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
