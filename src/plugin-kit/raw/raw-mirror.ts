/**
 * Raw records mirror the current records of the vendor: a newer version replaces the older one, and deleted records are deleted.
 *
 * version       a record that was asked for again: same scope, input and record key, higher id
 * counterpart   the matching record of another scope, or of another list of the same scope: an issue that is on two boards
 */

import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { among, inPieces, type Piece } from '../../database/pieces.ts'
import type { AnyTable } from '../../database/table.ts'
import { retrying } from '../../database/write.ts'
import { letGo, type RawTable } from './raw-table.ts'

/** The raw records of one scope. */
export interface ScopeRecords {
  readonly database: Database
  readonly raw: RawTable
  readonly params: string
}

/** The tables whose rows are made from raw records, and must change with them. */
export interface Descendants {
  /** Raw tables whose records make rows of the same tool table, such as issues of a board, and epics. */
  readonly related: readonly RawTable[]
  readonly tables: readonly AnyTable[]
  /** Those of `tables` whose rows each belong to only one scope. */
  readonly scoped: ReadonlySet<AnyTable>
}

/** Number of records that are removed in one transaction. */
const PIECE = 500
const COPIED = sql.join(
  ['params', 'data', 'url', 'input', 'input_key', 'record_key', 'created_at'].map((name) => sql.ref(name)),
)

export async function lastRawId({ kysely }: Database, raw: RawTable, params?: string): Promise<number> {
  const own = params === undefined ? sql`` : sql`where params = ${params}`
  const { rows } = await sql<{ id: number | null }>`select max(id) as id from ${sql.table(raw.name)} ${own}`.execute(
    kysely,
  )
  return rows[0]?.id ?? 0
}

/** Deletes older versions of these records, before new ones are stored. `inputKey` selects the records of one input. */
export async function dropVersions(
  records: ScopeRecords,
  inputKey: string,
  recordKeys: readonly string[],
): Promise<void> {
  const { database, raw, params } = records
  for (const keys of inPieces(recordKeys)) {
    await sql`delete from ${sql.table(raw.name)}
      where input_key = ${inputKey} and ${among(sql.ref('record_key'), keys)} and params = ${params}`.execute(
      database.kysely,
    )
  }
}

/** Deletes all older versions of records that were stored after `mark`. */
export async function keepNewest({ database, raw, params }: ScopeRecords, mark: number): Promise<void> {
  const table = sql.table(raw.name)
  for (;;) {
    const { rows } = await sql<{ id: number }>`select distinct older.id from ${table} as newer
      inner join ${table} as older on older.input_key = newer.input_key and older.record_key = newer.record_key
        and older.params = newer.params and older.id < newer.id
      where newer.params = ${params} and newer.id > ${mark} and newer.record_key <> '' limit 10000`.execute(
      database.kysely,
    )
    if (rows.length === 0) return
    await deleteIds(
      database,
      raw,
      rows.map(({ id }) => id),
    )
  }
}

/** Keys of inputs with records up to the id `mark`. */
export async function inputsUpTo({ database, raw, params }: ScopeRecords, mark: number): Promise<string[]> {
  const { rows } = await sql<{ input_key: string }>`select distinct input_key from ${sql.table(raw.name)}
    where params = ${params} and id <= ${mark} and input_key is not null`.execute(database.kysely)
  return rows.map(({ input_key }) => input_key)
}

/** Stores the records of an unchanged list again with new ids, so that their rows are made again. */
export async function renew(records: ScopeRecords, inputKey: string, input: unknown, mark: number): Promise<void> {
  const { database, raw, params } = records
  const table = sql.table(raw.name)
  const own = sql`input_key = ${inputKey} and params = ${params}`
  await sql`insert into ${table} (${COPIED}) select ${COPIED} from ${table} where ${own} and id <= ${mark} order by id`.execute(
    database.kysely,
  )
  await sql`delete from ${table} where ${own} and id <= ${mark}`.execute(database.kysely)
  await sql`update ${table} set input = ${JSON.stringify(input)} where ${own}`.execute(database.kysely)
}

