/** Records that were not final when they came are asked for again, singly or several at once. */
import { sql } from 'kysely'
import { readAll } from '../../../database/read.ts'
import type { AnyRow, RawRecord } from '../../../database/table.ts'
import { singlePage } from '../../http/index.ts'
import { type AnyCollectSpec, type AnyRefetch, groupOf, pagingOf } from '../../spec/collect.ts'
import { batchesOf, type Collection, contextOf, type List, listOfMany } from '../collection.ts'
import { inputKey } from '../run/run.ts'

/** How far back one page of the newest stored rows goes, in milliseconds since 1970. */
export const reachOfPage = (collection: Collection, by: string): Promise<number> =>
  reachOfNewest(collection, by, pagingOf(collection.spec, collection.base.server, collection.task.options).size)

/** How far back the `count` newest stored rows go, in milliseconds since 1970; 0 if there are no more rows than that. */
export async function reachOfNewest({ entity, task }: Collection, by: string, count: number): Promise<number> {
  const { scope, connectionId } = task.context
  const where = { connection_id: connectionId, ...entity.scopeWhere(entity.table, scope) }
  const filters = Object.entries(where).map(([name, value]) => sql`${sql.ref(name)} = ${value}`)
  const { rows } = await sql<{ time: Date | null }>`select ${sql.ref(by)} as time from ${sql.table(entity.table.name)}
    where ${sql.join(filters, sql` and `)} order by ${sql.ref(by)} desc limit 1 offset ${count}`.execute(
    task.database.kysely,
  )
  return rows[0]?.time?.getTime() ?? 0
}

const refetchOf = ({ incremental }: AnyCollectSpec): AnyRefetch | undefined =>
  incremental && 'refetch' in incremental ? incremental.refetch : undefined

export async function unfinishedRows({ entity, spec, task }: Collection): Promise<AnyRow[]> {
  const refetch = refetchOf(spec)
  if (!refetch) return []
  const { scope, connectionId } = task.context
  const where = { connection_id: connectionId, ...entity.scopeWhere(entity.table, scope), ...refetch.where }
  return readAll(task.database, { table: entity.table, where })
}

export async function* unfinishedLists(collection: Collection): AsyncGenerator<List> {
  const { spec, run } = collection
  const refetch = refetchOf(spec)
  if (!refetch) return
  const by = spec.windows?.by
  const reach = by ? await reachOfPage(collection, by) : Number.POSITIVE_INFINITY
  const isInWindow = (row: AnyRow) => by !== undefined && (row[by]?.getTime() ?? 0) > reach
  const rows = (await unfinishedRows(collection)).filter((row) => !isInWindow(row))
  const listOf = (some: readonly RawRecord[]): List => {
    const request = refetch.request(some[0], contextOf(collection, null), some)
    const whole = refetch.input?.(some[0]) ?? null
    const stored = whole ?? refetch.within?.(some[0]) ?? null
    // With the key of its input, the tag of the first answer is used, so that an unchanged answer is not charged.
    const key = inputKey(whole ?? { refetch: request.path, body: request.body })
    const { paging = singlePage } = refetch
    const records = refetch.records ?? (refetch.paging ? spec.records : (body: unknown) => [body])
    const group = stored !== null && { group: groupOf(spec, stored) }
    const record = whole === null && !refetch.atOnce && { record: some[0]._raw_data_id as number }
    const how = { ...group, ...record, isPart: whole === null, paging, ...(records && { records }) }
    return { kind: 'refetch', key, request, input: null, stored, ...how }
  }
  const lists = batchesOf(rows, refetch.atOnce ?? 1).map((some) => listOfMany(some, listOf))
  for (const list of new Map(lists.map((each) => [each.key, each])).values())
    if (!run.checkpoints.get(list.key)?.is_done) yield list
}
