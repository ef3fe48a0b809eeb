/** Reads and writes rows of system and settings tables. Columns are in snake_case there and have public names here. */

import { AsyncLocalStorage } from 'node:async_hooks'
import type { SelectQueryBuilder } from 'kysely'
import { byName } from '../basics/by-name.ts'
import { indexesOf } from '../database/dialect.ts'
import { duplicateIndex, isDuplicate } from '../database/explain.ts'
import { missingCell, withoutEndSpaces } from '../database/fit.ts'
import { type AnyKysely, knowing, type SchemaWith } from '../database/kysely.ts'
import type { AnyTable, Column, RowOf } from '../database/table.ts'
import { RecordError, UserError } from '../errors.ts'
import { fieldName } from '../plugin-kit/spec/fields.ts'

export interface Paged {
  /** From 1. */
  readonly page?: number
  readonly pageSize?: number
}
export interface Listed<Item> {
  readonly count: number
  readonly items: readonly Item[]
}

/** A pool or a transaction. */
export type Queries = AnyKysely

/** Known ids, or a query that finds them, so that dependent rows can be read at the same time instead of afterwards. */
export type Ids = readonly number[] | SelectQueryBuilder<never, never, { id: number }>

/** Names that DevLake spells differently from the rule. */
const SPELT: Readonly<Record<string, string>> = byName({ html_url: 'HTMLUrl', parent_github_id: 'parentId' })
const publicNames = new Map<string, string>(Object.entries(SPELT))
/** The type of the name that `publicName` gives a column of a table of Weir itself. */
export type PublicName<Name extends string> = Name extends `_${string}`
  ? Name
  : Name extends `${infer Head}_${infer Tail}`
    ? `${Head}${Capitalize<PublicName<Tail>>}`
    : Name
type PublicRow<T extends AnyTable> = { readonly [Name in keyof RowOf<T> & string as PublicName<Name>]: RowOf<T>[Name] }
/** `deployment_pattern` → `deploymentPattern`; origin columns keep their names. */
export function publicName(column: string): string {
  const known = publicNames.get(column)
  if (known !== undefined) return known
  const name = column.startsWith('_') ? column : fieldName(column)
  publicNames.set(column, name)
  return name
}

interface Layout {
  readonly names: readonly string[]
  readonly publicNames: readonly string[]
  /** Rows are made as copies of these objects: JavaScript engines are faster when an object has all its keys from the start. */
  readonly missing: Values
  readonly blank: Values
}
const layouts = new WeakMap<AnyTable, Layout>()
/** Computed once per table, because lists have thousands of rows. */
function layoutOf({ names, columns }: AnyTable): Layout {
  const publicNames = names.map(publicName)
  const missing = Object.fromEntries(names.map((name) => [name, missingCell(columns[name] as Column)]))
  return { names, publicNames, missing, blank: Object.fromEntries(publicNames.map((name) => [name, undefined])) }
}
function knownLayout(table: AnyTable): Layout {
  const layout = layouts.get(table) ?? layoutOf(table)
  layouts.set(table, layout)
  return layout
}

/** Replaces null, which means "never written", by the default of the column. JSON arrives parsed from both database engines. */
export function decodeRow<T extends AnyTable>(table: T, row: Record<string, unknown>): RowOf<T> {
  const { names, missing } = knownLayout(table)
  const decoded = { ...missing }
  for (const name of names) decoded[name] = row[name] ?? missing[name]
  return decoded as RowOf<T>
}

export function publicRow<T extends AnyTable>(table: T, row: Record<string, unknown>): PublicRow<T> {
  const { names, publicNames, blank } = knownLayout(table)
  const whole = { ...blank }
  for (let index = 0; index < names.length; index++) whole[publicNames[index] as string] = row[names[index] as string]
  return whole as PublicRow<T>
}

/** Checks values and fits them to their columns. A value that cannot be stored is an error of the sender. */
export function fitted(table: AnyTable, values: Record<string, unknown>): Record<string, unknown> {
  try {
    return Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, table.fitters[table.names.indexOf(name)]?.(value)]),
    )
  } catch (error) {
    if (error instanceof RecordError) throw new UserError(error.message.replace(/^[^:]*\./, ''), { cause: error })
    throw error
  }
}

type Values = Record<string, unknown>
/** Values for some or all columns of a row. */
type ValuesOf<T extends AnyTable> = { readonly [Name in keyof RowOf<T>]?: RowOf<T>[Name] | null | undefined }

