/** Shows people the stored data of a scope layer by layer, and the rows that were made from one raw record. */

import { type RawBuilder, sql } from 'kysely'
import { contains } from '../../database/like.ts'
import type { AnyTable, Column } from '../../database/table.ts'
import { domainTables } from '../../domain/index.ts'
import { UserError } from '../../errors.ts'
import { isRawTable } from '../../plugin-kit/raw/raw-table.ts'
import type { Plugin } from '../../plugin-kit/spec/plugin.ts'
import { pluginsOfFamily, rawsOfFamily } from '../../plugin-kit/task/family.ts'
import { settingsTables } from '../../plugin-kit/task/settings-tables.ts'
import { ALL_ENTITIES, domainScopesOf } from '../plan/domain-scopes.ts'
import type { ServiceContext } from '../services.ts'
import { connectedNamed, scopeKey } from '../sources.ts'
import type { Paged } from '../store.ts'
import { findRow } from '../store.ts'
import { scopeParams } from './scope-data.ts'

export type Layer = 'raw' | 'tool' | 'domain'

/** A scope of a source, or a connection of a push source. */
export interface ScopePlace {
  readonly plugin: string
  readonly connectionId: number
  readonly scopeId?: string | undefined
}

/** The marks by which the rows of a scope are found. */
export interface ScopeMarks {
  readonly plugin: string
  readonly connectionId: number
  readonly params: string
  /** Ids of its domain rows. Rows made from its git history are marked by them. */
  readonly domainIds: readonly string[]
  readonly own: readonly Plugin[]
}

export type Context = Pick<ServiceContext, 'database' | 'plugins'>

export async function marksOf({ database, plugins }: Context, place: ScopePlace): Promise<ScopeMarks> {
  const { plugin, connectionId, scopeId } = place
  const { table, source } = connectedNamed(plugins, plugin)
  const own = pluginsOfFamily(plugins, plugin)
  if (!(await findRow(database.kysely, table, { id: connectionId }))) {
    throw new UserError(`There is no ${plugin} connection ${connectionId}.`, { status: 404 })
  }
  if (!source) {
    return { plugin, connectionId, own, params: JSON.stringify({ ConnectionId: connectionId }), domainIds: [] }
  }
  if (scopeId === undefined) throw new UserError('scopeId is missing: choose a scope of the connection.')
  const wanted = { connection_id: connectionId, [scopeKey(source)]: scopeId }
  const isWhole = source.scope.table.columns[scopeKey(source)].kind === 'bigint'
  const scope =
    isWhole && !/^\d{1,18}$/.test(scopeId) ? undefined : await findRow(database.kysely, source.scope.table, wanted)
  if (!scope) throw new UserError(`Connection ${connectionId} of ${plugin} has no scope ${scopeId}.`, { status: 404 })
  const domainScopes = domainScopesOf(source, connectionId, scope, new Set(ALL_ENTITIES))
  return {
    plugin,
    connectionId,
    own,
    params: scopeParams(source, connectionId, scope),
    domainIds: [...new Set(domainScopes.map(({ rowId }) => rowId))],
  }
}

export interface LayeredTable {
  readonly layer: Layer
  readonly table: AnyTable
}

/** Tables that hold collected rows. Tables of settings and their secrets are left out. */
export function layeredTables({ own }: Pick<ScopeMarks, 'own'>): LayeredTable[] {
  const settings = new Set<AnyTable>(
    own.flatMap(({ source, pushSource }) => {
      if (pushSource) return [pushSource.connections]
      if (!source) return []
      const { connections, scopeConfigs } = settingsTables(source)
      return [connections, scopeConfigs]
    }),
  )
  const plugged = [...new Set(own.flatMap(({ tables }) => tables))].filter((table) => !settings.has(table))
  return [
    ...plugged.filter(({ name }) => isRawTable(name)).map((table) => ({ layer: 'raw' as const, table })),
    ...plugged
      .filter(({ name, origin }) => name.startsWith('_tool_') && origin >= 0)
      .map((table) => ({ layer: 'tool' as const, table })),
    ...domainTables.filter(({ origin }) => origin >= 0).map((table) => ({ layer: 'domain' as const, table })),
  ]
}

export function tableNamed(marks: ScopeMarks, name: string): LayeredTable {
  const found = layeredTables(marks).find(({ table }) => table.name === name)
  if (!found) throw new UserError(`${name} is not a table with collected rows of ${marks.plugin}.`, { status: 404 })
  return found
}

/** The raw tables that may be named as the origin of rows that these plugins made. */
export const rawsOf = (own: readonly Plugin[]): string[] => [
  ...new Set([
    ...own.flatMap(({ source }) => (source ? rawsOfFamily(source) : [])),
    ...own.flatMap(({ tables }) => tables.map(({ name }) => name).filter(isRawTable)),
  ]),
]

