/**
 * Lists that later runs read by time of change do not show which records are gone, nor records that came without a change.
 * So the stored records are compared with a listing of names. Its first page, which costs one request, says how many there are.
 * The rest is listed only if that number differs from the number stored, and is more than the page brought.
 */

import { sql } from 'kysely'
import { counted } from '../../basics/counted.ts'
import { parseExactBytes } from '../../database/exact-json.ts'
import { knowing } from '../../database/kysely.ts'
import { among, inPieces, readByKeys } from '../../database/pieces.ts'
import { readAll } from '../../database/read.ts'
import type { AnyTable } from '../../database/table.ts'
import type { HttpRequest } from '../http/index.ts'
import { descendantsOf } from '../raw/descendants.ts'
import { removeRecords } from '../raw/raw-mirror.ts'
import { type Reconcile, recordKey } from '../spec/collect.ts'
import { openRememberedText } from '../task/remembered-text.ts'
import { collectList } from './collect-list.ts'
import type { Collection, List } from './collection.ts'
import { contextOf } from './collection.ts'
import { isOlder } from './records.ts'
import { inputKey } from './run.ts'
import { eachSideBySide } from './side-by-side.ts'

const FETCH = 200

export async function reconcile(collection: Collection): Promise<void> {
  const { spec, task, run, subtaskKey } = collection
  if (!spec.reconcile) return
  if (run.isFull) return openOlder(collection).forget()
  const stored = await storedKeys(collection)
  const listed = await listNames(collection, spec.reconcile, stored)
  const gone = listed ? [...stored].filter((key) => !listed.all.has(key)) : []
  const unknown = [...(listed?.wanted ?? [])].filter((key) => !stored.has(key))
  const renamed = await renamedRecords(collection, spec.reconcile)
  const referring = await referringTo(collection, spec.reconcile, [...gone, ...renamed])
  const wanted = new Set([...unknown, ...referring.filter((key) => (listed?.all ?? stored).has(key))])
  if (gone.length > 0) await removeGone(collection, gone)
  if (gone.length + wanted.size > 0) {
    const change = `${counted(gone.length, 'record')} deleted at the source, ${wanted.size} more to ask for by id`
    task.log?.(`${subtaskKey.subtask}: ${change}`)
  }
  await askFor(collection, spec.reconcile, [...wanted])
  if (listed) await openOlder(collection).write(listed.all.size - listed.wanted.size)
}

async function storedKeys({ task: { database, params }, raw }: Collection): Promise<Set<string>> {
  const { rows } = await sql<{ record_key: string }>`select distinct record_key from ${sql.table(raw.name)}
    where params = ${params} and input_key = '' and record_key <> ''`.execute(database.kysely)
  return new Set(rows.map(({ record_key }) => record_key))
}

interface Listed {
  readonly all: ReadonlySet<string>
  /** The same without names from before the start date, unless they are stored. */
  readonly wanted: ReadonlySet<string>
}

/** Lists the names; undefined if there are as many as are stored, or if the list changed while it was read. */
async function listNames(
  collection: Collection,
  { request, paging, records, by }: Reconcile,
  stored: ReadonlySet<string>,
): Promise<Listed | undefined> {
  const { spec, task, client, run, base, subtaskKey } = collection
  const { incremental } = spec
  const context = contextOf(collection, null)
  const plain = request(context)
  const filterBy = incremental && 'filterBy' in incremental ? incremental.filterBy : undefined
  // The stored records begin at the start date too.
  const beginning = run.timeAfter && filterBy?.(run.timeAfter, context)
  const asked: HttpRequest = { ...plain, query: { ...plain.query, ...beginning } }
  const start = beginning ? null : run.timeAfter
  const isWanted = (record: unknown) => !start || !by || !isOlder(record, by, start, base)
  const older = start ? await openOlder(collection).read() : 0
  const all = new Set<string>()
  const wanted = new Set<string>()
  let firstTotal: number | undefined
  const pages = client.pages(asked, paging, task.signal, records ? { records } : {})
  for await (const { records: some, total, state } of pages) {
    for (const record of some) {
      const key = recordKey(spec, record)
      all.add(key)
      if (isWanted(record) || stored.has(key)) wanted.add(key)
    }
    if (total === undefined) return undefined
    firstTotal ??= total
    if (total !== firstTotal) {
      task.log?.(`${subtaskKey.subtask}: the list changed while its names were read; the next run compares again`)
      return undefined
    }
    if (state && total === stored.size + older) return undefined
  }
  return all.size === firstTotal ? { all, wanted } : undefined
}