const moments = new AsyncLocalStorage<Date>()

/** Gives all rows that `body` creates the same creation time, so that none seems to have existed before another. */
export const atOneMoment = <Result>(body: () => Promise<Result>): Promise<Result> => moments.run(new Date(), body)

/** Completes a row: absent columns get their default, and columns that the database numbers are left out. */
function newRow(table: AnyTable, values: Values): Values {
  const now = new Date()
  const stamps: Values = table.createdAt < 0 ? {} : { created_at: moments.getStore() ?? now, updated_at: now }
  const names = table.names.filter((name) => !(table.columns[name] as Column).isGenerated)
  return fitted(table, Object.fromEntries(names.map((name) => [name, values[name] ?? stamps[name]])))
}

/** Limits for one statement, in rows and characters: a database accepts only so many parameters and bytes at once. */
const ROWS_AT_ONCE = 500
const CHARACTERS_AT_ONCE = 1_000_000
const charactersOf = (row: Values) =>
  Object.values(row).reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0)

export async function insertRows<T extends AnyTable>(
  queries: Queries,
  table: T,
  rows: Iterable<ValuesOf<T>>,
): Promise<void> {
  let batch: Values[] = []
  let characters = 0
  const send = async () => {
    if (batch.length > 0)
      await knowing<AnyTable>(queries, table)
        .insertInto(table.name)
        .values(batch)
        .execute()
        .catch(refuseDuplicate(table))
    batch = []
    characters = 0
  }
  for (const values of rows) {
    const row = newRow(table, values)
    const own = charactersOf(row)
    if (characters + own > CHARACTERS_AT_ONCE) await send()
    batch.push(row)
    characters += own
    if (batch.length === ROWS_AT_ONCE) await send()
  }
  await send()
}

/** The last id that was given out in a trial, a transaction whose rows are discarded. */
const trials = new AsyncLocalStorage<{ last: number }>()

/**
 * Runs work in a transaction that will be rolled back. An id from the database would be used up for good, so rows get negative
 * ids here.
 */
export const inTrial = <Result>(body: () => Promise<Result>): Promise<Result> => trials.run({ last: 0 }, body)

/** True for an id that the current trial gave out. */
export const isOfTrial = (id: unknown): id is number =>
  trials.getStore() !== undefined && typeof id === 'number' && id < 0

/** Inserts one row and returns the id that the database gave it; 0 when its table has none. */
export async function insertRow<T extends AnyTable>(queries: Queries, table: T, values: ValuesOf<T>): Promise<number> {
  const isNumbered = table.names.some((name) => (table.columns[name] as Column).isGenerated)
  const trial = trials.getStore()
  if (isNumbered && trial) {
    trial.last--
    const row = { ...newRow(table, values), id: trial.last }
    await knowing<AnyTable>(queries, table).insertInto(table.name).values(row).execute().catch(refuseDuplicate(table))
    return trial.last
  }
  const insert = knowing<AnyTable>(queries, table).insertInto(table.name).values(newRow(table, values))
  const isReturned = isNumbered && queries.getExecutor().adapter.supportsReturning
  const result = await (isReturned ? insert.returning('id') : insert).executeTakeFirst().catch(refuseDuplicate(table))
  const { id, insertId } = (result ?? {}) as { id?: number; insertId?: bigint }
  return Number(id ?? insertId ?? 0)
}

/**
 * Two requests that check at the same time both find a name free, and the database accepts only one of them. Any other
 * duplicate key is a bug in Weir, so its error is passed on.
 */
const refuseDuplicate =
  (table: AnyTable) =>
  (error: unknown): never => {
    if (isDuplicate(error) && isOfName(table, duplicateIndex(error))) {
      throw new UserError('Something with this name already exists: choose another name.', { cause: error })
    }
    throw error
  }

const PRIMARY = /^primary$|_pkey$/i
/** `index` is the name that the database reports. Databases that DevLake created have other names for unique indexes. */
function isOfName(table: AnyTable, index: string): boolean {
  const unique = indexesOf(table).filter((each) => each.unique)
  const known = unique.filter(({ name }) => name === index)
  const names = PRIMARY.test(index)
    ? table.keys.map((position) => table.names[position] as string)
    : (known.length > 0 ? known : unique).flatMap(({ columns }) => columns)
  return names.some((name) => (table.columns[name] as Column).isName)
}

