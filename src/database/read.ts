/** Reads typed rows of a table, with the tables joined to it, as a stream. A whole table is never held in memory. */

import { type Compilable, type CompiledQuery, type RawBuilder, sql } from 'kysely'
import type { Database } from './database.ts'
import { comparable, missingCell } from './fit.ts'
import { among, inPieces, MOST_VALUES, type Piece } from './pieces.ts'
import type { AnyRow, AnyTable, Column, RowOf } from './table.ts'

/**
 * Equality conditions by column name, or by `alias.column` of a joined table; a list means any of its values. A list that is
 * too long for a statement is read in pieces, one after another. Rows are in key order only within each piece.
 */
export type Where = Readonly<Record<string, unknown>>
/** Where the table is known, the compiler checks the names of its columns. */
type WhereOf<T extends AnyTable> = { readonly [Name in (keyof RowOf<T> & string) | `${string}.${string}`]?: unknown }
type On<T extends AnyTable> = { readonly [Name in keyof RowOf<T> & string]?: string }

interface Join<T extends AnyTable = AnyTable, Optional extends boolean = boolean> {
  readonly table: T
  readonly isOptional: Optional
  /** Column of the joined table → column of the main table, or `alias.column` of a table joined before. */
  readonly on: Readonly<Record<string, string>>
  readonly where?: Where
}
export type Joins = Readonly<Record<string, Join>>
const joining =
  <Optional extends boolean>(isOptional: Optional) =>
  <T extends AnyTable>(table: T, on: On<T>, where?: WhereOf<T>): Join<T, Optional> => ({
    table,
    isOptional,
    on: on as Join['on'],
    ...(where && { where }),
  })
export const innerJoin = joining(false)
export const leftJoin = joining(true)
export type JoinedRow<T extends AnyTable, J extends Joins> = RowOf<T> & {
  [Alias in keyof J]: J[Alias] extends Join<infer Other, infer Optional>
    ? Optional extends true
      ? RowOf<Other> | null
      : RowOf<Other>
    : never
}

interface Selection<T extends AnyTable, J extends Joins> {
  readonly table: T
  readonly joins?: J
  readonly where?: WhereOf<T>
  /** An additional condition, in which columns of the main table are qualified with `t`. */
  readonly condition?: RawBuilder<unknown>
  /** Returns a stored null as null, instead of the value that the column has for "missing". */
  readonly isLiteral?: boolean
}

type AnySelection = Selection<AnyTable, Joins>

/** Rows fetched at a time; a compromise between round trips and memory for wide rows. */
const FETCH = 200

export async function* readRows<T extends AnyTable, J extends Joins = Record<never, never>>(
  database: Database,
  selection: Selection<T, J>,
): AsyncGenerator<JoinedRow<T, J>> {
  for await (const rows of readInChunks(database, selection)) yield* rows
}

/** The same in chunks: passed on one by one, a row costs as much on its way as to be read. */
export async function* readInChunks<T extends AnyTable, J extends Joins = Record<never, never>>(
  database: Database,
  selection: Selection<T, J>,
): AsyncGenerator<JoinedRow<T, J>[]> {
  const decode = decoderOf(selection)
  for (const part of partsOf(selection)) {
    const all = database.kysely.selectFrom(sql`(${selectionSql(part)})`.as('selected')).selectAll()
    const query = database.readsInPages ? all.orderBy(sql`${sql.join(keysOf(part).map((name) => sql.id(name)))}`) : all
    const chunks = inChunks<Record<string, unknown>>(database, query, FETCH)
    for await (const rows of chunks) yield rows.map((row) => decode(row) as JoinedRow<T, J>)
  }
}

/** Pages need an order; otherwise the next one might repeat a row. */
const keysOf = ({ table, joins = {} }: AnySelection): string[] => [
  ...keyNames(table),
  ...Object.entries(joins as Joins).flatMap(([alias, join]) => keyNames(join.table).map((name) => `${alias}.${name}`)),
]
const keyNames = ({ keys, names }: AnyTable) => keys.map((position) => names[position] as string)

const PAGE = 2000