/** Two plugins may mark their scopes with the same params. In shared tables the name of the raw table tells whose rows they are. */
function isOfScope(layer: Layer, { own, params, domainIds }: ScopeMarks): RawBuilder<boolean> {
  if (layer === 'raw') return sql<boolean>`params = ${params}`
  if (layer === 'tool') return sql<boolean>`_raw_data_params = ${params}`
  const isOwn = sql`_raw_data_table in (${sql.join(rawsOf(own))})`
  if (domainIds.length === 0) return sql<boolean>`_raw_data_params = ${params} and ${isOwn}`
  const ids = sql.join(domainIds)
  return sql<boolean>`_raw_data_params in (${params}, ${ids}) and (${isOwn} or _raw_data_params in (${ids}))`
}

/** The number of rows of one table that are counted or searched at most. The count tells that there are more. */
const MOST_ROWS = 10_000
/** The number of tables counted in one statement. */
const TABLES_AT_ONCE = 40

interface StoredTable {
  readonly name: string
  readonly layer: Layer
  readonly meaning: string
  readonly count: number
  readonly isMore: boolean
  /** The raw tables that its rows were made from, beginning with the one that most rows were made from. */
  readonly origins: readonly string[]
}

export async function tablesOfScope({ database }: Context, marks: ScopeMarks): Promise<StoredTable[]> {
  const tables = layeredTables(marks)
  const found: StoredTable[] = []
  for (let start = 0; start < tables.length; start += TABLES_AT_ONCE) {
    const some = tables.slice(start, start + TABLES_AT_ONCE)
    const counts = some.map(({ layer, table: { name } }) => {
      const origin = layer === 'raw' ? sql`''` : sql`_raw_data_table`
      return sql`select ${name} as name, origin, count(*) as count from (select ${origin} as origin
        from ${sql.table(name)} where ${isOfScope(layer, marks)} limit ${sql.lit(MOST_ROWS + 1)}) as part group by origin`
    })
    const { rows } = await sql<{
      name: string
      origin: string
      count: number
    }>`${sql.join(counts, sql` union all `)}`.execute(database.kysely)
    const byName = Map.groupBy(rows, ({ name }) => name)
    for (const { layer, table } of some) {
      const own = byName.get(table.name)
      if (!own) continue
      const count = own.reduce((sum, each) => sum + Number(each.count), 0)
      found.push({
        name: table.name,
        layer,
        meaning: table.meaning,
        count: Math.min(count, MOST_ROWS),
        isMore: count > MOST_ROWS,
        origins: originsOf(own),
      })
    }
  }
  return found
}

/** Sorts the most frequent origin first: it is what people mean when they choose nothing. */
const originsOf = (origins: readonly { readonly origin: string; readonly count: number }[]): string[] =>
  origins
    .toSorted((one, other) => Number(other.count) - Number(one.count) || (one.origin < other.origin ? -1 : 1))
    .flatMap(({ origin }) => (isRawTable(origin) ? [origin] : []))

export interface StoredColumn {
  readonly name: string
  readonly kind: string
  readonly isKey: boolean
}
export interface StoredRow {
  readonly cells: Readonly<Record<string, unknown>>
  /** The raw record that it was made from, if any. */
  readonly record: RecordPlace | null
}
export interface RecordPlace {
  readonly table: string
  readonly id: number
}
interface StoredRows {
  readonly columns: readonly StoredColumn[]
  readonly count: number
  readonly isMore: boolean
  readonly rows: readonly StoredRow[]
}

/** The number of characters shown of a text in a list. */
const LISTED_CHARACTERS = 300
const SEARCHED_CHARACTERS = 1000
export const LARGEST_PAGE = 100

type Live = Awaited<ReturnType<Context['database']['describe']>>

/** The columns that may be shown, including those that users added. Columns with ciphertext are never among them. */
export function columnsOf({ layer, table }: LayeredTable, live: Live): StoredColumn[] {
  const own = table.names
    .map((name) => ({ name, column: table.columns[name] as Column }))
    .filter(({ column }) => !column.isSealed && column.kind !== 'bytes')
    .map(({ name, column }) => ({ name, kind: column.kind, isKey: column.isKey ?? false }))
  if (layer !== 'domain') return own
  const added = [...(live.get(table.name)?.columns ?? [])]
    .filter(([name]) => name.startsWith('x_'))
    .sort(([one], [other]) => (one < other ? -1 : 1))
  return [...own, ...added.map(([name, { type }]) => ({ name, kind: type, isKey: false }))]
}