/** Columns of a table and the values to compare them with; a list means any of its values. */
export type Where<T extends AnyTable> = {
  readonly [Name in keyof RowOf<T>]?: RowOf<T>[Name] | readonly RowOf<T>[Name][]
}

/** Returns the number of changed rows; 0 when the condition no longer holds. */
export async function updateRows<T extends AnyTable>(
  queries: Queries,
  table: T,
  where: Where<T>,
  values: ValuesOf<T>,
): Promise<number> {
  const stamp = table.updatedAt < 0 ? {} : { updated_at: new Date() }
  let update = knowing<AnyTable>(queries, table)
    .updateTable(table.name)
    .set(fitted(table, { ...stamp, ...values }))
  for (const condition of conditionsOf(where)) update = update.where(...condition)
  return Number((await update.executeTakeFirstOrThrow().catch(refuseDuplicate(table))).numUpdatedRows)
}

export async function deleteRows<T extends AnyTable>(queries: Queries, table: T, where: Where<T>): Promise<number> {
  let statement = knowing<AnyTable>(queries, table).deleteFrom(table.name)
  for (const condition of conditionsOf(where)) statement = statement.where(...condition)
  return Number((await statement.executeTakeFirstOrThrow()).numDeletedRows)
}

// biome-ignore lint/suspicious/noExplicitAny: whatever it has been joined with
type Narrowed = SelectQueryBuilder<any, any, any>
export type QueryOf<T extends AnyTable> = SelectQueryBuilder<SchemaWith<T>, T['name'], RowOf<T>>
/** Reads every row, or those that `narrow` selects, in its order. Columns in `omitted` are not read, because they are large. */
export async function selectRows<T extends AnyTable>(
  queries: Queries,
  table: T,
  narrow: (query: QueryOf<T>) => Narrowed = (query) => query,
  omitted: readonly string[] = [],
): Promise<RowOf<T>[]> {
  const all = knowing<AnyTable>(queries, table).selectFrom(table.name)
  const read = table.names.filter((name) => !omitted.includes(name)).map((name) => `${table.name}.${name}`)
  const rows = await narrow(
    (omitted.length === 0 ? all.selectAll(table.name) : all.select(read)) as unknown as QueryOf<T>,
  ).execute()
  return rows.map((row) => decodeRow(table, row))
}

export async function findRow<T extends AnyTable>(
  queries: Queries,
  table: T,
  where: Where<T>,
): Promise<RowOf<T> | undefined> {
  const [row] = await selectRows(queries, table, (query) => equalTo<T>(query, where).limit(1))
  return row
}

export const equalTo = <T extends AnyTable>(query: QueryOf<T>, where: Where<T>): QueryOf<T> =>
  conditionsOf(where).reduce<Narrowed>((narrowed, condition) => narrowed.where(...condition), query)

/** Names are stored without trailing spaces, so trailing spaces are removed from search values too. */
const asStored = (value: unknown) => (typeof value === 'string' ? withoutEndSpaces(value) : value)
const conditionsOf = (where: Values): [name: string, comparison: 'in' | '=', value: unknown][] =>
  Object.entries(where).map(([name, value]) =>
    Array.isArray(value) ? [name, 'in', value.map(asStored)] : [name, '=', asStored(value)],
  )

/** Reads one page in the given order, and counts all rows. */
export async function selectPage<T extends AnyTable>(
  queries: Queries,
  table: T,
  { page = 1, pageSize = 50 }: Paged,
  narrow: (query: QueryOf<T>) => Narrowed,
  order: readonly (readonly [column: keyof RowOf<T> & string, direction: 'asc' | 'desc'])[],
  omitted: readonly string[] = [],
): Promise<Listed<RowOf<T>>> {
  const onPage = (query: QueryOf<T>) =>
    order
      .reduce((ordered, [column, direction]) => ordered.orderBy(column, direction), narrow(query))
      .limit(pageSize)
      .offset((page - 1) * pageSize)
  const items = await selectRows(queries, table, onPage, omitted)
  // A page that is not full is the last one, so the total follows from it.
  if (items.length < pageSize && (items.length > 0 || page === 1)) {
    return { count: (page - 1) * pageSize + items.length, items }
  }
  const counted = await narrow(knowing<AnyTable>(queries, table).selectFrom(table.name) as unknown as QueryOf<T>)
    .select((builder) => builder.fn.countAll().as('count'))
    .executeTakeFirstOrThrow()
  return { count: Number(counted.count), items }
}