/**
 * Remembers how many records at the source are from before the start date, for sources that cannot leave them out. With that
 * number, the source's total tells whether everything that is wanted is stored.
 */
function openOlder({ task, run, subtaskKey }: Collection) {
  const known = openRememberedText(task.database, {
    ...subtaskKey,
    subtask: `${subtaskKey.subtask}, from before the start date`,
  })
  const start = run.timeAfter?.toISOString() ?? ''
  return {
    async read(): Promise<number> {
      const [since, count] = (await known.read())?.split(' ') ?? []
      return since === start ? Number(count) : 0
    },
    write: async (count: number): Promise<void> => {
      if (start) await known.write(`${start} ${count}`)
    },
    forget: () => known.forget(),
  }
}

const ownKeyOf = ({ entity: { table } }: Collection) => table.names[table.keys.at(-1) as number] as string

/** Finds records of this run whose name has changed. Other records still refer to them by the old name. */
async function renamedRecords(collection: Collection, { renamed }: Reconcile): Promise<string[]> {
  if (!renamed) return []
  const { entity, task, raw, run } = collection
  const found: string[] = []
  const ownKey = ownKeyOf(collection)
  for (let last = run.rawMark; ; ) {
    const fresh = await knowing(task.database.kysely, raw)
      .selectFrom(raw.name)
      .select(['id', 'record_key', 'data'])
      .where('params', '=', task.params)
      .where('id', '>', last)
      .orderBy('id')
      .limit(FETCH)
      .execute()
    if (fresh.length === 0) return found
    const where = { connection_id: task.context.connectionId, [ownKey]: fresh.map(({ record_key }) => record_key) }
    const rows = await readAll(task.database, { table: entity.table, where })
    const names = new Map<string | null, unknown>(rows.map((row) => [String(row[ownKey]), row[renamed.column]]))
    for (const { id, record_key, data } of fresh) {
      const before = names.get(record_key)
      if (record_key !== null && before !== undefined && before !== renamed.of(parseExactBytes(data)))
        found.push(record_key)
      last = id
    }
  }
}

/** Finds records that refer to deleted or renamed ones: the source changed them too, without saying so. */
async function referringTo(
  collection: Collection,
  { referring = [] }: Reconcile,
  changed: readonly string[],
): Promise<string[]> {
  const { entity, task } = collection
  const found = new Set<string>()
  const select = (table: AnyTable, wanted: string, columns: readonly string[], values: readonly unknown[]) =>
    readByKeys(values, async (some) => {
      const any = columns.map((column) => among(sql.ref(column), some))
      const { rows } = await sql<{ name: unknown }>`select distinct ${sql.ref(wanted)} as name
        from ${sql.table(table.name)}
        where connection_id = ${task.context.connectionId} and (${sql.join(any, sql` or `)})`.execute(
        task.database.kysely,
      )
      return rows.map(({ name }) => name)
    })
  for (const { table, columns, key, by } of referring) {
    const names = by ? await select(entity.table, by, [ownKeyOf(collection)], changed) : changed
    for (const name of await select(table, key, columns, names)) found.add(String(name))
  }
  return [...found]
}

async function removeGone({ entity, task, raw }: Collection, gone: readonly string[]): Promise<void> {
  const { database, params, plugin, context } = task
  const descendants = descendantsOf(plugin, entity, context.scope)
  for (const keys of inPieces(gone)) {
    await removeRecords(
      { database, raw, params },
      descendants,
      sql`input_key = '' and ${among(sql.ref('record_key'), keys)}`,
    )
  }
}

/** Asks for records by their keys. A record that is gone by now simply does not come. */
async function askFor(collection: Collection, { named }: Reconcile, keys: readonly string[]): Promise<void> {
  const { task, concurrency } = collection
  const listOf = (some: readonly string[]): List => ({
    kind: 'refetch',
    key: inputKey({ reconcile: some }),
    input: null,
    stored: null,
    request: named.request(some, contextOf(collection, null)),
    ...(named.paging && { paging: named.paging }),
  })
  await eachSideBySide([...batches(keys, named.atOnce)].map(listOf), concurrency, task.signal, (list, signal) =>
    collectList(collection, list, signal),
  )
}

function* batches<Item>(items: readonly Item[], size: number): Generator<readonly Item[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size)
}