export const selected = (columns: readonly StoredColumn[], characters: number) =>
  sql.join(
    columns.map(({ name, kind }) =>
      kind === 'text' ? sql`left(${sql.ref(name)}, ${sql.lit(characters + 1)}) as ${sql.ref(name)}` : sql.ref(name),
    ),
  )

const cut = (text: string, characters: number) => (text.length > characters ? `${text.slice(0, characters)}…` : text)

export function storedRow(
  columns: readonly StoredColumn[],
  row: Record<string, unknown>,
  characters: number,
): StoredRow {
  const cells = Object.fromEntries(
    columns.map(({ name, kind }) => {
      const value = row[name] ?? null
      if (typeof value === 'string') return [name, cut(value, characters)]
      if (kind !== 'json' || value === null) return [name, value]
      const text = JSON.stringify(value)
      return [name, text.length > characters ? cut(text, characters) : value]
    }),
  )
  const origin = String(row._raw_data_table ?? '')
  return { cells, record: isRawTable(origin) ? { table: origin, id: Number(row._raw_data_id) } : null }
}

export async function rowsOfScope(
  context: Context,
  marks: ScopeMarks,
  { table: name, search = '', page = 1, pageSize = 50 }: Paged & { readonly table: string; readonly search?: string },
): Promise<StoredRows> {
  const { layer, table } = tableNamed(marks, name)
  const live: Live = layer === 'domain' ? await context.database.describe() : new Map()
  const columns = layer === 'raw' ? RAW_COLUMNS : columnsOf({ layer, table }, live)
  const cells = layer === 'raw' ? rawCells(LISTED_CHARACTERS) : selected(columns, LISTED_CHARACTERS)
  const keys = sql.join(table.keys.map((position) => sql.ref(table.names[position] as string)))
  const words = search.trim()
  const searched = words === '' ? [] : layer === 'raw' ? ['record_key', 'url'] : textColumns(columns)
  const has = (column: string) => contains(sql`left(${sql.ref(column)}, ${sql.lit(SEARCHED_CHARACTERS)})`, words)
  const fits = searched.length === 0 ? sql`1 = 1` : sql`(${sql.join(searched.map(has), sql` or `)})`
  // The ids of raw records follow the order in which the records arrived.
  const order = layer === 'raw' ? sql`order by id desc` : sql`order by ${keys}`
  // Selects only what is needed to choose rows, because their contents may be large.
  const part = sql`(select ${keys}, case when ${fits} then 1 else 0 end as fits from ${sql.table(name)}
    where ${isOfScope(layer, marks)} ${layer === 'raw' ? order : sql``} limit ${sql.lit(MOST_ROWS + 1)}) as part`
  const { kysely } = context.database
  const { rows: counted } = await sql<{ count: number }>`select count(*) as count from ${part} where fits = 1`.execute(
    kysely,
  )
  const count = Number(counted[0]?.count)
  const size = Math.min(pageSize, LARGEST_PAGE)
  const { rows } = await sql<Record<string, unknown>>`select ${cells} from ${sql.table(name)}
    inner join (select ${keys} from ${part} where fits = 1 ${order} limit ${sql.lit(size)}
      offset ${sql.lit(Math.min((page - 1) * size, MOST_ROWS))}) as page using (${keys}) ${order}`.execute(kysely)
  return {
    columns,
    count: Math.min(count, MOST_ROWS),
    isMore: count > MOST_ROWS,
    rows: rows.map((row) =>
      layer === 'raw'
        ? { ...storedRow(columns, readable(row), LISTED_CHARACTERS), record: { table: name, id: Number(row.id) } }
        : storedRow(columns, row, LISTED_CHARACTERS),
    ),
  }
}

const textColumns = (columns: readonly StoredColumn[]) =>
  columns
    .filter(({ kind, name }) => (kind === 'string' || kind === 'text') && !name.startsWith('_raw_data_'))
    .map(({ name }) => name)

/** A list shows only the beginning of the text of a raw record. */
const RAW_COLUMNS: readonly StoredColumn[] = [
  { name: 'id', kind: 'bigint', isKey: true },
  { name: 'record_key', kind: 'string', isKey: false },
  { name: 'data', kind: 'text', isKey: false },
  { name: 'bytes', kind: 'bigint', isKey: false },
  { name: 'url', kind: 'text', isKey: false },
  { name: 'created_at', kind: 'timestamp', isKey: false },
]
const rawCells = (bytes: number) =>
  sql`id, record_key, substring(data, 1, ${sql.lit(bytes)}) as data, octet_length(data) as bytes, url, created_at`
const readable = ({ data, ...row }: Record<string, unknown>) => ({
  ...row,
  data: data instanceof Uint8Array ? Buffer.from(data).toString() : '',
})