export const ofInputs = (inputKeys: Piece<string>): RawBuilder<unknown> => among(sql.ref('input_key'), inputKeys)

interface Known {
  readonly id: number
  readonly params: string
  readonly input_key: string | null
  readonly record_key: string | null
}

/**
 * Deletes records that the vendor does not have any more, or not in this scope. Their rows are assigned to the matching records
 * of other scopes or lists, which are extracted again. Rows without a matching record are left to the extraction, which finds
 * that their record is gone.
 */
export async function removeRecords(
  records: ScopeRecords,
  descendants: Descendants,
  condition: RawBuilder<unknown>,
): Promise<void> {
  const { database, raw, params } = records
  // Usually there is no such record, and a transaction costs as much as all the work in it.
  const { rows } =
    await sql`select 1 from ${sql.table(raw.name)} where params = ${params} and (${condition}) limit 1`.execute(
      database.kysely,
    )
  if (rows.length === 0) return
  const removePiece = () =>
    database.transaction((inside) => removeSome({ ...records, database: inside }, descendants, condition))
  while ((await retrying(database, removePiece)) === PIECE);
}

/** Does the same as part of a transaction. */
export async function removeRecordsWithin(
  records: ScopeRecords,
  descendants: Descendants,
  condition: RawBuilder<unknown>,
): Promise<void> {
  while ((await removeSome(records, descendants, condition)) === PIECE);
}

async function removeSome(
  { database, raw, params }: ScopeRecords,
  descendants: Descendants,
  condition: RawBuilder<unknown>,
): Promise<number> {
  const { rows } = await sql<Known>`select id, params, input_key, record_key from ${sql.table(raw.name)}
    where params = ${params} and (${condition}) order by id limit ${sql.lit(PIECE)}`.execute(database.kysely)
  if (rows.length === 0) return 0
  for (const related of descendants.related) await handOver(database, raw, related, rows, descendants)
  await deleteIds(
    database,
    raw,
    rows.map(({ id }) => id),
  )
  return rows.length
}

/**
 * For a list that is the same for all scopes of a connection: deletes records of other scopes for which this scope has no record
 * with an id above `mark`.
 */
export async function removeElsewhere(
  { database, raw, params }: ScopeRecords,
  { tables }: Descendants,
  mark: number,
): Promise<void> {
  const table = sql.table(raw.name)
  const { rows } = await sql<{ id: number; params: string }>`select other.id, other.params from ${table} as other
    where other.params <> ${params} and other.record_key <> '' and not exists (
      select 1 from ${table} as own where own.params = ${params} and own.id > ${mark}
        and own.input_key = other.input_key and own.record_key = other.record_key)`.execute(database.kysely)
  const gone = rows.filter((other) => connectionOf(other.params) === connectionOf(params)).map(({ id }) => id)
  for (const ids of inPieces(gone)) {
    for (const { name } of tables) {
      await sql`delete from ${sql.table(name)}
        where _raw_data_table = ${raw.name} and ${among(sql.ref('_raw_data_id'), ids)}`.execute(database.kysely)
    }
  }
  await deleteIds(database, raw, gone)
}

const nameOf = ({ input_key, record_key }: Known) => `${input_key}\u0000${record_key}`
const connectionOf = (params: string): unknown => JSON.parse(params).ConnectionId

