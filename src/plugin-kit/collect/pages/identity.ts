/** A source that was imported again, or restored, may give its records other ids. The records with old ids are then gone. */
import { sql } from 'kysely'
import { among, inPieces } from '../../../database/pieces.ts'
import { recordKey } from '../../spec/collect.ts'
import { valueAt } from '../../spec/json.ts'
import type { Collection } from '../collection.ts'
import { StartOver } from '../run/source-clock.ts'

/** Remembers the current id of each record, if people know records by something else, such as a number. */
export function noteNames({ spec, run, names }: Collection, records: readonly unknown[]): void {
  if (!spec.knownBy || run.isFull) return
  for (const record of records) {
    const name = valueAt(record, spec.knownBy.path)
    if (typeof name === 'string' || typeof name === 'number') names.set(String(name), recordKey(spec, record))
  }
}

/** Starts over if a known record came under another id in a run that asked for changes: everything is asked for again. */
export async function requireSameIds({ entity, spec, task, raw, names: seen }: Collection): Promise<void> {
  const { knownBy } = spec
  const names = [...seen.keys()]
  if (!knownBy) return
  const { connectionId, scope } = task.context
  const own = Object.entries({ connection_id: connectionId, ...entity.scopeWhere(entity.table, scope) }).map(
    ([name, value]) => sql`${sql.ref(`t.${name}`)} = ${value}`,
  )
  for (const some of inPieces(names)) {
    const { rows } = await sql<{ name: string | number; record_key: string }>`
      select ${sql.ref(`t.${knownBy.column}`)} as name, r.record_key as record_key
      from ${sql.table(entity.table.name)} as t
      inner join ${sql.table(raw.name)} as r on r.id = t._raw_data_id and t._raw_data_table = ${raw.name}
      where ${sql.join(own, sql` and `)} and ${among(sql.ref(`t.${knownBy.column}`), some)}`.execute(
      task.database.kysely,
    )
    const other = rows.find(({ name, record_key }) => record_key !== '' && seen.get(String(name)) !== record_key)
    if (!other) continue
    const change = `${knownBy.column} ${other.name} had the id ${other.record_key} and has ${seen.get(String(other.name))} now`
    throw new StartOver(`the source changed the ids of its records (${change}); everything is collected again`, {
      isFull: true,
    })
  }
}

/** If there are fewer records, it is plausible that all of them were deleted and others were made. */
const ENOUGH = 5

/** Returns a remark if, in a run that asked for everything, none of the stored records came again. */
export function strangersIn(
  { tally }: Collection,
  older: { readonly before: number; readonly remaining: number },
): string[] {
  const { before, remaining } = older
  if (before < ENOUGH || remaining < before || tally.received < ENOUGH) return []
  return [
    `none of the ${before} stored records came again, but ${tally.received} others did: the source seems to have changed the ids of its records; records with old ids are removed`,
  ]
}