/** Yields the rows of a query, about `size` at a time. A query that is read in pages must specify its order. */
export async function* inChunks<Row>(database: Database, query: Compilable, size: number): AsyncGenerator<Row[]> {
  const { kysely, readsInPages } = database
  const compiled = query.compile() as CompiledQuery<Row>
  if (!readsInPages) {
    for await (const { rows } of kysely.getExecutor().stream<Row>(compiled, size)) yield rows
    return
  }
  for (let offset = 0; ; offset += PAGE) {
    const page = { ...compiled, sql: `${compiled.sql} limit ${PAGE} offset ${offset}` }
    const { rows } = await kysely.executeQuery<Row>(page)
    if (rows.length > 0) yield [...rows]
    if (rows.length < PAGE) return
  }
}

export async function readAll<T extends AnyTable, J extends Joins = Record<never, never>>(
  { kysely }: Database,
  selection: Selection<T, J>,
): Promise<JoinedRow<T, J>[]> {
  const decode = decoderOf(selection)
  const all: JoinedRow<T, J>[] = []
  for (const part of partsOf(selection)) {
    const { rows } = await sql<Record<string, unknown>>`${selectionSql(part)}`.execute(kysely)
    for (const row of rows) all.push(decode(row) as JoinedRow<T, J>)
  }
  return all
}

/**
 * Splits a selection at a list that is too long for one statement. With several such lists, all combinations of their pieces
 * are read.
 */
function* partsOf<S extends AnySelection>(selection: S): Generator<S> {
  const { where = {} } = selection
  const long = Object.entries(where).find(([, value]) => Array.isArray(value) && value.length > MOST_VALUES)
  if (!long) {
    yield selection
    return
  }
  const [name, values] = long as [string, readonly unknown[]]
  for (const piece of inPieces(new Set(values))) yield* partsOf({ ...selection, where: { ...where, [name]: piece } })
}

function selectionSql({ table, joins = {}, where = {}, condition }: AnySelection) {
  const all: [alias: string, table: AnyTable][] = [['t', table]]
  for (const [alias, join] of Object.entries(joins as Joins)) all.push([alias, join.table])
  const tables: Tables = new Map(all)
  const columns = all.flatMap(([alias, { names }]) =>
    names.map((name) => sql`${sql.ref(`${alias}.${name}`)} as ${sql.id(alias === 't' ? name : `${alias}.${name}`)}`),
  )
  const joined = Object.entries(joins as Joins).map(([alias, join]) => {
    const on = Object.entries(join.on).map(
      ([own, other]) => sql`${sql.ref(`${alias}.${own}`)} = ${sql.ref(other.includes('.') ? other : `t.${other}`)}`,
    )
    return sql`${sql.raw(join.isOptional ? 'left join' : 'inner join')} ${sql.table(join.table.name)} as ${sql.id(alias)} on ${sql.join([...on, ...conditions(alias, join.where ?? {}, tables)], sql` and `)}`
  })
  const filters = [...conditions('t', where, tables), ...(condition ? [sql`(${condition})`] : [])]
  const order = table.keys.map((position: number) => sql.ref(`t.${table.names[position]}`))
  return sql`select ${sql.join(columns)} from ${sql.table(table.name)} as t ${sql.join(joined, sql` `)}
    ${filters.length > 0 ? sql`where ${sql.join(filters, sql` and `)}` : sql``} ${order.length > 0 ? sql`order by ${sql.join(order)}` : sql``}`
}

type Tables = ReadonlyMap<string, AnyTable>

/** MySQL plans a read of one index for every combination of the values in its lists. For millions of them that takes half a minute. */
const MOST_COMBINATIONS = 100_000

/** Converts a `Where` to SQL for the table of that alias. `tables` maps aliases to tables. */
export function conditions(alias: string, where: Where, tables: Tables = new Map()): RawBuilder<unknown>[] {
  let combinations = 1
  return Object.entries(where).map(([column, value]) => {
    const qualified = column.includes('.') ? column : `${alias}.${column}`
    const reference = sql.ref(qualified)
    const [owner = '', name = ''] = qualified.split('.')
    const fitted = (each: unknown) => comparable(tables.get(owner)?.columns[name], name, each)
    if (!Array.isArray(value)) return value === null ? sql`${reference} is null` : sql`${reference} = ${fitted(value)}`
    if (value.length > MOST_VALUES)
      throw new Error(`${column}: a list of ${value.length} values is too long for a join`)
    const isPlanned = combinations * value.length <= MOST_COMBINATIONS
    if (isPlanned) combinations *= value.length
    // A list on a function is not planned by the index; it is only compared with the rows that the others find.
    const compared = isPlanned ? sql`${reference}` : sql`coalesce(${reference})`
    return among(compared, value as unknown as Piece<unknown>, fitted)
  })
}