async function handOver(
  database: Database,
  raw: RawTable,
  related: RawTable,
  gone: readonly Known[],
  { tables, scoped }: Descendants,
): Promise<void> {
  const named = gone.filter(({ input_key, record_key }) => record_key || input_key)
  if (named.length === 0) return
  const listOf = (name: 'input_key' | 'record_key') => sql.join([...new Set(named.map((each) => each[name] ?? ''))])
  const { rows } = await sql<Known>`select id, params, input_key, record_key from ${sql.table(related.name)}
    where input_key in (${listOf('input_key')}) and record_key in (${listOf('record_key')})
    order by id for update`.execute(database.kysely)
  const byName = Map.groupBy(rows, nameOf)
  const ids = new Set(gone.map(({ id }) => id))
  const pairs: { readonly from: Known; readonly counterpart: Known }[] = []
  for (const from of named) {
    const same = (byName.get(nameOf(from)) ?? []).filter(({ id }) => related !== raw || !ids.has(id))
    const near = same.find(({ params }) => params === from.params)
    // This is a newer version in the same place. Rows that it no longer makes must really go.
    if (near && related === raw) continue
    const counterpart = near ?? same.find(({ params }) => connectionOf(params) === connectionOf(from.params))
    if (counterpart) pairs.push({ from, counterpart })
  }
  if (pairs.length === 0) return
  const renewed = new Map<number, number>()
  for (const ids of inPieces(pairs.map(({ counterpart }) => counterpart.id))) {
    for (const [id, newer] of await renewCounterparts(database, related, ids)) renewed.set(id, newer)
  }
  for (const [params, some] of Map.groupBy(pairs, ({ counterpart }) => counterpart.params)) {
    const { from } = some[0] as (typeof some)[number]
    const cases = some.map(
      (each) =>
        sql`when ${sql.lit(each.from.id)} then ${sql.lit(renewed.get(each.counterpart.id) ?? each.counterpart.id)}`,
    )
    for (const table of tables) {
      if (params !== from.params && scoped.has(table)) continue
      await sql`update ${sql.table(table.name)} set
          _raw_data_id = case _raw_data_id ${sql.join(cases, sql` `)} end,
          _raw_data_params = ${params}, _raw_data_table = ${related.name}
        where _raw_data_params = ${from.params} and _raw_data_table = ${raw.name}
          and _raw_data_id in (${sql.join(some.map((each) => each.from.id))})`.execute(database.kysely)
    }
  }
}

/** Renews records of other scopes that match the records behind the rows that `condition` selects. */
export async function renewCounterpartsOf(
  { database, raw, params }: ScopeRecords,
  tables: readonly AnyTable[],
  condition: RawBuilder<unknown>,
): Promise<void> {
  for (const table of tables) {
    const { rows } = await sql<{ id: number; params: string }>`select distinct counterpart.id, counterpart.params
      from ${sql.table(table.name)} as made
      inner join ${sql.table(raw.name)} as own on own.id = made._raw_data_id
      inner join ${sql.table(raw.name)} as counterpart on counterpart.input_key = own.input_key and counterpart.record_key = own.record_key
        and counterpart.record_key <> '' and counterpart.params <> ${params}
      where ${condition}`.execute(database.kysely)
    const counterparts = rows
      .filter((counterpart) => connectionOf(counterpart.params) === connectionOf(params))
      .map(({ id }) => id)
    for (const ids of inPieces(counterparts)) await renewCounterparts(database, raw, ids)
  }
}

/** Stores records again, so that the next extraction of their scope reads them; returns their new ids by the old ones. */
async function renewCounterparts(database: Database, raw: RawTable, ids: Piece<number>): Promise<Map<number, number>> {
  const table = sql.table(raw.name)
  const { kysely } = database
  // A record whose payload was removed cannot be extracted again, so it keeps its id.
  await sql`insert into ${table} (${COPIED}) select ${COPIED} from ${table}
    where ${among(sql.ref('id'), ids)} and not ${letGo()} order by id`.execute(kysely)
  const { rows } = await sql<{
    id: number
    newer: number
  }>`select older.id, max(newer.id) as newer from ${table} as older
    inner join ${table} as newer on newer.input_key = older.input_key and newer.record_key = older.record_key
      and newer.params = older.params and newer.id > older.id
    where ${among(sql.ref('older.id'), ids)} group by older.id`.execute(kysely)
  const renewed = new Map(rows.map(({ id, newer }) => [id, newer]))
  await deleteIds(database, raw, [...renewed.keys()])
  return renewed
}

async function deleteIds({ kysely }: Database, raw: RawTable, ids: readonly number[]): Promise<void> {
  for (const some of inPieces(ids)) {
    await sql`delete from ${sql.table(raw.name)} where ${among(sql.ref('id'), some)}`.execute(kysely)
  }
}