type Decode = (row: Record<string, unknown>) => Record<string, unknown>

/** Reads a null as the value that the column has for "missing". Both drivers return parsed JSON. */
function decoderOf({ table, joins = {}, isLiteral = false }: AnySelection): Decode {
  const main = partDecoder('', table, isLiteral)
  const others = Object.entries(joins as Joins).map(([alias, join]) => {
    const decode = partDecoder(`${alias}.`, join.table, isLiteral)
    const isThere = join.isOptional ? isThereIn(`${alias}.`, join.table) : () => true
    return { alias, decode: (row: Record<string, unknown>) => (isThere(row) ? decode(row) : null) }
  })
  return (row) => {
    const decoded = main(row) as AnyRow
    for (const other of others) decoded[other.alias] = other.decode(row)
    return decoded
  }
}

const isThereIn = (prefix: string, { names, keys }: AnyTable) => {
  const firstKey = prefix + names[keys[0] ?? 0]
  return (row: Record<string, unknown>) => row[firstKey] !== null
}

function partDecoder(prefix: string, table: AnyTable, isLiteral = false): Decode {
  const cells = table.names.map((name: string) => {
    const column = table.columns[name] as Column
    const missing = isLiteral || column.missing === 'now' ? null : missingCell(column)
    return { name, from: prefix + name, missing }
  })
  return (row) => {
    // A plain object is safe and fast, since the names are columns defined by Weir.
    const decoded = {} as Record<string, unknown>
    for (const { name, from, missing } of cells) decoded[name] = row[from] ?? missing
    return decoded
  }
}

interface OneRow<T extends AnyTable = AnyTable> {
  readonly table: T
  /** A value for each column of the key. */
  readonly where: Where
  /** The same as for a selection. */
  readonly isLiteral?: boolean
}
interface Together<Rows extends readonly OneRow[], Values extends readonly RawBuilder<unknown>[]> {
  readonly rows: Rows
  /** Expressions, such as a select of one value in brackets. */
  readonly values: Values
}

/** Combines many small reads in one statement: rows by their keys (undefined where there is none) and values. */
export async function readTogether<
  const Rows extends readonly OneRow[],
  const Values extends readonly RawBuilder<unknown>[],
>(
  { kysely }: Database,
  { rows: asked, values }: Together<Rows, Values>,
): Promise<{
  readonly rows: { readonly [Index in keyof Rows]: RowOf<Rows[Index]['table']> | undefined }
  readonly values: { readonly [Index in keyof Values]: Values[Index] extends RawBuilder<infer Value> ? Value : never }
}> {
  const parts = asked.map((each, index) => ({ alias: `t${index}`, ...each }))
  const columns = parts.flatMap(({ alias, table }) =>
    table.names.map((name) => sql`${sql.ref(`${alias}.${name}`)} as ${sql.id(`${alias}.${name}`)}`),
  )
  const valued = values.map((value, index) => sql`${value} as ${sql.id(`v${index}`)}`)
  const joined = parts.map(({ alias, table, where }) => {
    const on = conditions(alias, where, new Map([[alias, table]]))
    return sql`left join ${sql.table(table.name)} as ${sql.id(alias)} on ${sql.join(on, sql` and `)}`
  })
  const { rows } = await sql<Record<string, unknown>>`select ${sql.join([...columns, ...valued])}
    from (select 1 as one) as always ${sql.join(joined, sql` `)}`.execute(kysely)
  const row = rows[0] as Record<string, unknown>
  return {
    rows: parts.map(({ alias, table, isLiteral }) =>
      isThereIn(`${alias}.`, table)(row) ? partDecoder(`${alias}.`, table, isLiteral)(row) : undefined,
    ),
    values: values.map((_, index) => row[`v${index}`]),
    // biome-ignore lint/suspicious/noExplicitAny: tuples of what was asked for, in its order
  } as any
}
